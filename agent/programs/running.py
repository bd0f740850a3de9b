"""Calls of a running program: made concurrently, like any call of a run, and answered as they end."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic.types import JsonValue

from agent.asking import Asking, choice_of
from agent.budget import Meter
from agent.execution.call_cache import ReusingExecutor
from agent.execution.execute import OUT_OF_TIME, made
from agent.execution.identity import identity_of
from agent.files.origins import FileOrigins
from agent.policy.protocol import Arguments
from agent.programs.answers import answer_of, final
from agent.programs.identified import Call, Called, Identifying
from agent.programs.leave import ProgramLeave, SubtaskLeave
from agent.programs.open_values import OpenValues
from agent.programs.protocol import (
    ASK,
    Answered,
    Broken,
    Failure,
    LeftOpen,
    Looking,
    PendingCall,
    Returned,
    Session,
    Waiting,
)
from agent.programs.questions import asked, proposed
from agent.resume import ProgramMemo, as_called
from agent.run_events import Tell
from domain.errors import BudgetExceededError, FootpathError
from domain.event import CallFinished, CallStarted, ProgramFailed, QuestionAnswered
from domain.plan import StepResult
from domain.program import Program
from domain.tool import ToolDoc

AT_ONCE = 8
"""Maximum number of calls of one program in progress at the same time."""

T = TypeVar("T")
ProgramStop = Looking | Returned | Broken | LeftOpen | Answered


@dataclass(slots=True)
class StepCount:
    """Step numbers of a subtask, over all of its programs."""

    last: int = 0
    """Number of the last step."""

    def next(self, recorded: int | None) -> int:
        """Return the number of a call that begins; a call that began before an interruption keeps its own."""
        number = self.last + 1 if recorded is None else recorded
        self.last = max(self.last, number)
        return number


@dataclass(frozen=True, slots=True)
class Calling:
    """Environment in which the programs of one subtask make their calls."""

    subtask: int
    docs: Mapping[str, ToolDoc]
    """Tools by function name."""
    executor: ReusingExecutor
    meter: Meter
    steps: StepCount
    tell: Tell
    """Emits events."""
    turn: Callable[[], Awaitable[None]]
    """Awaited before the first change, so that subtasks make their changes in order."""
    asking: Asking
    """Asks the user of the run."""
    leave: SubtaskLeave | None = None
    """Context of the calls for their approver, if there is one."""
    opened: OpenValues | None = None
    """Finds what a plan's text leaves open."""
    plan: bool = False
    """The text is a person's plan, so its values are that person's."""
    author: bool = False
    """There is an author who reads free-text answers of the user."""
    files: FileOrigins = field(default_factory=FileOrigins)
    """Files that the user gave, as origins of values."""
    of_strangers: bool = False
    """The program may be another user's."""


@dataclass(slots=True)
class _Air:
    """Calls and questions of a program that are not answered yet."""

    seen: set[int] = field(default_factory=set[int])
    """Session ids of all calls so far."""
    unknown: dict[int, str] = field(default_factory=dict[int, str])
    """Names of functions that do not exist (any more), by the id of the call."""
    questions: deque[PendingCall] = field(default_factory=deque[PendingCall])
    """Questions to the user, asked after all else is answered: no call may be in progress while the run waits."""
    refused: deque[Call] = field(default_factory=deque[Call])
    """Calls that cannot be made."""
    queue: list[Call] = field(default_factory=list[Call])
    """Calls that have not begun."""
    begun: dict[int, Call] = field(default_factory=dict[int, Call])
    """Calls in progress, by session id."""
    ended: asyncio.Queue[Call] = field(default_factory=asyncio.Queue[Call])
    """Calls whose task is done, in that order."""
    left_out: deque[tuple[Call, StepResult]] = field(default_factory=deque[tuple[Call, StepResult]])
    """Calls that the user left out of several that were to be approved.

    They are reported only when nothing else is in progress: they end the program, and the results of the others are still wanted.
    """

    @property
    def empty(self) -> bool:
        """True if no call is left to be answered; questions are not counted."""
        return not (self.refused or self.queue or self.begun or self.left_out)

    def next_to_begin(self) -> Call | None:
        """Return the next call to begin, or None.

        Reads run concurrently; changes run one at a time, in the order in which the program made them.
        """
        if len(self.begun) >= AT_ONCE:
            return None
        changing = any(not one.tool.safe for one in self.begun.values())
        for call in self.queue:
            if call.tool.safe or not changing:
                return call
        return None


class ProgramRunner:
    """Runs a text once; made for one run and then dropped.

    On resuming an interrupted run, the text runs again over its memo. Calls that ended are answered from it in the order in which they
    ended, so that the text takes the same course. Calls that were cut off are made again if they change nothing; otherwise their result is
    what the executor knows of them.

    Attributes:
        stop: how the run ended.
        calls: the calls that ended, in that order.
    """

    def __init__(
        self,
        session: Session,
        program: Program,
        number: int,
        calling: Calling,
        memo: ProgramMemo | None = None,
        leave: ProgramLeave | None = None,
    ) -> None:
        """Prepare one run.

        ``leave``: context of the calls, through which they are announced to an approver.
        """
        self.stop: ProgramStop | None = None
        self.calls: list[Called] = []
        self._session = session
        self._program = program
        self._number = number
        self._calling = calling
        self._memo = memo or ProgramMemo()
        self._leave = leave
        self._sites = Identifying(
            calling.subtask,
            number,
            program,
            calling.docs,
            self._memo,
            leave,
            calling.opened,
            plan=calling.plan,
            files=calling.files,
        )
        self._air = _Air()
        self._had_turn = False
        calling.steps.last = max(calling.steps.last, self._memo.last_step)

    async def run(self, inputs: Mapping[str, JsonValue]) -> None:
        """Run to the end, to a look, or to an error, then finish and report the changes that are still in progress.

        Raises:
            FootpathError: something other than a tool failed, such as a store that cannot be reached, or the run was stopped.
        """
        try:
            self.stop = await self._to_its_stop(inputs)
            await self._see_to_changes()
        except BudgetExceededError as error:
            self.stop = Broken(type(error).__name__, str(error), final=True)
            await self._cut_off()
        except FootpathError:
            await self._see_to_changes()
            raise
        finally:
            await _cancelled([one.task for one in self._air.begun.values() if one.task])

    async def _to_its_stop(self, inputs: Mapping[str, JsonValue]) -> ProgramStop | None:
        """Answer calls and questions until the program stops, and return the stop."""
        stop = await self._in_time(self._session.start(self._program.text, inputs))
        while isinstance(stop, Waiting):
            await self._admit(stop)
            if self._air.unknown:
                stop = await self._in_time(self._session.resume(self._not_there()))
                continue
            if self._air.empty and self._air.questions:
                pending = self._air.questions.popleft()
                answer = await self._asked(pending)
                if isinstance(answer, QuestionAnswered):
                    await self._calling.tell(answer)
                    answer = choice_of(proposed(pending), answer.answer)
                if self.stop is not None:
                    return self.stop
                stop = await self._in_time(self._session.resume({pending.id: answer}))
                continue
            if self._air.empty:
                return Broken("RuntimeError", "it waits for what is no call", lost=True)
            while (call := self._next_to_begin()) is not None:
                await self._calling.tell(await self._started(call))
                self._begin(call)
            ended = await self._next()
            if ended is None:
                return self.stop
            call, result = ended
            # Keep it back while other calls run: see ``_Air.left_out``.
            if result.left_out and (self._air.begun or self._next_to_begin() is not None):
                self._air.left_out.append(ended)
                continue
            answer = self._note(call, result)
            await self._tell_end(call, result)
            if self.stop is not None:
                return self.stop
            stop = await self._in_time(self._session.resume({call.id: answer}))
        return stop

    async def _admit(self, waiting: Waiting) -> None:
        """Resolve new calls and sort them by what is to be done with them; announce those that will be made now."""
        new: list[Call] = []
        for pending in waiting.calls:
            if pending.id not in self._air.seen:
                self._air.seen.add(pending.id)
                if pending.function == ASK and ASK not in self._calling.docs:
                    self._air.questions.append(pending)
                    continue
                call = await self._in_time(self._sites.identified(pending, self.calls))
                if call is None:
                    self._air.unknown[pending.id] = pending.function
                elif call.complaint:
                    self._air.refused.append(call)
                else:
                    new.append(call)
        self._air.queue += new
        if self._leave is not None:
            self._leave.tell(self._sites.waiting(call) for call in new if not self._memo.is_ahead(call.key))

    async def _asked(self, pending: PendingCall) -> QuestionAnswered | Failure:
        """Return the user's answer to a question; one that nobody answers ends the program for good."""
        site = self._sites.site(pending, pending.arguments)
        identity, strangers = identity_of(self._calling.subtask, site), self._calling.of_strangers
        question = asked(pending, self._program, identity, strangers=strangers)
        if question is None:
            return Failure(f"{ASK}: it takes a question, in words")
        recorded = self._memo.answers.get(site)
        if recorded is None and (failed := self._memo.broke_off) is not None:
            self.stop = _broken_off(failed)
            return Failure(failed.error)
        known = self._calling.asking.knows(question)
        event = await self._calling.asking.ask(question, site, recorded)
        if event.unanswered:
            self.stop = LeftOpen(event)
        elif self._calling.author and not known and choice_of(proposed(pending), event.answer) not in proposed(pending):
            self.stop = Answered(event)
        return event

    def _not_there(self) -> dict[int, Failure]:
        """Return the failures of calls to functions that no longer exist."""
        said = {at: Failure(f"there is no function `{name}` any more") for at, name in self._air.unknown.items()}
        self._air.unknown = {}
        return said

    async def _started(self, call: Call) -> CallStarted:
        """Move a call from the queue to those in progress, and return its start event."""
        if not call.tool.safe and not self._had_turn:
            await self._calling.turn()
            self._had_turn = True
        call.step = self._calling.steps.next(self._memo.steps.get(call.key))
        self._air.queue.remove(call)
        self._air.begun[call.id] = call
        told = call.arguments, call.provenance
        return CallStarted(step=call.step, tool=call.tool.id, arguments=told[0], provenance=told[1], site=call.site)

    def _next_to_begin(self) -> Call | None:
        """Return the next call to begin, or None.

        After a recorded error, no call begins that had not begun by then: the cause, such as a lost process, may not occur again on a replay.
        """
        call = self._air.next_to_begin()
        over = self._memo.broke_off is not None
        return None if over and call is not None and call.key not in self._memo.steps else call

    def _begin(self, call: Call) -> None:
        """Start a call in a task, unless its end is recorded."""
        if self._memo.is_ahead(call.key):
            call.begun = self._calling.executor.begins_again(call.tool)
        else:
            identity = identity_of(self._calling.subtask, call.site)
            prepared = Arguments(call.arguments, call.provenance)
            call.task = asyncio.create_task(made(call.tool, prepared, self._calling.executor, identity))
            call.task.add_done_callback(lambda _: self._air.ended.put_nowait(call))

    async def _next(self) -> tuple[Call, StepResult] | None:
        """Wait for the next call that ends; None if the recorded program ended in an error at this point."""
        if self._air.refused:
            call = self._air.refused.popleft()
            call.step = self._calling.steps.next(self._memo.steps.get(call.key))
            self._memo.skip(call.key)
            return call, call.refused
        if self._air.left_out and not self._air.begun:
            return self._air.left_out.popleft()
        # Replay in the recorded order, whatever order the program made the calls in.
        recorded = [one for one in self._air.begun.values() if self._memo.is_ahead(one.key)]
        if recorded:
            call = min(recorded, key=lambda one: self._memo.place(one.key))
            return call, self._replay(call)
        if (failed := self._memo.broke_off) is not None:
            self.stop = _broken_off(failed)
            return None
        call = await self._in_time(self._air.ended.get())
        return call, self._result(call)

    def _replay(self, call: Call) -> StepResult:
        """Return the recorded result of a call, and let the executor count it as if it were made now."""
        result = self._memo.replay(call.key)
        del self._air.begun[call.id]
        if result.outcome is not None or result.status == "unknown":
            identity = identity_of(self._calling.subtask, call.site)
            self._calling.executor.lived(call.tool, call.arguments, identity, as_called(result), call.begun)
        return result

    def _result(self, call: Call) -> StepResult:
        """Return the result of a call whose task is done."""
        del self._air.begun[call.id]
        assert call.task is not None  # noqa: S101  # only what is made now ends by itself
        return call.task.result()

    def _note(self, call: Call, result: StepResult) -> JsonValue | Failure:
        """Record a result and return the program's answer; a result that ends the program sets ``stop``."""
        line = 0 if call.back else self._program.text.encode()[: call.place].count(b"\n") + 1
        self.stop = final(call.tool, result, line) or self.stop
        answer = answer_of(call.tool, result)
        self.calls.append(Called(call.function, call.step, call.site, call.place, result, answer))
        return answer

    async def _see_to_changes(self) -> None:
        """Wait for changes that are in progress when the program ends, but not for reads."""
        for call in [one for one in self._air.begun.values() if not one.tool.safe]:
            if self._memo.is_ahead(call.key):
                result = self._replay(call)
            elif call.task is not None:
                await self._in_time(asyncio.wait([call.task]))
                result = self._result(call)
            else:
                continue
            self._note(call, result)
            await self._tell_end(call, result)
        await self._tell_left_out()

    async def _tell_left_out(self) -> None:
        """Report calls that the user left out and that the program did not wait for; its stop stays as it is."""
        while self._air.left_out:
            call, result = self._air.left_out.popleft()
            stop = self.stop
            self._note(call, result)
            self.stop = stop or self.stop
            await self._tell_end(call, result)

    async def _cut_off(self) -> None:
        """Cancel changes when the time is up, and report their outcome as unknown."""
        for call in [one for one in self._air.begun.values() if not one.tool.safe and one.task]:
            await _cancelled([call.task] if call.task else [])
            del self._air.begun[call.id]
            result = call.cut_off(OUT_OF_TIME)
            stop = self.stop
            self._note(call, result)
            self.stop = stop
            await self._tell_end(call, result)
        await self._tell_left_out()

    async def _tell_end(self, call: Call, result: StepResult) -> None:
        """Emit the end of a call."""
        await self._calling.tell(CallFinished(step=call.step, result=result, site=call.site))

    async def _in_time(self, awaited: Awaitable[T]) -> T:
        """Await something within the run's time budget."""
        meter = self._calling.meter
        try:
            async with meter.within_time():
                return await awaited
        except TimeoutError:
            raise BudgetExceededError(f"the budget of {meter.budget.seconds:g} seconds is used up") from None


def _broken_off(failed: ProgramFailed) -> Broken:
    """Return the error with which the program ended before the interruption; its session is gone."""
    return Broken("", failed.error, failed.line, lost=True, final=failed.final)


async def _cancelled(tasks: list[asyncio.Task[StepResult]]) -> None:
    """Cancel tasks and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
