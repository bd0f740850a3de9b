"""Try a program: run it in the sandbox with values for its inputs, over an executor that only reads."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count

from pydantic.types import JsonValue

from agent.execution.call_cache import ReusingExecutor
from agent.execution.execute import made
from agent.execution.executor import Executor
from agent.execution.validation import validate
from agent.policy.protocol import Arguments
from agent.programs.answers import answer_of
from agent.programs.protocol import Broken, Failure, PendingCall, Returned, Sandbox, Waiting
from domain.errors import FootpathError, InvalidArgumentsError
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.tool import ToolDoc

MOST_CALLS = 60
"""Calls that one program, or one run of a walk, may make."""

MOST_KEPT = 500
"""Answers that are cached for programs that make the same calls."""


class CallFailedError(FootpathError):
    """A call of mining gave no answer, or may not be made."""


class NotReachedError(CallFailedError):
    """The service did not answer, or may not be called; this says nothing about the tool."""


class TooManyCallsError(CallFailedError):
    """A program made more calls than one program may make."""


Calls = Callable[[ToolDoc, JsonObject], Awaitable[JsonValue]]
"""Makes a call and returns the response; raises ``CallFailedError`` where it fails."""


@dataclass(slots=True)
class Reading:
    """Calls tools that only read; equal calls are made once."""

    executor: Executor
    made: int = 0
    """Number of calls that were sent."""
    failure: str = ""
    """Message of the first call that failed; empty while none has."""
    _calls: ReusingExecutor = field(init=False)
    _kept: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Drop the cached answers."""
        self._calls = ReusingExecutor(self.executor)
        self._kept = 0

    def up_to(self, most: int) -> Calls:
        """Return :meth:`call`, limited to this number of calls."""
        left = count(most - 1, -1)

        async def call(tool: ToolDoc, arguments: JsonObject) -> JsonValue:
            if next(left) < 0:
                raise TooManyCallsError("too many calls")
            return await self.call(tool, arguments)

        return call

    async def call(self, tool: ToolDoc, arguments: JsonObject) -> JsonValue:
        """Call a tool and return the response as a program sees it.

        Raises:
            CallFailedError: the call fails, or the tool changes something.
        """
        if not tool.safe:
            raise CallFailedError(f"{tool.api} changes something")
        try:
            result = await made(tool, Arguments(validate(tool, arguments), ()), self._calls)
        except InvalidArgumentsError as error:
            raise CallFailedError(f"{tool.api}: {error}") from error
        self.made += bool(result.attempts)
        self._kept += bool(result.attempts)
        # Bounds the memory; programs that make the same calls follow each other closely.
        if self._kept >= MOST_KEPT:
            self.forget()
        answer = answer_of(tool, result)
        if isinstance(answer, Failure):
            self.failure = self.failure or answer.message
            not_made = result.outcome == "caller_fault" and not result.attempts
            raise (NotReachedError if not_made or result.outcome == "unreached" else CallFailedError)(answer.message)
        if result.instead:
            raise CallFailedError(f"{tool.api}: there is no recorded call with these arguments")
        return answer


@dataclass(frozen=True, slots=True)
class Trial:
    """Result of one trial of a program."""

    answer: JsonValue = None
    error: str = ""
    """Why there is no answer; empty where ``answer`` is what the program returned."""


async def tried(
    plan: ProgramPlan, values: Mapping[str, JsonValue], docs: Mapping[str, ToolDoc], sandbox: Sandbox, reading: Reading
) -> Trial:
    """Run a plan once; ``docs_by_function`` holds its tools by the names of its functions."""
    names, call_of = plan.program.arguments, reading.up_to(MOST_CALLS)

    async def answered(call: PendingCall) -> JsonValue | Failure:
        arguments = {names[call.function].get(name, name): value for name, value in call.arguments.items()}
        try:
            return await call_of(docs[call.function], arguments)
        except CallFailedError as error:
            return Failure(str(error))

    async with sandbox.session() as session:
        stop = await session.start(plan.program.text, {**values, "today": datetime.now(UTC).date().isoformat()})
        while isinstance(stop, Waiting):
            answers = await asyncio.gather(*(answered(call) for call in stop.calls if call.function in docs))
            waiting = [call.id for call in stop.calls if call.function in docs]
            if not waiting:
                return Trial(error="it waits for what is no call")
            stop = await session.resume(dict(zip(waiting, answers, strict=True)))
    match stop:
        case Returned({"answered": "yes", "answer": answer}):
            return Trial(answer)
        case Returned({"missing": missing}):
            return Trial(error=f"it says no: {missing}")
        case Broken(message=message):
            return Trial(error=f"it breaks off: {message}")
        case _:
            return Trial(error="it says nothing")
