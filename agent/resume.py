"""A run that was broken off goes on from its events: they are replayed without being emitted again, and nothing is done twice.

A run that is taken up runs the same code over the same log. Whatever it would do once more it asks the memo for first, under a key that is
the same each time: a question to its policy and a decision of its own (:mod:`agent.resume_decisions`), a call (tool, arguments, place), a
question to its user. Where the log holds the result, that counts; where it does not, it is worked out now, and its event is emitted. Where the world has changed so that the log
cannot be followed any further, the run goes its own way from there; unless the rest of the log has changed something, which
it could then do again in another way: such a run ends.
"""

import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TypeVar

from agent.execution.call_cache import CUT_OFF
from agent.execution.executor import CallResult
from agent.execution.identity import Key, identity_of, key_of
from agent.policy.subtasks import Subtask, begun
from agent.resume_decisions import Decision, Recorded
from agent.resume_record import Record
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
_OF_STEPS = (CallStarted, CallFinished, ResponseCompressed, QuestionAnswered)


async def open_log(records: Sequence[EventRecord], store: GraphStore) -> "RunLog":
    """Open the log of a run. All called tools count as changing something but those that the store knows to be safe."""
    called = {record.event.tool for record in records if isinstance(record.event, CallStarted)}
    docs = await store.get_tools(called) if called else {}
    return RunLog(records, frozenset(tool for tool in called if tool not in docs or not docs[tool].safe))


class RunLog:
    """What a run told before it was broken off, by subtask; empty for a run that begins."""

    def __init__(self, records: Sequence[EventRecord] = (), unsafe: frozenset[ToolId] = frozenset()) -> None:
        """``unsafe``: called tools that may change something."""
        self._records = records
        self._unsafe = unsafe
        self._memos: dict[int, Memo] = {}

    def of(self, subtask: int) -> "Memo":
        """The memo of one subtask; 0: of the run as a whole."""
        if subtask not in self._memos:
            mine = [record.event for record in self._records if record.subtask == subtask]
            # Those two are emitted by who makes the run, not by the run.
            told = [event for event in mine if not isinstance(event, InputNeeded | RunDelayed)]
            shown = [event.program for event in mine if isinstance(event, InputNeeded) and event.asks == "plan"]
            self._memos[subtask] = Memo(Record(told, self._unsafe, shown))
        return self._memos[subtask]

    def subtasks(self) -> tuple[dict[int, Subtask], bool]:
        """The subtasks that were begun, by number, and whether there are no others: an answer is told after all of them."""
        told = [record.event for record in self._records]
        subtasks = {one.subtask: begun(one) for one in told if isinstance(one, SubtaskStarted)}
        return subtasks, any(isinstance(one, AnswerDelta) for one in told)

    def made(self, *, ledger: bool = False) -> dict[Key, CallResult]:
        """The calls that were made, with their results; one that was begun and has no result has an unknown one.

        What programs read is left out: they replay it one by one (``Memo.program``). A safe call without a result is left out: it can be made again. ``ledger``: so are all others; who makes them knows.
        """
        made: dict[Key, CallResult] = {}
        for record in self._records:
            match record.event:
                case CallStarted(tool=tool, arguments=arguments, site=site) if tool in self._unsafe and not ledger:
                    key = key_of(tool, arguments, identity_of(record.subtask, site))
                    made.setdefault(key, CallResult("unknown", "", note=CUT_OFF))
                case CallFinished(result=result, site=site) if result.attempts and not (
                    site and result.tool not in self._unsafe
                ):
                    made[key_of(result.tool, result.wanted, identity_of(record.subtask, site))] = as_called(result)
                case _:
                    continue
        return made

    def count_changes(self, made: Collection[Key]) -> int:
        """How many of the calls that were made (:meth:`made`) may have changed something."""
        return sum(tool in self._unsafe for tool, *_ in made)


def as_called(result: StepResult) -> CallResult:
    """A step's result as its call gave it."""
    reached = result.http_status is not None or result.outcome not in ("transient", "gone", "unreached")
    return CallResult(
        result.outcome or "unknown", result.response, result.http_status, result.attempts, result.note, reached=reached,
        instead=result.instead, corrected=None if result.intended is None else result.arguments,
    )  # fmt: skip


class Memo:
    """What one subtask has decided, called and asked before the run was broken off, by keys that a resumed run asks with again.

    What comes of a key depends on how far the run has come (``replays``); decisions are recorded in order.
    """

    def __init__(self, record: Record) -> None:
        self._record = record

    def replays(self, event: Event) -> bool:
        """Return whether an event was told before, and go on behind it. Raises as :meth:`agent.resume_record.Record.replays`."""
        return self._record.replays(event)

    def recall(self, decision: Decision[T]) -> Recorded[T] | None:
        """What was decided; None where the log does not hold it."""
        return decision(self._record)

    async def decide(self, decision: Decision[T], decide_now: Callable[[], Awaitable[T]]) -> T:
        """What was decided, else what is decided now."""
        recorded = self.recall(decision)
        return await decide_now() if recorded is None else recorded.value

    def settle(self, decision: Decision[T], decide_now: Callable[[], T]) -> T:
        """As ``decide``, for what is decided without waiting."""
        recorded = self.recall(decision)
        return decide_now() if recorded is None else recorded.value

    def answer(self, question: str) -> QuestionAnswered | None:
        """What became of a question to the user that no program's text asks, by its words: it comes next, or while a program runs that has begun."""
        near = (*(self._record.running or ()), self._record.next)
        asked = (one for one in near if isinstance(one, QuestionAnswered) and not one.site)
        return next((one for one in asked if one.question == question), None)

    def steps(self) -> "list[RecordedStep]":
        """The calls of a path that come next, up to the last that has ended, and what was told between them."""
        ahead = list(takewhile(lambda event: isinstance(event, _OF_STEPS), self._record.ahead()))
        while ahead and isinstance(ahead[-1], CallStarted | QuestionAnswered):
            ahead.pop()
        return [_recorded_step(event) for event in ahead]

    def program(self, number: int) -> "ProgramMemo":
        """The memo of a program whose beginning has been replayed; an empty one where it was not told before."""
        mine = [one for one in self._record.running or () if one.site.startswith(f"{number}:")]
        failed = self._record.next
        return ProgramMemo(
            {_key(one): one.step for one in mine if not isinstance(one, QuestionAnswered)},
            {_key(one): one.result for one in mine if isinstance(one, CallFinished)},
            {one.site: one for one in mine if isinstance(one, QuestionAnswered)},
            failed if isinstance(failed, ProgramFailed) and failed.number == number else None,
        )


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """An event of a path that is carried out step by step."""

    event: Event
    step: int = 0
    """The number of the call that has ended by it, and 0 for other events."""
    result: CallResult | None = None
    """That call's result."""


def _recorded_step(event: Event) -> RecordedStep:
    return (
        RecordedStep(event, event.step, as_called(event.result))
        if isinstance(event, CallFinished)
        else RecordedStep(event)
    )


def _key(event: CallStarted | CallFinished) -> Key:
    if isinstance(event, CallFinished):
        return key_of(event.result.tool, event.result.wanted, event.site)
    return key_of(event.tool, event.arguments, event.site)


@dataclass(slots=True)
class ProgramMemo:
    """The calls and questions of one program that were told before the run was broken off. The identity in the key of a call is its site.

    Calls that ended are replayed in the order in which they did, so that the text takes the same course.
    """

    steps: Mapping[Key, int] = field(default_factory=dict[Key, int])
    """The numbers of the calls that were begun."""
    results: Mapping[Key, StepResult] = field(default_factory=dict[Key, StepResult])
    """Of those that ended, in the order in which they did."""
    answers: Mapping[str, QuestionAnswered] = field(default_factory=dict[str, QuestionAnswered])
    """What became of its questions, by their sites."""
    broke_off: ProgramFailed | None = None
    """How the program broke off, where it did; a call that had not ended then has no end."""
    _ahead: dict[Key, int] = field(init=False)

    def __post_init__(self) -> None:
        self._ahead = {key: place for place, key in enumerate(self.results)}

    @property
    def last_step(self) -> int:
        """The greatest number of its calls."""
        return max(self.steps.values(), default=0)

    def is_ahead(self, key: Key) -> bool:
        """Return whether the end of a call is recorded and has not been replayed yet."""
        return key in self._ahead

    def place(self, key: Key) -> int:
        """Where in the order of ends that of a call stands which is ahead."""
        return self._ahead[key]

    def replay(self, key: Key) -> StepResult:
        """Take the result of a call that is ahead."""
        del self._ahead[key]
        return self.results[key]

    def skip(self, key: Key) -> None:
        """Leave out a call that is not made any more, whether its end is recorded or not."""
        self._ahead.pop(key, None)

    def completed(self, tool: ToolId, place: str, given: JsonObject, taken: Collection[Key]) -> Key | None:
        """The call at a place of the text (``2:57``) of which not all arguments are known yet, but for those that are ``taken`` already."""
        for key in self.steps:
            if key[0] == tool and key[2].partition("#")[0] == place and key not in taken:
                arguments = json.loads(key[1])
                if all(name in arguments and arguments[name] == value for name, value in given.items()):
                    return key
        return None
