"""Resumption of an interrupted run: its events are replayed without being emitted, and nothing is done twice.

A resumed run executes the same code over the same log. Before it does anything it asks the memo for the recorded result, under a
key that is the same each time: for a question to its policy or a decision of its own (:mod:`agent.resume_decisions`), a call (tool,
arguments, place), or a question to its user. A recorded result is used; otherwise it is worked out now and its event is emitted.
If the world has changed so that the log cannot be followed further, the run continues in its own way from there. The exception: if
the rest of the log contains a change, the run could make it again in another way, so it ends instead.
"""

import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TypeVar

from agent.execution.call_cache import CUT_OFF_NOTE
from agent.execution.call_identity import CallKey, build_call_key, build_identity
from agent.execution.executor import CallResult
from agent.policy.subtasks import Subtask, subtask_from_event
from agent.resume_decisions import Decision, RecordedDecision
from agent.resume_record import ReplayRecord
from domain.event import (
    AnswerDelta,
    CallFinished,
    CallStarted,
    Event,
    EventRecord,
    InputNeeded,
    ProgramFailed,
    QuestionAnswered,
    ResponseCompressed,
    RunDelayed,
    SubtaskStarted,
)
from domain.model import JsonObject
from domain.plan import StepResult
from domain.tool import ToolId
from graph.store import GraphStore

T = TypeVar("T")
_STEP_EVENTS = (CallStarted, CallFinished, ResponseCompressed, QuestionAnswered)


async def open_log(records: Sequence[EventRecord], store: GraphStore) -> "RunLog":
    """Open the log of a run. Every called tool counts as unsafe unless the store knows it to be safe."""
    called = {record.event.tool for record in records if isinstance(record.event, CallStarted)}
    docs = await store.get_tools(called) if called else {}
    return RunLog(records, frozenset(tool for tool in called if tool not in docs or not docs[tool].safe))


class RunLog:
    """Events of a run from before it was interrupted, by subtask; empty for a new run."""

    def __init__(self, records: Sequence[EventRecord] = (), unsafe: frozenset[ToolId] = frozenset()) -> None:
        """Hold the events. ``unsafe`` are the called tools that may change something."""
        self._records = records
        self._unsafe = unsafe
        self._memos: dict[int, SubtaskMemo] = {}

    def get_memo(self, subtask: int) -> "SubtaskMemo":
        """Return the memo of one subtask; 0 stands for the run as a whole."""
        if subtask not in self._memos:
            subtask_events = [record.event for record in self._records if record.subtask == subtask]
            # These two are emitted by the run's host, not by the run, so a replay must not expect them.
            events = [event for event in subtask_events if not isinstance(event, InputNeeded | RunDelayed)]
            shown_programs = [
                event.program for event in subtask_events if isinstance(event, InputNeeded) and event.asks == "plan"
            ]
            self._memos[subtask] = SubtaskMemo(ReplayRecord(events, self._unsafe, shown_programs))
        return self._memos[subtask]

    def load_subtasks(self) -> tuple[dict[int, Subtask], bool]:
        """Return the subtasks that were started, by number, and whether there are no others.

        There are none if part of the answer was emitted: that happens after all subtasks.
        """
        events = [record.event for record in self._records]
        subtasks = {one.subtask: subtask_from_event(one) for one in events if isinstance(one, SubtaskStarted)}
        return subtasks, any(isinstance(one, AnswerDelta) for one in events)

    def collect_calls(self, *, ledger: bool = False) -> dict[CallKey, CallResult]:
        """Return the calls that were made, with their results.

        A changing call without a recorded result has an unknown one.
        Reads of programs are left out, since programs replay them one by one (``SubtaskMemo.open_program``). So are safe calls without a result,
        which can be made again. With ``ledger``, changing calls without a result are left out too: the executor's ledger knows them.
        """
        results: dict[CallKey, CallResult] = {}
        for record in self._records:
            match record.event:
                case CallStarted(tool=tool, arguments=arguments, site=site) if tool in self._unsafe and not ledger:
                    key = build_call_key(tool, arguments, build_identity(record.subtask, site))
                    results.setdefault(key, CallResult("unknown", "", note=CUT_OFF_NOTE))
                case CallFinished(result=result, site=site) if result.attempts and not (
                    site and result.tool not in self._unsafe
                ):
                    results[
                        build_call_key(result.tool, result.requested_arguments, build_identity(record.subtask, site))
                    ] = to_call_result(result)
                case _:
                    continue
        return results

    def count_changes(self, calls: Collection[CallKey]) -> int:
        """Count the calls that may have changed something, among those that were made (:meth:`collect_calls`)."""
        return sum(tool in self._unsafe for tool, *_ in calls)


def to_call_result(result: StepResult) -> CallResult:
    """Convert a step's result back to the result of its call."""
    reached = result.http_status is not None or result.outcome not in ("transient", "gone", "unreached")
    return CallResult(
        result.outcome or "unknown", result.response, result.http_status, result.attempts, result.note, reached=reached,
        instead=result.instead, corrected=None if result.intended is None else result.arguments,
    )  # fmt: skip


class SubtaskMemo:
    """Decisions, calls and questions of one subtask from before the run was interrupted, found by keys.

    Decisions are recorded in order, so the result of a key depends on how far the replay has come (``replay_event``).
    """

    def __init__(self, record: ReplayRecord) -> None:
        self._record = record

    def replay_event(self, event: Event) -> bool:
        """Return whether an event is recorded, and advance past it. Raises as :meth:`agent.resume_record.ReplayRecord.replay_event`."""
        return self._record.replay_event(event)

    def recall(self, decision: Decision[T]) -> RecordedDecision[T] | None:
        """Return the recorded decision; None if the log does not hold it."""
        return decision(self._record)

    async def decide(self, decision: Decision[T], decide_now: Callable[[], Awaitable[T]]) -> T:
        """Return the recorded decision, or decide now."""
        recorded = self.recall(decision)
        return await decide_now() if recorded is None else recorded.value

    def decide_sync(self, decision: Decision[T], decide_now: Callable[[], T]) -> T:
        """Return the recorded decision, or decide now, without waiting."""
        recorded = self.recall(decision)
        return decide_now() if recorded is None else recorded.value

    def find_answer(self, question: str) -> QuestionAnswered | None:
        """Return the recorded result of a question that no program text asked the user, by its wording.

        Such a question is the next event, or is recorded among the calls of a program that was running.
        """
        nearby = (*(self._record.running or ()), self._record.next)
        questions = (one for one in nearby if isinstance(one, QuestionAnswered) and not one.site)
        return next((one for one in questions if one.question == question), None)

    def collect_steps(self) -> "list[RecordedStep]":
        """Return the next events that belong to calls of a path, up to the last call that ended."""
        upcoming = list(takewhile(lambda event: isinstance(event, _STEP_EVENTS), self._record.iter_ahead()))
        while upcoming and isinstance(upcoming[-1], CallStarted | QuestionAnswered):
            upcoming.pop()
        return [_to_recorded_step(event) for event in upcoming]

    def open_program(self, number: int) -> "ProgramMemo":
        """Return the memo of a program whose start has been replayed; an empty one if it is not recorded."""
        calls = [one for one in self._record.running or () if one.site.startswith(f"{number}:")]
        failed = self._record.next
        return ProgramMemo(
            {_build_key(one): one.step for one in calls if not isinstance(one, QuestionAnswered)},
            {_build_key(one): one.result for one in calls if isinstance(one, CallFinished)},
            {one.site: one for one in calls if isinstance(one, QuestionAnswered)},
            failed if isinstance(failed, ProgramFailed) and failed.number == number else None,
        )


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """An event of a path that was executed step by step."""

    event: Event
    step: int = 0
    """Number of the call whose end this is; 0 for other events."""
    result: CallResult | None = None
    """Result of that call."""


def _to_recorded_step(event: Event) -> RecordedStep:
    return (
        RecordedStep(event, event.step, to_call_result(event.result))
        if isinstance(event, CallFinished)
        else RecordedStep(event)
    )


def _build_key(event: CallStarted | CallFinished) -> CallKey:
    if isinstance(event, CallFinished):
        return build_call_key(event.result.tool, event.result.requested_arguments, event.site)
    return build_call_key(event.tool, event.arguments, event.site)


@dataclass(slots=True)
class ProgramMemo:
    """Recorded calls and questions of one program. The identity in the key of a call is its site.

    Calls are replayed in the order in which they ended, so that the program takes the same course.
    """

    steps: Mapping[CallKey, int] = field(default_factory=dict[CallKey, int])
    """Numbers of the calls that were started."""
    results: Mapping[CallKey, StepResult] = field(default_factory=dict[CallKey, StepResult])
    """Results of the calls that ended, in that order."""
    answers: Mapping[str, QuestionAnswered] = field(default_factory=dict[str, QuestionAnswered])
    """Results of its questions, by their sites."""
    failure: ProgramFailed | None = None
    """The program's failure, if it broke off; calls that were under way then never end."""
    _ahead: dict[CallKey, int] = field(init=False)

    def __post_init__(self) -> None:
        self._ahead = {key: place for place, key in enumerate(self.results)}

    @property
    def last_step(self) -> int:
        """The highest step number of its calls; 0 without calls."""
        return max(self.steps.values(), default=0)

    def is_ahead(self, key: CallKey) -> bool:
        """Return whether the end of a call is recorded and has not been replayed yet."""
        return key in self._ahead

    def place(self, key: CallKey) -> int:
        """Return the position of a call that is ahead, in the order in which calls ended."""
        return self._ahead[key]

    def replay(self, key: CallKey) -> StepResult:
        """Return the result of a call that is ahead, and advance past it."""
        del self._ahead[key]
        return self.results[key]

    def skip(self, key: CallKey) -> None:
        """Drop a call that is no longer made, whether or not its end is recorded."""
        self._ahead.pop(key, None)

    def find_unmatched_call(
        self, tool: ToolId, place: str, known_arguments: JsonObject, matched: Collection[CallKey]
    ) -> CallKey | None:
        """Return the recorded call at a place of the text (``2:57``) that has these arguments, perhaps among others.

        Used while some arguments are still unknown. Calls in ``matched`` belong to other calls of the program already.
        """
        for key in self.steps:
            if key[0] == tool and key[2].partition("#")[0] == place and key not in matched:
                arguments = json.loads(key[1])
                if all(name in arguments and arguments[name] == value for name, value in known_arguments.items()):
                    return key
        return None
