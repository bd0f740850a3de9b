"""Resumption of an interrupted run: recorded events are replayed without being emitted, and nothing is done twice.

A resumed run executes the same code as a new one. Before each decision, call or question to the user it asks its
memo (:class:`SubtaskMemo`) for the recorded result. If there is one, it is used; otherwise the step is done now and
its event is emitted. Decisions are found by their place in the record (:mod:`agent.resume_decisions`), calls by
tool, arguments and site, questions by their wording. :class:`ReplayPolicy` puts the memo in front of a policy.

If the tools have changed so that the record cannot be followed further, the run goes on by itself from there. If the
rest of the record contains a change, the run ends with an error instead, because it might make the change again.
"""

import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from typing import TypeVar

from agent import resume_decisions as decisions
from agent.execution.call_cache import CUT_OFF_NOTE
from agent.execution.call_identity import CallKey, build_call_identity, build_call_key
from agent.execution.executor import CallResult
from agent.policy.delegating_policy import DelegatingPolicy
from agent.policy.protocol import (
    AdoptionQuestion,
    ArgumentsQuestion,
    CallArguments,
    DecomposeQuestion,
    Decomposition,
    MoveQuestion,
    NextMove,
    PathAdoption,
    PathQuestion,
    Policy,
    Reflection,
    ReflectionQuestion,
    Subtask,
    WholePath,
    rebuild_subtask,
)
from agent.resume_decisions import DecisionReader, RecordedDecision
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
from domain.plan import Binding, StepResult
from domain.tool import ToolId
from graph.store import GraphStore

T = TypeVar("T")
_STEP_EVENTS = (CallStarted, CallFinished, ResponseCompressed, QuestionAnswered)
"""Events of the calls of a path."""


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
        """Return the subtasks that were started, by number, and whether these are all subtasks of the run.

        They are if part of the answer was emitted, which happens after all subtasks.
        """
        events = [record.event for record in self._records]
        subtasks = {event.subtask: rebuild_subtask(event) for event in events if isinstance(event, SubtaskStarted)}
        return subtasks, any(isinstance(event, AnswerDelta) for event in events)

    def collect_calls(self, *, has_ledger: bool = False) -> dict[CallKey, CallResult]:
        """Return the calls that were made, with their results.

        The result of a changing call that was started and has no recorded end is ``unknown``. Left out are safe calls
        without a result, which can be made again, and the safe calls of programs, which are replayed one by one
        (:meth:`SubtaskMemo.open_program`). With ``has_ledger``, changing calls without a result are left out too: the
        executor's ledger of started calls knows more about them than the record.
        """
        results: dict[CallKey, CallResult] = {}
        for record in self._records:
            match record.event:
                case CallStarted(tool=tool, arguments=arguments, site=site) if tool in self._unsafe and not has_ledger:
                    key = build_call_key(tool, arguments, build_call_identity(record.subtask, site))
                    results.setdefault(key, CallResult("unknown", "", note=CUT_OFF_NOTE))
                case CallFinished(result=result, site=site) if result.attempts and not (
                    site and result.tool not in self._unsafe
                ):
                    results[
                        build_call_key(
                            result.tool, result.requested_arguments, build_call_identity(record.subtask, site)
                        )
                    ] = to_call_result(result)
                case _:
                    continue
        return results

    def count_changes(self, calls: Collection[CallKey]) -> int:
        """Count those of the calls that may have changed something."""
        return sum(tool in self._unsafe for tool, *_ in calls)


def to_call_result(result: StepResult) -> CallResult:
    """Convert a step's result back to the result of its call."""
    # Without a status and with one of these outcomes, no response arrived, so the host may be down.
    was_reached = result.http_status is not None or result.outcome not in ("transient", "gone", "unreached")
    return CallResult(
        result.outcome or "unknown", result.response, result.http_status, result.attempts, result.note, reached=was_reached,
        instead=result.instead, corrected=None if result.intended is None else result.arguments,
    )  # fmt: skip


class SubtaskMemo:
    """Recorded decisions, calls and questions of one subtask.

    Decisions are found by order: which one is returned depends on the events that were replayed so far
    (:meth:`replay_event`).
    """

    def __init__(self, record: ReplayRecord) -> None:
        self._record = record

    def replay_event(self, event: Event) -> bool:
        """Return whether an event is recorded here, and advance past it.

        Raises:
            ConflictError: as :meth:`agent.resume_record.ReplayRecord.replay_event`.
        """
        return self._record.replay_event(event)

    def recall(self, read_decision: DecisionReader[T]) -> RecordedDecision[T] | None:
        """Return the recorded decision; None if the record does not contain it."""
        return read_decision(self._record)

    async def decide(self, read_decision: DecisionReader[T], decide_now: Callable[[], Awaitable[T]]) -> T:
        """Return the recorded decision; without one, the result of ``decide_now``."""
        recorded = self.recall(read_decision)
        return await decide_now() if recorded is None else recorded.value

    def decide_sync(self, read_decision: DecisionReader[T], decide_now: Callable[[], T]) -> T:
        """Return the recorded decision; without one, the result of ``decide_now``.

        For decisions that need no waiting.
        """
        recorded = self.recall(read_decision)
        return decide_now() if recorded is None else recorded.value

    def find_answer(self, question: str) -> QuestionAnswered | None:
        """Return the recorded answer to a question to the user that no program asked, found by its wording.

        Its event is the next one, or among the events of a program that was running.
        """
        nearby_events = (*(self._record.pending_program_events or ()), self._record.next_event)
        questions = (event for event in nearby_events if isinstance(event, QuestionAnswered) and not event.site)
        return next((event for event in questions if event.question == question), None)

    def collect_recorded_steps(self) -> "list[RecordedStep]":
        """Return the next events that belong to calls of a path, up to the end of the last finished call."""
        upcoming = list(takewhile(lambda event: isinstance(event, _STEP_EVENTS), self._record.iterate_ahead()))
        # A call that was started and not finished is made again, together with the question before it.
        while upcoming and isinstance(upcoming[-1], CallStarted | QuestionAnswered):
            upcoming.pop()
        return [_to_recorded_step(event) for event in upcoming]

    def open_program(self, number: int) -> "ProgramMemo":
        """Return the memo of the program whose start was replayed last; an empty one if its start is not recorded.

        ``number`` is the number of its cell, with which the sites of its calls begin.
        """
        calls = [event for event in self._record.pending_program_events or () if event.site.startswith(f"{number}:")]
        next_event = self._record.next_event
        return ProgramMemo(
            {_build_event_key(event): event.step for event in calls if not isinstance(event, QuestionAnswered)},
            {_build_event_key(event): event.result for event in calls if isinstance(event, CallFinished)},
            {event.site: event for event in calls if isinstance(event, QuestionAnswered)},
            next_event if isinstance(next_event, ProgramFailed) and next_event.number == number else None,
        )


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """A recorded event of a path that was executed step by step."""

    event: Event
    step: int = 0
    """Step number if the event is the end of a call; else 0."""
    result: CallResult | None = None
    """Result of that call; None for other events."""


def _to_recorded_step(event: Event) -> RecordedStep:
    return (
        RecordedStep(event, event.step, to_call_result(event.result))
        if isinstance(event, CallFinished)
        else RecordedStep(event)
    )


def _build_event_key(event: CallStarted | CallFinished) -> CallKey:
    if isinstance(event, CallFinished):
        return build_call_key(event.result.tool, event.result.requested_arguments, event.site)
    return build_call_key(event.tool, event.arguments, event.site)


@dataclass(slots=True)
class ProgramMemo:
    """Recorded calls and questions of one program; its calls are identified by their sites.

    Concurrent calls are replayed in the order in which they ended, so that the program takes the same course.
    """

    steps: Mapping[CallKey, int] = field(default_factory=dict[CallKey, int])
    """Step numbers of the calls that were started."""
    results: Mapping[CallKey, StepResult] = field(default_factory=dict[CallKey, StepResult])
    """Results of the calls that ended, in that order."""
    answers: Mapping[str, QuestionAnswered] = field(default_factory=dict[str, QuestionAnswered])
    """Results of its questions, by their sites."""
    failure: ProgramFailed | None = None
    """The failure of the program, if it broke off; calls that were under way then never end."""
    _positions: dict[CallKey, int] = field(init=False)
    """Positions of the calls that have not been replayed yet, in the order in which calls ended."""

    def __post_init__(self) -> None:
        self._positions = {key: place for place, key in enumerate(self.results)}

    @property
    def last_step(self) -> int:
        """The highest step number of its calls; 0 without calls."""
        return max(self.steps.values(), default=0)

    def is_ahead(self, key: CallKey) -> bool:
        """Return whether the end of a call is recorded and has not been replayed yet."""
        return key in self._positions

    def get_position(self, key: CallKey) -> int:
        """Return the position of a call that is ahead, in the order in which calls ended."""
        return self._positions[key]

    def replay(self, key: CallKey) -> StepResult:
        """Return the result of a call that is ahead, and advance past it."""
        del self._positions[key]
        return self.results[key]

    def skip(self, key: CallKey) -> None:
        """Drop a call that is no longer made, whether or not its end is recorded."""
        self._positions.pop(key, None)

    def find_unmatched_call(
        self, tool: ToolId, location: str, known_arguments: JsonObject, matched: Collection[CallKey]
    ) -> CallKey | None:
        """Return the recorded call of a tool at a place of the text that has these arguments, perhaps among others.

        Used while some arguments of a call are still unknown.

        Args:
            tool: tool of the call.
            location: cell and position in the program's text, as ``2:57``.
            known_arguments: arguments that are known so far.
            matched: recorded calls that are already assigned to other calls of the program.
        """
        for key in self.steps:
            if key[0] == tool and key[2].partition("#")[0] == location and key not in matched:
                arguments = json.loads(key[1])
                if all(name in arguments and arguments[name] == value for name, value in known_arguments.items()):
                    return key
        return None


class ReplayPolicy(DelegatingPolicy):
    """Replays the decisions of one subtask's policy.

    It has a method for each kind of question whose answer an event records. Programs are missing here, because
    whoever runs them asks the memo for their texts.
    """

    def __init__(
        self,
        policy: Policy,
        memo: SubtaskMemo,
        to_subtask_binding: Callable[[Binding], Binding] = lambda origin: origin,
    ) -> None:
        """Wrap a policy. ``to_subtask_binding`` translates a recorded origin to the step numbers of the subtask."""
        super().__init__(policy)
        self._memo = memo
        self._to_subtask_binding = to_subtask_binding

    @property
    def can_write_programs(self) -> bool:
        return self._memo.decide_sync(decisions.read_program_requested, lambda: self._policy.can_write_programs)

    async def choose(self, situation: MoveQuestion) -> NextMove:
        return await self._memo.decide(decisions.read_move(situation), partial(self.delegate, situation))

    async def plan_path(self, question: PathQuestion) -> WholePath:
        return await self._memo.decide(decisions.read_whole_path(question), partial(self.delegate, question))

    async def reflect(self, question: ReflectionQuestion) -> Reflection:
        return await self._memo.decide(decisions.read_reflection, partial(self.delegate, question))

    async def adopt(self, proposal: AdoptionQuestion) -> PathAdoption:
        return await self._memo.decide(decisions.read_adoption(proposal), partial(self.delegate, proposal))

    async def fill_arguments(self, question: ArgumentsQuestion) -> CallArguments:
        recorded = decisions.read_arguments(question, self._to_subtask_binding)
        return await self._memo.decide(recorded, partial(self.delegate, question))


class ReplayDecomposition(DelegatingPolicy):
    """Decomposes the request of a resumed run; subtasks that were started before stay as they were."""

    def __init__(self, policy: Policy, log: RunLog) -> None:
        super().__init__(policy)
        self._started_subtasks, self._is_complete = log.load_subtasks()

    async def decompose(self, question: DecomposeQuestion) -> Decomposition:
        if self._is_complete:
            return Decomposition(
                tuple(self._started_subtasks[number] for number in sorted(self._started_subtasks)), "as before"
            )
        decomposition = await self.delegate(question)
        subtasks = {subtask.number: subtask for subtask in decomposition.subtasks} | self._started_subtasks
        return Decomposition(tuple(subtasks[number] for number in sorted(subtasks)), decomposition.reason)
