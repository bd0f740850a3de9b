"""Run one program: make its calls concurrently, ask its questions, and resume it as they are answered."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic.types import JsonValue

from agent.budget import BudgetMeter
from agent.execution.call_cache import CachingExecutor
from agent.execution.call_identity import build_call_identity
from agent.execution.step_execution import OUT_OF_TIME_NOTE, execute_call
from agent.files.file_origins import FileOrigins
from agent.policy.protocol import CallArguments
from agent.programs.builtin_functions import build_ask_question, list_proposed_answers
from agent.programs.call_context import CellCallContext, SubtaskCallContext
from agent.programs.call_resolver import CallResolver, CompletedCall, ResolvedCall
from agent.programs.open_values import OpenValues
from agent.programs.program_types import (
    ASK,
    CallFailure,
    FreeTextAnswer,
    LookRequest,
    PendingCalls,
    ProgramError,
    ReturnedValue,
    SandboxCall,
    SandboxSession,
    UnansweredQuestion,
)
from agent.programs.program_values import find_final_error, to_answer
from agent.resume import ProgramMemo, to_call_result
from agent.run_events import EmitEvent
from agent.user_questions import UserQuestions, restore_choice
from domain.errors import BudgetExceededError, FootpathError
from domain.event import CallFinished, CallStarted, ProgramFailed, QuestionAnswered
from domain.plan import StepResult
from domain.program import Program
from domain.tool import ToolDoc

MAX_CONCURRENT_CALLS = 8
"""Maximum number of calls of one program in progress at the same time."""

T = TypeVar("T")
ProgramStop = LookRequest | ReturnedValue | ProgramError | UnansweredQuestion | FreeTextAnswer


@dataclass(slots=True)
class StepCounter:
    """Counter of the step numbers of a subtask, across all of its programs."""

    last: int = 0
    """Number of the last step."""

    def take_number(self, recorded: int | None) -> int:
        """Return the step number of a call that begins.

        ``recorded`` is the one that it had before an interruption.
        """
        number = self.last + 1 if recorded is None else recorded
        self.last = max(self.last, number)
        return number


@dataclass(frozen=True, slots=True)
class CallEnvironment:
    """Environment in which the programs of one subtask make their calls."""

    subtask: int
    """Number of the subtask."""
    docs: Mapping[str, ToolDoc]
    """Tools by function name."""
    executor: CachingExecutor
    """Makes the calls."""
    meter: BudgetMeter
    """Budget of the run, whose time limits every wait."""
    step_counter: StepCounter
    """Counts the steps of the subtask."""
    emit: EmitEvent
    """Records and publishes an event of the run."""
    wait_for_turn: Callable[[], Awaitable[None]]
    """Awaited before the first change, so that concurrent subtasks make their changes in order."""
    user_questions: UserQuestions
    """Asks the user questions of the program."""
    call_context: SubtaskCallContext | None = None
    """Context of the calls for their approver; None if there is no approver."""
    open_values: OpenValues | None = None
    """Finds the values that a plan leaves open."""
    is_plan: bool = False
    """The program is a person's plan, so its constants and inputs count as that person's."""
    has_author: bool = False
    """An author can continue after a free-text answer of the user, so such an answer stops the program."""
    files: FileOrigins = field(default_factory=FileOrigins)
    """Files that the user gave, as origins of values."""
    of_strangers: bool = False
    """The program may have been written by another user."""


@dataclass(slots=True)
class _OpenCalls:
    """Calls and questions of a program that are not answered yet."""

    seen_ids: set[int] = field(default_factory=set[int])
    """Session ids of all calls so far."""
    unknown_functions: dict[int, str] = field(default_factory=dict[int, str])
    """Names of called functions that do not exist, or no longer, by session id."""
    questions: deque[SandboxCall] = field(default_factory=deque[SandboxCall])
    """Questions to the user, asked when no call is in progress: the run may be suspended while it waits for one."""
    refused: deque[ResolvedCall] = field(default_factory=deque[ResolvedCall])
    """Calls that cannot be made, such as those with invalid arguments."""
    queue: list[ResolvedCall] = field(default_factory=list[ResolvedCall])
    """Calls that have not begun, in the order in which the program made them."""
    in_progress: dict[int, ResolvedCall] = field(default_factory=dict[int, ResolvedCall])
    """Calls in progress, by session id."""
    finished: asyncio.Queue[ResolvedCall] = field(default_factory=asyncio.Queue[ResolvedCall])
    """Calls whose task is done, in the order in which they finished."""
    left_out: deque[tuple[ResolvedCall, StepResult]] = field(default_factory=deque[tuple[ResolvedCall, StepResult]])
    """Calls that the user deselected among several to approve, with their results.

    Such a result ends the program, so it is held back until the other calls, which the user approved, have ended.
    """

    @property
    def is_empty(self) -> bool:
        """True if no call is unanswered; questions do not count."""
        return not (self.refused or self.queue or self.in_progress or self.left_out)

    def find_next_to_begin(self) -> ResolvedCall | None:
        """Return the next call to begin, or None.

        Reads run concurrently; changes run one at a time, in the order in which the program made them.
        """
        if len(self.in_progress) >= MAX_CONCURRENT_CALLS:
            return None
        changing = any(not call.tool.safe for call in self.in_progress.values())
        for call in self.queue:
            if call.tool.safe or not changing:
                return call
        return None


class ProgramRunner:
    """Runs one program once.

    When an interrupted run is resumed, the program runs again, with the memo of its recorded calls. Calls that ended
    are answered from the memo in the order in which they ended, so that the program takes the same course. A call that
    was interrupted is made again if it only reads; the result of an interrupted change is what the executor knows of
    it.

    Attributes:
        stop: How the program stopped; None until it did.
        calls: The calls that ended, in that order.
    """

    def __init__(
        self,
        session: SandboxSession,
        program: Program,
        number: int,
        environment: CallEnvironment,
        memo: ProgramMemo | None = None,
        call_context: CellCallContext | None = None,
    ) -> None:
        """Prepare the run of program ``number`` of the subtask.

        Arguments:
            session: Session of the sandbox in which the program runs.
            program: The program.
            number: Its number within the subtask.
            environment: Environment in which it makes its calls.
            memo: Record of its calls from before an interruption.
            call_context: Context through which its calls are announced to an approver.
        """
        self.stop: ProgramStop | None = None
        self.calls: list[CompletedCall] = []
        self._session = session
        self._program = program
        self._number = number
        self._environment = environment
        self._memo = memo or ProgramMemo()
        self._call_context = call_context
        self._resolver = CallResolver(
            environment.subtask,
            number,
            program,
            environment.docs,
            self._memo,
            call_context,
            environment.open_values,
            is_plan=environment.is_plan,
            files=environment.files,
        )
        self._open_calls = _OpenCalls()
        self._had_turn = False
        environment.step_counter.last = max(environment.step_counter.last, self._memo.last_step)

    async def run(self, inputs: Mapping[str, JsonValue]) -> None:
        """Run to the end, to a look or to an error.

        Then wait for the changes that are in progress, and report them.

        ``inputs``: values of the program's variables. When the time budget is used up, the changes in progress are
        cancelled and reported with an unknown outcome.

        Raises:
            FootpathError: Something other than a tool failed, such as a store, or the run was stopped.
        """
        try:
            self.stop = await self._run_to_stop(inputs)
            await self._finish_changes()
        except BudgetExceededError as error:
            self.stop = ProgramError(type(error).__name__, str(error), final=True)
            await self._abandon_changes()
        except FootpathError:
            await self._finish_changes()
            raise
        finally:
            await _cancel_all([call.task for call in self._open_calls.in_progress.values() if call.task])

    async def _run_to_stop(self, inputs: Mapping[str, JsonValue]) -> ProgramStop | None:
        """Answer calls and questions until the program stops, and return the stop.

        ``self.stop`` is set as soon as a result or an answer ends the program for good; it takes precedence.
        """
        stop = await self._await_in_time(self._session.start(self._program.text, inputs))
        while isinstance(stop, PendingCalls):
            await self._admit_calls(stop)
            if self._open_calls.unknown_functions:
                stop = await self._await_in_time(self._session.resume(self._reject_unknown()))
                continue
            if self._open_calls.is_empty and self._open_calls.questions:
                pending = self._open_calls.questions.popleft()
                answer = await self._ask_user(pending)
                if isinstance(answer, QuestionAnswered):
                    await self._environment.emit(answer)
                    answer = restore_choice(list_proposed_answers(pending), answer.answer)
                if self.stop is not None:
                    return self.stop
                stop = await self._await_in_time(self._session.resume({pending.id: answer}))
                continue
            if self._open_calls.is_empty:
                return ProgramError("RuntimeError", "it waits for what is no call", lost=True)
            while (call := self._find_next_to_begin()) is not None:
                await self._environment.emit(await self._mark_started(call))
                self._begin_call(call)
            ended_call = await self._wait_for_next()
            if ended_call is None:
                return self.stop
            call, result = ended_call
            # Hold the result back while other calls run: see ``_OpenCalls.left_out``.
            if result.left_out and (self._open_calls.in_progress or self._find_next_to_begin() is not None):
                self._open_calls.left_out.append(ended_call)
                continue
            answer = self._record_result(call, result)
            await self._emit_end(call, result)
            if self.stop is not None:
                return self.stop
            stop = await self._await_in_time(self._session.resume({call.id: answer}))
        return stop

    async def _admit_calls(self, stop: PendingCalls) -> None:
        """Resolve new calls and add each to the open calls.

        Announce those that will be made now to their approver.
        """
        new_calls: list[ResolvedCall] = []
        for pending in stop.calls:
            if pending.id not in self._open_calls.seen_ids:
                self._open_calls.seen_ids.add(pending.id)
                if pending.function == ASK and ASK not in self._environment.docs:
                    self._open_calls.questions.append(pending)
                    continue
                call = await self._await_in_time(self._resolver.resolve(pending, self.calls))
                if call is None:
                    self._open_calls.unknown_functions[pending.id] = pending.function
                elif call.complaint:
                    self._open_calls.refused.append(call)
                else:
                    new_calls.append(call)
        self._open_calls.queue += new_calls
        if self._call_context is not None:
            self._call_context.announce(
                self._resolver.to_located_call(call) for call in new_calls if not self._memo.is_ahead(call.key)
            )

    async def _ask_user(self, pending: SandboxCall) -> QuestionAnswered | CallFailure:
        """Ask the user a question of the program and return the answer.

        A question that nobody answers ends the program for good. A free-text answer stops it, if an author can
        continue.
        """
        site = self._resolver.assign_site(pending, pending.arguments)
        identity, strangers = build_call_identity(self._environment.subtask, site), self._environment.of_strangers
        question = build_ask_question(pending, self._program, identity, strangers=strangers)
        if question is None:
            return CallFailure(f"{ASK}: it takes a question, in words")
        recorded_answer = self._memo.answers.get(site)
        if recorded_answer is None and (failure := self._memo.failure) is not None:
            self.stop = _to_recorded_error(failure)
            return CallFailure(failure.error)
        was_known = self._environment.user_questions.has_answered(question)
        event = await self._environment.user_questions.ask(question, site, recorded_answer)
        if event.unanswered:
            self.stop = UnansweredQuestion(event)
        elif (
            self._environment.has_author
            and not was_known
            and restore_choice(list_proposed_answers(pending), event.answer) not in list_proposed_answers(pending)
        ):
            self.stop = FreeTextAnswer(event)
        return event

    def _reject_unknown(self) -> dict[int, CallFailure]:
        """Return a failure for each call of a function that does not exist, and forget these calls."""
        failures = {
            call_id: CallFailure(f"there is no function `{name}` any more")
            for call_id, name in self._open_calls.unknown_functions.items()
        }
        self._open_calls.unknown_functions = {}
        return failures

    async def _mark_started(self, call: ResolvedCall) -> CallStarted:
        """Move a call from the queue to those in progress, and return its start event."""
        if not call.tool.safe and not self._had_turn:
            await self._environment.wait_for_turn()
            self._had_turn = True
        call.step = self._environment.step_counter.take_number(self._memo.steps.get(call.key))
        self._open_calls.queue.remove(call)
        self._open_calls.in_progress[call.id] = call
        sent = call.arguments, call.provenance
        return CallStarted(step=call.step, tool=call.tool.id, arguments=sent[0], provenance=sent[1], site=call.site)

    def _find_next_to_begin(self) -> ResolvedCall | None:
        """Return the next call to begin, or None.

        If the program is recorded to have failed, only calls that had begun before may begin again. The error itself,
        such as a lost process, may not recur on a replay, and then further calls would be made.
        """
        call = self._open_calls.find_next_to_begin()
        has_recorded_failure = self._memo.failure is not None
        return None if has_recorded_failure and call is not None and call.key not in self._memo.steps else call

    def _begin_call(self, call: ResolvedCall) -> None:
        """Start a call in a task; if its end is recorded, only tell the executor that its replay begins."""
        if self._memo.is_ahead(call.key):
            call.replay_counter = self._environment.executor.begin_replayed_call(call.tool)
        else:
            identity = build_call_identity(self._environment.subtask, call.site)
            call_arguments = CallArguments(call.arguments, call.provenance)
            call.task = asyncio.create_task(
                execute_call(call.tool, call_arguments, self._environment.executor, identity)
            )
            call.task.add_done_callback(lambda _: self._open_calls.finished.put_nowait(call))

    async def _wait_for_next(self) -> tuple[ResolvedCall, StepResult] | None:
        """Return the next call that ends, with its result.

        The result is None if the record says that the program failed here.
        """
        if self._open_calls.refused:
            call = self._open_calls.refused.popleft()
            call.step = self._environment.step_counter.take_number(self._memo.steps.get(call.key))
            self._memo.skip(call.key)
            return call, call.refusal
        if self._open_calls.left_out and not self._open_calls.in_progress:
            return self._open_calls.left_out.popleft()
        # Replay in the order in which the calls ended: the program's course may depend on it.
        recorded_calls = [
            open_call for open_call in self._open_calls.in_progress.values() if self._memo.is_ahead(open_call.key)
        ]
        if recorded_calls:
            call = min(recorded_calls, key=lambda one: self._memo.get_position(one.key))
            return call, self._replay_result(call)
        if (failure := self._memo.failure) is not None:
            self.stop = _to_recorded_error(failure)
            return None
        call = await self._await_in_time(self._open_calls.finished.get())
        return call, self._take_result(call)

    def _replay_result(self, call: ResolvedCall) -> StepResult:
        """Return the recorded result of a call, and have the executor account for it as if it were made now."""
        result = self._memo.replay(call.key)
        del self._open_calls.in_progress[call.id]
        if result.outcome is not None or result.status == "unknown":
            identity = build_call_identity(self._environment.subtask, call.site)
            self._environment.executor.record_replayed_call(
                call.tool, call.arguments, identity, to_call_result(result), call.replay_counter
            )
        return result

    def _take_result(self, call: ResolvedCall) -> StepResult:
        """Return the result of a call whose task is done."""
        del self._open_calls.in_progress[call.id]
        assert call.task is not None  # noqa: S101  # only calls with a task reach the queue of finished ones
        return call.task.result()

    def _record_result(self, call: ResolvedCall, result: StepResult) -> JsonValue | CallFailure:
        """Record a result and return the value or failure for the program.

        Set ``stop`` if it ends the program.
        """
        line = 0 if call.back else self._program.text.encode()[: call.start].count(b"\n") + 1
        self.stop = find_final_error(call.tool, result, line) or self.stop
        answer = to_answer(call.tool, result)
        self.calls.append(CompletedCall(call.function, call.step, call.site, call.start, result, answer))
        return answer

    async def _finish_changes(self) -> None:
        """Wait for the changes that are in progress when the program stops, and report them.

        Reads are not awaited.
        """
        for call in [open_call for open_call in self._open_calls.in_progress.values() if not open_call.tool.safe]:
            if self._memo.is_ahead(call.key):
                result = self._replay_result(call)
            elif call.task is not None:
                await self._await_in_time(asyncio.wait([call.task]))
                result = self._take_result(call)
            else:
                continue
            self._record_result(call, result)
            await self._emit_end(call, result)
        await self._emit_left_out()

    async def _emit_left_out(self) -> None:
        """Report deselected calls that the program did not wait for; a stop that is set is kept."""
        while self._open_calls.left_out:
            call, result = self._open_calls.left_out.popleft()
            stop = self.stop
            self._record_result(call, result)
            self.stop = stop or self.stop
            await self._emit_end(call, result)

    async def _abandon_changes(self) -> None:
        """Cancel the changes in progress when the time is up, and report their outcome as unknown."""
        for call in [
            open_call
            for open_call in self._open_calls.in_progress.values()
            if not open_call.tool.safe and open_call.task
        ]:
            await _cancel_all([call.task] if call.task else [])
            del self._open_calls.in_progress[call.id]
            result = call.to_unknown_result(OUT_OF_TIME_NOTE)
            stop = self.stop
            self._record_result(call, result)
            self.stop = stop
            await self._emit_end(call, result)
        await self._emit_left_out()

    async def _emit_end(self, call: ResolvedCall, result: StepResult) -> None:
        """Emit the end of a call."""
        await self._environment.emit(CallFinished(step=call.step, result=result, site=call.site))

    async def _await_in_time(self, awaited: Awaitable[T]) -> T:
        """Await something within the run's time budget.

        Raises:
            BudgetExceededError: The time is used up.
        """
        meter = self._environment.meter
        try:
            async with meter.limit_time():
                return await awaited
        except TimeoutError:
            raise BudgetExceededError(f"the budget of {meter.budget.seconds:g} seconds is used up") from None


def _to_recorded_error(failure: ProgramFailed) -> ProgramError:
    """Return the error with which the program ended before the interruption; its session is lost."""
    return ProgramError("", failure.error, failure.line, lost=True, final=failure.final)


async def _cancel_all(tasks: list[asyncio.Task[StepResult]]) -> None:
    """Cancel tasks and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
