"""Earlier runs of a conversation, limited in number and size, and references to their calls."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic.types import JsonValue

from agent.execution.error_bodies import is_empty_response
from agent.offer.tool_evidence import ToolEvidence
from agent.policy.protocol import EarlierRequest
from domain.event import (
    CallFinished,
    CallStarted,
    EarlierStep,
    Event,
    EventRecord,
    ProgramEnded,
    RunFinished,
    StepBacktracked,
    SubtaskStarted,
)
from domain.model import JsonObject
from domain.plan import Binding, StepResult
from domain.provenance import ValueKind
from domain.tool import ToolId

MAX_EARLIER_RUNS = 3
"""Number of earlier runs, the latest ones, that a question may build on."""
MAX_STEPS_PER_RUN = 8
"""Limit of calls kept from one run."""
MAX_RESPONSE_CHARS = 32_000
"""Limit of a response in characters. A longer one is replaced by its compressed form, cut to this length."""
REUSED_NOTE = "called for an earlier question"
"""Note of a result from an earlier run."""
TRUNCATED_NOTE = f"{REUSED_NOTE}; only a part of what it answered is kept"
"""Note of a result whose response was too long to keep whole."""

_EARLIER_REFERENCE = re.compile(r"earlier\.(\d+)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """A finished run of the conversation."""

    run: str
    """Name of the run."""
    request: str
    """Descriptions of its subtasks, joined; they can be understood without the conversation."""
    steps: tuple[tuple[int, StepResult], ...]
    """Successful calls, each with the sequence number of its event."""
    answer: str = ""


def build_earlier_run(records: Sequence[EventRecord]) -> EarlierRun:
    """Build an earlier run from its events.

    A call is kept if it found or changed something and its step was not abandoned; of equal calls, the last. The
    answer is made of the answers of programs, of each subtask the last one; without programs it is the answer of the
    run.
    """
    descriptions = [record.event.description for record in records if isinstance(record.event, SubtaskStarted)]
    calls: list[tuple[EventRecord, StepResult]] = []
    answers: dict[int, str] = {}
    for record in records:
        match record.event:
            case ProgramEnded(answer=answer):
                answers[record.subtask] = answer
            case RunFinished(answer=answer) if not any(answers.values()):
                answers[record.subtask] = answer
            case CallFinished(result=result) if result.status == "ok" and _has_effect(result):
                calls = [call for call in calls if _build_call_key(call[1]) != _build_call_key(result)]
                calls.append((record, result))
            case StepBacktracked(phase="execute", dropped=tool):
                abandoned_calls = [call for call in calls if call[0].subtask == record.subtask and call[1].tool == tool]
                calls = [call for call in calls if call not in abandoned_calls[-1:]]
            case _:
                continue
    steps = tuple((record.seq, _shorten_result(result)) for record, result in _limit_calls(calls))
    return EarlierRun(
        records[0].run,
        "; ".join(descriptions),
        steps,
        "\n".join(dict.fromkeys(answer for answer in answers.values() if answer)),
    )


def _limit_calls(calls: list[tuple[EventRecord, StepResult]]) -> list[tuple[EventRecord, StepResult]]:
    """Drop calls until few enough remain, each time the oldest call of the most frequent tool.

    The many calls of a loop would otherwise displace the call whose result the loop started from.
    """
    remaining = list(calls)
    while len(remaining) > MAX_STEPS_PER_RUN:
        calls_per_tool = Counter(result.tool for _, result in remaining)
        highest_count = max(calls_per_tool.values())
        remaining.remove(next(call for call in remaining if calls_per_tool[call[1].tool] == highest_count))
    return remaining


def _has_effect(result: StepResult) -> bool:
    return result.changes or not is_empty_response(result.response)


def _build_call_key(result: StepResult) -> tuple[str, str]:
    return result.tool, json.dumps(result.arguments, sort_keys=True)


def _shorten_result(result: StepResult) -> StepResult:
    """Return a result cut to the size that is kept, without provenance, which refers to step numbers of its own run."""
    fits = len(result.response) <= MAX_RESPONSE_CHARS
    response = result.response if fits else (result.compressed or result.response)[:MAX_RESPONSE_CHARS]
    return result.model_copy(
        update={"response": response, "provenance": (), "note": REUSED_NOTE if fits else TRUNCATED_NOTE}
    )


@dataclass(frozen=True, slots=True)
class ConversationHistory:
    """The earlier runs of a conversation, oldest first. Their steps are numbered consecutively from 1."""

    runs: tuple[EarlierRun, ...] = ()

    @property
    def steps(self) -> tuple[StepResult, ...]:
        """All steps of all runs; the first has number 1."""
        return tuple(result for run in self.runs for _, result in run.steps)

    def list_step_references(self) -> tuple[EarlierStep, ...]:
        """Return where each step is recorded: its run, the sequence number of its event, and its tool."""
        return tuple(
            EarlierStep(run=run.run, seq=seq, tool=result.tool) for run in self.runs for seq, result in run.steps
        )

    async def load_requests(self, evidence: ToolEvidence) -> tuple[EarlierRequest, ...]:
        """Return the earlier requests with their calls, without calls whose tools no longer exist."""
        await evidence.read({result.tool for result in self.steps})
        requests: list[EarlierRequest] = []
        step_count = 0
        for run in self.runs:
            numbered_results = list(enumerate((result for _, result in run.steps), start=step_count + 1))
            available_steps = [
                (number, evidence.doc(result.tool), result)
                for number, result in numbered_results
                if evidence.has(result.tool)
            ]
            requests.append(EarlierRequest(run.request, tuple(available_steps)))
            step_count += len(run.steps)
        return tuple(requests)


OriginLookup = Callable[[ToolId, str, JsonValue], tuple[ValueKind, str]]
"""Returns the kind of origin of a tool's argument, and its place in an earlier response."""


class StepReferences:
    """Translates references to earlier calls between a run's events (``earlier.N``) and a subtask's step numbers.

    A subtask counts the earlier calls that it builds on as its first steps. If a value is said to come from the
    request but the request does not contain it, the conversation named it earlier: its origin is then the argument of
    an earlier call that has it.
    """

    def __init__(
        self,
        request: str,
        history: ConversationHistory,
        earlier_numbers: Sequence[int],
        find_origin: OriginLookup = lambda _, __, ___: ("said", ""),
    ) -> None:
        """Translate for a subtask that builds on the earlier calls with these numbers, in this order.

        ``find_origin`` looks up where a value really comes from. A rewritten request may contain a value of an
        earlier response; the value is then attributed to that response, not to the user.
        """
        self._find_origin = find_origin
        self._request = request.casefold()
        self._earlier_steps = history.steps
        self._earlier_numbers = list(earlier_numbers)

    def to_run_event(self, event: Event) -> Event:
        """Return an event with its references in the run's form."""
        match event:
            case CallStarted():
                origins = self._to_run_bindings(event.tool, event.provenance, event.arguments)
                return event if origins == event.provenance else event.model_copy(update={"provenance": origins})
            case CallFinished(result=result):
                origins = self._to_run_bindings(result.tool, result.provenance, result.arguments)
                result_with_origins = result.model_copy(update={"provenance": origins})
                return (
                    event if origins == result.provenance else event.model_copy(update={"result": result_with_origins})
                )
            case _:
                return event

    def to_subtask_result(self, result: StepResult) -> StepResult:
        """Return a result with its references in the subtask's own step numbers."""
        bindings = tuple(self.to_subtask_binding(binding) for binding in result.provenance)
        return result if bindings == result.provenance else result.model_copy(update={"provenance": bindings})

    def to_subtask_binding(self, binding: Binding) -> Binding:
        """Return one value's origin in the subtask's own step numbers."""
        match = _EARLIER_REFERENCE.fullmatch(binding.reference) if binding.origin == "step" else None
        if match is None or int(match[1]) not in self._earlier_numbers or match[2].startswith(":"):
            return binding
        return binding.model_copy(update={"reference": f"{self._earlier_numbers.index(int(match[1])) + 1}{match[2]}"})

    def _to_run_bindings(
        self, tool: ToolId, provenance: Sequence[Binding], arguments: JsonObject
    ) -> tuple[Binding, ...]:
        return tuple(self._to_run_binding(tool, binding, arguments.get(binding.parameter)) for binding in provenance)

    def _to_run_binding(self, tool: ToolId, binding: Binding, value: JsonValue) -> Binding:
        step, separator, place = binding.reference.partition(".")
        if binding.origin == "step" and step.isdigit() and 0 < int(step) <= len(self._earlier_numbers):
            number = self._earlier_numbers[int(step) - 1]
            return binding.model_copy(update={"reference": f"earlier.{number}{separator}{place}"})
        if binding.origin != "request" or not self._earlier_steps:
            return binding
        kind, response_place = self._find_origin(tool, binding.parameter, value)
        if kind in ("file", "field", "prose"):
            return binding.model_copy(update={"origin": kind, "reference": response_place or binding.reference})
        if binding.reference.casefold() not in self._request:
            place = self._find_argument(binding, value)
            return binding.model_copy(update={"origin": "step", "reference": place}) if place else binding
        return binding

    def _find_argument(self, binding: Binding, value: object) -> str:
        """Return the reference of the latest earlier call's argument with this value; empty if there is none."""
        for number in range(len(self._earlier_steps), 0, -1):
            arguments = self._earlier_steps[number - 1].arguments
            names = sorted(arguments, key=lambda name: name != binding.parameter)
            for name in names:
                if arguments[name] == value or str(arguments[name]).casefold() == binding.reference.casefold():
                    return f"earlier.{number}:{name}"
        return ""
