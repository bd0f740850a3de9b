"""Earlier runs of a conversation, limited in number and size, and references to their calls."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic.types import JsonValue

from agent.execution.error_bodies import is_empty
from agent.offer.tool_evidence import ToolEvidence
from agent.policy.subtasks import EarlierRequest
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

MAX_RUNS = 3
"""Number of earlier runs, the latest ones, that a question may build on."""
MAX_STEPS = 8
"""Limit of calls kept from one run."""
MAX_RESPONSE_CHARS = 32_000
"""Limit of a response in characters. A longer one is replaced by its compressed form, cut to this length."""
REUSED_NOTE = "called for an earlier question"
"""Note of a result from an earlier run."""
CUT_NOTE = f"{REUSED_NOTE}; only a part of what it answered is kept"
"""Note of a result whose response was too long to keep whole."""

_EARLIER = re.compile(r"earlier\.(\d+)(.*)", re.DOTALL)


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
    described = [record.event.description for record in records if isinstance(record.event, SubtaskStarted)]
    calls: list[tuple[EventRecord, StepResult]] = []
    answers: dict[int, str] = {}
    for record in records:
        match record.event:
            case ProgramEnded(answer=answer):
                answers[record.subtask] = answer
            case RunFinished(answer=answer) if not any(answers.values()):
                answers[record.subtask] = answer
            case CallFinished(result=result) if result.status == "ok" and _has_effect(result):
                calls = [one for one in calls if _build_call_key(one[1]) != _build_call_key(result)]
                calls.append((record, result))
            case StepBacktracked(phase="execute", dropped=tool):
                mine = [one for one in calls if one[0].subtask == record.subtask and one[1].tool == tool]
                calls = [one for one in calls if one not in mine[-1:]]
            case _:
                continue
    steps = tuple((record.seq, _shorten_result(result)) for record, result in _select_calls(calls))
    return EarlierRun(
        records[0].run,
        "; ".join(described),
        steps,
        "\n".join(dict.fromkeys(answer for answer in answers.values() if answer)),
    )


def _select_calls(calls: list[tuple[EventRecord, StepResult]]) -> list[tuple[EventRecord, StepResult]]:
    """Drop calls until few enough remain, each time the oldest call of the most frequent tool.

    The many calls of a loop would otherwise displace the call whose result the loop started from.
    """
    remaining = list(calls)
    while len(remaining) > MAX_STEPS:
        often = Counter(result.tool for _, result in remaining)
        most = max(often.values())
        remaining.remove(next(one for one in remaining if often[one[1].tool] == most))
    return remaining


def _has_effect(result: StepResult) -> bool:
    return result.changes or not is_empty(result.response)


def _build_call_key(result: StepResult) -> tuple[str, str]:
    return result.tool, json.dumps(result.arguments, sort_keys=True)


def _shorten_result(result: StepResult) -> StepResult:
    """Return a result cut to the size that is kept, without provenance, which refers to step numbers of its own run."""
    fits = len(result.response) <= MAX_RESPONSE_CHARS
    response = result.response if fits else (result.compressed or result.response)[:MAX_RESPONSE_CHARS]
    return result.model_copy(update={"response": response, "provenance": (), "note": REUSED_NOTE if fits else CUT_NOTE})


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
        number = 0
        for run in self.runs:
            numbered = list(enumerate((result for _, result in run.steps), start=number + 1))
            available = [(n, evidence.doc(result.tool), result) for n, result in numbered if evidence.has(result.tool)]
            requests.append(EarlierRequest(run.request, tuple(available)))
            number += len(run.steps)
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
        earlier: ConversationHistory,
        numbers: Sequence[int],
        find_origin: OriginLookup = lambda _, __, ___: ("said", ""),
    ) -> None:
        """Translate for a subtask that builds on the earlier calls with these numbers, in this order.

        ``find_origin`` looks up where a value really comes from. A rewritten request may contain a value of an
        earlier response; the value is then attributed to that response, not to the user.
        """
        self._whence = find_origin
        self._request = request.casefold()
        self._steps = earlier.steps
        self._numbers = list(numbers)

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
        bindings = tuple(self.to_subtask_binding(one) for one in result.provenance)
        return result if bindings == result.provenance else result.model_copy(update={"provenance": bindings})

    def to_subtask_binding(self, binding: Binding) -> Binding:
        """Return one value's origin in the subtask's own step numbers."""
        match = _EARLIER.fullmatch(binding.reference) if binding.origin == "step" else None
        if match is None or int(match[1]) not in self._numbers or match[2].startswith(":"):
            return binding
        return binding.model_copy(update={"reference": f"{self._numbers.index(int(match[1])) + 1}{match[2]}"})

    def _to_run_bindings(
        self, tool: ToolId, provenance: Sequence[Binding], arguments: JsonObject
    ) -> tuple[Binding, ...]:
        return tuple(self._to_run_binding(tool, one, arguments.get(one.parameter)) for one in provenance)

    def _to_run_binding(self, tool: ToolId, binding: Binding, value: JsonValue) -> Binding:
        step, dot, place = binding.reference.partition(".")
        if binding.origin == "step" and step.isdigit() and 0 < int(step) <= len(self._numbers):
            number = self._numbers[int(step) - 1]
            return binding.model_copy(update={"reference": f"earlier.{number}{dot}{place}"})
        if binding.origin != "request" or not self._steps:
            return binding
        kind, response_place = self._whence(tool, binding.parameter, value)
        if kind in ("file", "field", "prose"):
            return binding.model_copy(update={"origin": kind, "reference": response_place or binding.reference})
        if binding.reference.casefold() not in self._request:
            place = self._find_argument(binding, value)
            return binding.model_copy(update={"origin": "step", "reference": place}) if place else binding
        return binding

    def _find_argument(self, binding: Binding, value: object) -> str:
        """Return the reference of the latest earlier call's argument with this value; empty if there is none."""
        for number in range(len(self._steps), 0, -1):
            arguments = self._steps[number - 1].arguments
            names = sorted(arguments, key=lambda name: name != binding.parameter)
            for name in names:
                if arguments[name] == value or str(arguments[name]).casefold() == binding.reference.casefold():
                    return f"earlier.{number}:{name}"
        return ""
