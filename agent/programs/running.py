"""A program's calls while it runs: made side by side, each as any call of a run is made and told, answered as they end."""

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
"""Calls of one program that are under way at the same time."""

T = TypeVar("T")
ProgramStop = Looking | Returned | Broken | LeftOpen | Answered


@dataclass(slots=True)
class StepCount:
    """The numbers of a subtask's steps, over all of its programs. ``last``: the number of the last one."""

    last: int = 0

    def next(self, recorded: int | None) -> int:
        """The number of a call that begins; one that began before the run was broken off keeps its own."""
        number = self.last + 1 if recorded is None else recorded
        self.last = max(self.last, number)
        return number


@dataclass(frozen=True, slots=True)
class Calling:
    """What the calls of all programs of one subtask are made with. ``docs``: the tools by the functions of the program.

    ``tell``: tells what happens. ``turn``: waited for before the first change, so that subtasks change things in their order. ``leave``: who gives leave for them is told.
    ``asking``: what the run asks its user.
    ``opened``: finds what a plan's text leaves open; ``plan``: the text is a person's plan, whose values are theirs. ``author``: there is one who
    reads what a user answers in words of their own. ``files``: that the user gave, for where values come from.
    ``of_strangers``: the program may be another user's.
    """

    subtask: int
    docs: Mapping[str, ToolDoc]
    executor: ReusingExecutor
    meter: Meter
    steps: StepCount
    tell: Tell
    turn: Callable[[], Awaitable[None]]
    asking: Asking
    leave: SubtaskLeave | None = None
    opened: OpenValues | None = None
    plan: bool = False
    author: bool = False
    files: FileOrigins = field(default_factory=FileOrigins)
    of_strangers: bool = False


@dataclass(slots=True)
class _Air:
    """Calls that are not answered yet. ``seen``: all that ever were, by the session's ids. ``refused``: that cannot be made; ``queue``: not begun; ``begun``: by the session's id.
    ``unknown``: ids of calls to what is no function of the program (any more), with the names. ``questions``: to the user; not asked before everything
    else is answered, so that nothing is under way while the run waits.

    ``ended``: those whose task is over, in that order. ``left_out``: of several that were asked about, those that their user left out: told when
    nothing else is under way, since they end the program and the others are wanted.
    """

    seen: set[int] = field(default_factory=set[int])
    unknown: dict[int, str] = field(default_factory=dict[int, str])
    questions: deque[PendingCall] = field(default_factory=deque[PendingCall])
    refused: deque[Call] = field(default_factory=deque[Call])
    queue: list[Call] = field(default_factory=list[Call])
    begun: dict[int, Call] = field(default_factory=dict[int, Call])
    ended: asyncio.Queue[Call] = field(default_factory=asyncio.Queue[Call])
    left_out: deque[tuple[Call, StepResult]] = field(default_factory=deque[tuple[Call, StepResult]])

    @property
    def empty(self) -> bool:
        """Whether nothing is left to be answered."""
        return not (self.refused or self.queue or self.begun or self.left_out)

    def next_to_begin(self) -> Call | None:
        """Reads side by side; changes one after the other, in the order in which the program came to them."""
        if len(self.begun) >= AT_ONCE:
            return None
        changing = any(not one.tool.safe for one in self.begun.values())
        for call in self.queue:
            if call.tool.safe or not changing:
                return call
        return None


class ProgramRunner:
    """One run of one text; made, used once and dropped. ``stop``: how it ended. ``calls``: those that ended, in that order.

    A run that was broken off runs the text again over its memo: the calls that ended are answered from it, in the order in which they ended, so
    that the text takes the same course; those that were cut off are made again, where they change nothing, or else are what the executor knows
    of them.
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
        """``leave``: what tells of its calls whoever gives leave for them."""
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
        """Run it to its end, to where it looks, or to where it breaks off; what is still under way then is seen to, and told.

        Raises what is no failure of a tool: a store that is out of reach, a stop of the run.
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
        """Answer its calls and its questions until it stops; how it does."""
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
        """What became of a question; one that nobody answers ends the program for good."""
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
        """What is said to calls of functions that are not there: their tools are gone since."""
        said = {at: Failure(f"there is no function `{name}` any more") for at, name in self._air.unknown.items()}
        self._air.unknown = {}
        return said

    async def _started(self, call: Call) -> CallStarted:
        if not call.tool.safe and not self._had_turn:
            await self._calling.turn()
            self._had_turn = True
        call.step = self._calling.steps.next(self._memo.steps.get(call.key))
        self._air.queue.remove(call)
        self._air.begun[call.id] = call
        told = call.arguments, call.provenance
        return CallStarted(step=call.step, tool=call.tool.id, arguments=told[0], provenance=told[1], site=call.site)

    def _next_to_begin(self) -> Call | None:
        """None also of what a program that broke off had not begun by then: what it broke off for may not come again, a lost process say."""
        call = self._air.next_to_begin()
        over = self._memo.broke_off is not None
        return None if over and call is not None and call.key not in self._memo.steps else call

    def _begin(self, call: Call) -> None:
        """Have it made, where its end is not recorded."""
        if self._memo.is_ahead(call.key):
            call.begun = self._calling.executor.begins_again(call.tool)
        else:
            identity = identity_of(self._calling.subtask, call.site)
            prepared = Arguments(call.arguments, call.provenance)
            call.task = asyncio.create_task(made(call.tool, prepared, self._calling.executor, identity))
            call.task.add_done_callback(lambda _: self._air.ended.put_nowait(call))

    async def _next(self) -> tuple[Call, StepResult] | None:
        """The next call that has ended. None: the record goes no further, since the program broke off here."""
        if self._air.refused:
            call = self._air.refused.popleft()
            call.step = self._calling.steps.next(self._memo.steps.get(call.key))
            self._memo.skip(call.key)
            return call, call.refused
        if self._air.left_out and not self._air.begun:
            return self._air.left_out.popleft()
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
        """The recorded result of a call, taken in as if it were made now."""
        result = self._memo.replay(call.key)
        del self._air.begun[call.id]
        if result.outcome is not None or result.status == "unknown":
            identity = identity_of(self._calling.subtask, call.site)
            self._calling.executor.lived(call.tool, call.arguments, identity, as_called(result), call.begun)
        return result

    def _result(self, call: Call) -> StepResult:
        del self._air.begun[call.id]
        assert call.task is not None  # noqa: S101  # only what is made now ends by itself
        return call.task.result()

    def _note(self, call: Call, result: StepResult) -> JsonValue | Failure:
        """The program's answer; a result that ends it does so for good."""
        line = 0 if call.back else self._program.text.encode()[: call.place].count(b"\n") + 1
        self.stop = final(call.tool, result, line) or self.stop
        answer = answer_of(call.tool, result)
        self.calls.append(Called(call.function, call.step, call.site, call.place, result, answer))
        return answer

    async def _see_to_changes(self) -> None:
        """A change that is under way when its program ends is waited for; what is only read is not."""
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
        """Calls that their user left out, which the program did not wait for: it has come to its end, and that stays its end."""
        while self._air.left_out:
            call, result = self._air.left_out.popleft()
            stop = self.stop
            self._note(call, result)
            self.stop = stop or self.stop
            await self._tell_end(call, result)

    async def _cut_off(self) -> None:
        """No time is left: nobody knows what becomes of a change that is under way."""
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
        await self._calling.tell(CallFinished(step=call.step, result=result, site=call.site))

    async def _in_time(self, awaited: Awaitable[T]) -> T:
        meter = self._calling.meter
        try:
            async with meter.within_time():
                return await awaited
        except TimeoutError:
            raise BudgetExceededError(f"the budget of {meter.budget.seconds:g} seconds is used up") from None


def _broken_off(failed: ProgramFailed) -> Broken:
    """How a program broke off before the run did; its session is gone."""
    return Broken("", failed.error, failed.line, lost=True, final=failed.final)


async def _cancelled(tasks: list[asyncio.Task[StepResult]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
