"""What was asked and called earlier in a conversation: the results that later questions may build on, by reference and bounded."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic.types import JsonValue

from agent.execution.error_bodies import is_empty
from agent.offer.tool_facts import Evidence
from agent.policy.subtasks import AskedEarlier
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
from domain.origin import ValueKind
from domain.plan import Binding, StepResult
from domain.tool import ToolId

MOST_RUNS = 3
"""Earlier runs that a question may build on, the latest ones."""
MOST_STEPS = 8
"""Calls of one run that are kept."""
MOST_TEXT = 32_000
"""Characters of a response that is kept whole; of a longer one, what compression has left of it."""
NOTE = "called for an earlier question"
"""The note of a result that an earlier run has got."""
CUT = f"{NOTE}; only a part of what it answered is kept"
"""That of one whose response was too long."""

_EARLIER = re.compile(r"earlier\.(\d+)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """One that has ended. ``request``: what it was asked, standing alone where it was split; ``steps``: its calls that succeeded, with the numbers
    of their events. ``answer``: what it said.
    """

    run: str
    request: str
    steps: tuple[tuple[int, StepResult], ...]
    answer: str = ""


def earlier_run(records: Sequence[EventRecord]) -> EarlierRun:
    """A run out of its events, of which those of subtasks and of finished calls count: calls that found or changed something and were not gone around.

    The last of equal calls stays; of the programs of one subtask, the last one that came to its end.
    """
    described = [record.event.description for record in records if isinstance(record.event, SubtaskStarted)]
    found: list[tuple[EventRecord, StepResult]] = []
    answers: dict[int, str] = {}
    for record in records:
        match record.event:
            case ProgramEnded(answer=answer):
                answers[record.subtask] = answer
            case RunFinished(answer=answer) if not any(answers.values()):
                answers[record.subtask] = answer
            case CallFinished(result=result) if result.status == "ok" and _left_something(result):
                found = [one for one in found if _call(one[1]) != _call(result)]
                found.append((record, result))
            case StepBacktracked(phase="execute", dropped=tool):
                mine = [one for one in found if one[0].subtask == record.subtask and one[1].tool == tool]
                found = [one for one in found if one not in mine[-1:]]
            case _:
                continue
    steps = tuple((record.seq, _kept(result)) for record, result in _chosen(found))
    return EarlierRun(
        records[0].run,
        "; ".join(described),
        steps,
        "\n".join(dict.fromkeys(answer for answer in answers.values() if answer)),
    )


def _chosen(found: list[tuple[EventRecord, StepResult]]) -> list[tuple[EventRecord, StepResult]]:
    """The latest ones, of many calls of one tool the latest of those: a loop's calls do not drive out what it began with."""
    kept = list(found)
    while len(kept) > MOST_STEPS:
        often = Counter(result.tool for _, result in kept)
        most = max(often.values())
        kept.remove(next(one for one in kept if often[one[1].tool] == most))
    return kept


def _left_something(result: StepResult) -> bool:
    return result.changes or not is_empty(result.response)


def _call(result: StepResult) -> tuple[str, str]:
    return result.tool, json.dumps(result.arguments, sort_keys=True)


def _kept(result: StepResult) -> StepResult:
    """Without where its arguments came from: that is told in its own run's count of steps."""
    whole = len(result.response) <= MOST_TEXT
    response = result.response if whole else (result.compressed or result.response)[:MOST_TEXT]
    return result.model_copy(update={"response": response, "provenance": (), "note": NOTE if whole else CUT})


@dataclass(frozen=True, slots=True)
class Earlier:
    """The earlier runs of a conversation, the oldest first; their steps are counted through from 1."""

    runs: tuple[EarlierRun, ...] = ()

    @property
    def steps(self) -> tuple[StepResult, ...]:
        """All of them; the first is number 1."""
        return tuple(result for run in self.runs for _, result in run.steps)

    def told(self) -> tuple[EarlierStep, ...]:
        """Where each is to be found."""
        return tuple(
            EarlierStep(run=run.run, seq=seq, tool=result.tool) for run in self.runs for seq, result in run.steps
        )

    async def asked(self, evidence: Evidence) -> tuple[AskedEarlier, ...]:
        """What was asked, with the calls whose tools are still there."""
        await evidence.read({result.tool for result in self.steps})
        asked: list[AskedEarlier] = []
        number = 0
        for run in self.runs:
            numbered = list(enumerate((result for _, result in run.steps), start=number + 1))
            known = [(n, evidence.doc(result.tool), result) for n, result in numbered if evidence.has(result.tool)]
            asked.append(AskedEarlier(run.request, tuple(known)))
            number += len(run.steps)
        return tuple(asked)


Whence = Callable[[ToolId, str, JsonValue], tuple[ValueKind, str]]
"""The kind of the origin of a tool's argument, and its place in an earlier response."""


class References:
    """References to earlier calls, as a run tells them and as a subtask counts them: its first steps are those calls.

    ``numbers``: of the calls that the subtask is given, in order. A value that the request itself does not name was named earlier: it is told as
    the argument of an earlier call that has it. ``whence``: where a value really comes from; one that an earlier response said is told as that
    response's, whatever a rewritten question makes of it.
    """

    def __init__(
        self, request: str, earlier: Earlier, numbers: Sequence[int], whence: Whence = lambda _, __, ___: ("said", "")
    ) -> None:
        self._whence = whence
        self._request = request.casefold()
        self._steps = earlier.steps
        self._numbers = list(numbers)

    def told(self, event: Event) -> Event:
        """An event as it is told."""
        match event:
            case CallStarted():
                named = self._all_named(event.tool, event.provenance, event.arguments)
                return event if named == event.provenance else event.model_copy(update={"provenance": named})
            case CallFinished(result=result):
                named = self._all_named(result.tool, result.provenance, result.arguments)
                kept = result.model_copy(update={"provenance": named})
                return event if named == result.provenance else event.model_copy(update={"result": kept})
            case _:
                return event

    def own(self, result: StepResult) -> StepResult:
        """A result as the subtask counts."""
        bindings = tuple(self.own_binding(one) for one in result.provenance)
        return result if bindings == result.provenance else result.model_copy(update={"provenance": bindings})

    def own_binding(self, binding: Binding) -> Binding:
        """One value's origin as the subtask counts."""
        found = _EARLIER.fullmatch(binding.reference) if binding.origin == "step" else None
        if found is None or int(found[1]) not in self._numbers or found[2].startswith(":"):
            return binding
        return binding.model_copy(update={"reference": f"{self._numbers.index(int(found[1])) + 1}{found[2]}"})

    def _all_named(self, tool: ToolId, provenance: Sequence[Binding], arguments: JsonObject) -> tuple[Binding, ...]:
        return tuple(self._named(tool, one, arguments.get(one.parameter)) for one in provenance)

    def _named(self, tool: ToolId, binding: Binding, value: JsonValue) -> Binding:
        step, dot, place = binding.reference.partition(".")
        if binding.origin == "step" and step.isdigit() and 0 < int(step) <= len(self._numbers):
            number = self._numbers[int(step) - 1]
            return binding.model_copy(update={"reference": f"earlier.{number}{dot}{place}"})
        if binding.origin != "request" or not self._steps:
            return binding
        kind, heard = self._whence(tool, binding.parameter, value)
        if kind in ("file", "field", "prose"):
            return binding.model_copy(update={"origin": kind, "reference": heard or binding.reference})
        if binding.reference.casefold() not in self._request:
            place = self._argument(binding, value)
            return binding.model_copy(update={"origin": "step", "reference": place}) if place else binding
        return binding

    def _argument(self, binding: Binding, value: object) -> str:
        """The argument of the latest earlier call that has a value; empty where none has."""
        for number in range(len(self._steps), 0, -1):
            arguments = self._steps[number - 1].arguments
            names = sorted(arguments, key=lambda name: name != binding.parameter)
            for name in names:
                if arguments[name] == value or str(arguments[name]).casefold() == binding.reference.casefold():
                    return f"earlier.{number}:{name}"
        return ""
