"""Trials of programs in the sandbox, and the calls of mining, live or from recordings.

Only tools that read are called.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count

import orjson
from pydantic.types import JsonValue

from agent.execution.call_cache import CachingExecutor
from agent.execution.call_similarity import has_usable_answer, normalize_arguments, parse_recorded_arguments
from agent.execution.executor import CallResult, Executor
from agent.execution.step_execution import execute_call
from agent.execution.validation import validate_arguments
from agent.policy.protocol import CallArguments
from agent.programs.program_types import CallFailure, PendingCalls, ProgramError, ReturnedValue, Sandbox, SandboxCall
from agent.programs.program_values import to_answer
from domain.errors import FootpathError, InvalidArgumentsError
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.tool import ToolDoc, ToolId
from domain.trajectory import RecordedCall
from graph.recordings import RecordingStore

MAX_CALLS = 60
"""Maximum of calls of one program, or of one run of a walk."""

MAX_CACHED_ANSWERS = 500
"""Maximum of cached answers; they serve programs that make the same calls."""


class MiningCallError(FootpathError):
    """A call of mining gave no answer, or may not be made."""


class ServiceUnreachableError(MiningCallError):
    """The service did not answer, or may not be called; this says nothing about the tool."""


class TooManyCallsError(MiningCallError):
    """A program made more calls than one program may make."""


CallFunction = Callable[[ToolDoc, JsonObject], Awaitable[JsonValue]]
"""Makes a call and returns the response; raises ``MiningCallError`` where it fails."""


@dataclass(slots=True)
class ReadOnlyCaller:
    """Calls tools that only read; equal calls are made once."""

    executor: Executor
    call_count: int = 0
    """Number of calls that were sent."""
    failure: str = ""
    """Message of the first call that failed; empty while none has."""
    _cache: CachingExecutor = field(init=False)
    _cached_count: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.clear_cache()

    def clear_cache(self) -> None:
        """Drop the cached answers."""
        self._cache = CachingExecutor(self.executor)
        self._cached_count = 0

    def limit_to(self, limit: int) -> CallFunction:
        """Return :meth:`call` with a limit; beyond it, calls raise ``TooManyCallsError``."""
        remaining = count(limit - 1, -1)

        async def call(tool: ToolDoc, arguments: JsonObject) -> JsonValue:
            if next(remaining) < 0:
                raise TooManyCallsError("too many calls")
            return await self.call(tool, arguments)

        return call

    async def call(self, tool: ToolDoc, arguments: JsonObject) -> JsonValue:
        """Call a tool and return the response as a program sees it.

        Raises:
            MiningCallError: the call fails, or the tool changes something.
        """
        if not tool.safe:
            raise MiningCallError(f"{tool.api} changes something")
        try:
            result = await execute_call(tool, CallArguments(validate_arguments(tool, arguments), ()), self._cache)
        except InvalidArgumentsError as error:
            raise MiningCallError(f"{tool.api}: {error}") from error
        self.call_count += bool(result.attempts)
        self._cached_count += bool(result.attempts)
        # Bounds the memory; programs that make the same calls follow each other closely.
        if self._cached_count >= MAX_CACHED_ANSWERS:
            self.clear_cache()
        answer = to_answer(tool, result)
        if isinstance(answer, CallFailure):
            self.failure = self.failure or answer.message
            never_sent = result.outcome == "caller_fault" and not result.attempts
            raise (ServiceUnreachableError if never_sent or result.outcome == "unreached" else MiningCallError)(
                answer.message
            )
        if result.instead:
            raise MiningCallError(f"{tool.api}: there is no recorded call with these arguments")
        return answer


@dataclass(frozen=True, slots=True)
class ProgramTrial:
    """Result of one trial of a program."""

    answer: JsonValue = None
    error: str = ""
    """Why there is no answer; empty where ``answer`` is what the program returned."""


async def try_program(
    plan: ProgramPlan,
    values: Mapping[str, JsonValue],
    docs_by_function: Mapping[str, ToolDoc],
    sandbox: Sandbox,
    caller: ReadOnlyCaller,
) -> ProgramTrial:
    """Run a plan once.

    Args:
        plan: the plan.
        values: values of its inputs, by name.
        docs_by_function: its tools, by the names of its functions.
        sandbox: runs the program.
        caller: makes the calls.
    """
    argument_names, call_tool = plan.program.arguments, caller.limit_to(MAX_CALLS)

    async def answer_call(call: SandboxCall) -> JsonValue | CallFailure:
        arguments = {argument_names[call.function].get(name, name): value for name, value in call.arguments.items()}
        try:
            return await call_tool(docs_by_function[call.function], arguments)
        except MiningCallError as error:
            return CallFailure(str(error))

    async with sandbox.open_session() as session:
        stop = await session.start(plan.program.text, {**values, "today": datetime.now(UTC).date().isoformat()})
        while isinstance(stop, PendingCalls):
            answers = await asyncio.gather(
                *(answer_call(call) for call in stop.calls if call.function in docs_by_function)
            )
            call_ids = [call.id for call in stop.calls if call.function in docs_by_function]
            if not call_ids:
                return ProgramTrial(error="it waits for what is no call")
            stop = await session.resume(dict(zip(call_ids, answers, strict=True)))
    match stop:
        case ReturnedValue({"answered": "yes", "answer": answer}):
            return ProgramTrial(answer)
        case ReturnedValue({"missing": missing}):
            return ProgramTrial(error=f"it says no: {missing}")
        case ProgramError(message=message):
            return ProgramTrial(error=f"it breaks off: {message}")
        case _:
            return ProgramTrial(error="it says nothing")


MAX_RECORDED = 600
"""Maximum of recorded calls in memory for one tool."""


class NotRecordedError(MiningCallError):
    """Nothing was recorded for a call."""


@dataclass(slots=True)
class RecordedExecutor:
    """Answers calls with the recorded response to the same arguments; recordings of failed calls are ignored."""

    recordings: RecordingStore
    name: str = "recorded"
    _calls_by_tool: dict[ToolId, dict[bytes, RecordedCall]] = field(
        default_factory=dict[ToolId, dict[bytes, RecordedCall]]
    )

    async def list_arguments(self, tool: ToolId) -> list[JsonObject]:
        """List the arguments of the recorded calls of a tool that were answered, in the order of recording."""
        return [parse_recorded_arguments(call.arguments) for call in (await self._load_calls(tool)).values()]

    async def can_answer_all(self, tools: Iterable[ToolId]) -> bool:
        """Return whether each of these tools has a recorded answer."""
        for tool in tools:
            if not await self._load_calls(tool):
                return False
        return True

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:  # noqa: ARG002  # each call is answered
        """Return the recorded response.

        Raises:
            NotRecordedError: nothing was recorded for these arguments.
        """
        call = (await self._load_calls(tool.id)).get(_build_key(arguments))
        if call is None:
            raise NotRecordedError(f"{tool.api}: there is no recorded call with these arguments")
        return CallResult("ok", call.response)

    async def close(self) -> None:
        """Do nothing: the recordings belong to the caller."""

    async def _load_calls(self, tool: ToolId) -> dict[bytes, RecordedCall]:
        if tool not in self._calls_by_tool:
            calls = [
                call for call in (await self.recordings.list_calls(tool))[:MAX_RECORDED] if has_usable_answer(call)
            ]
            calls_by_key: dict[bytes, RecordedCall] = {}
            for call in calls:
                calls_by_key.setdefault(_build_key(parse_recorded_arguments(call.arguments)), call)
            self._calls_by_tool[tool] = calls_by_key
        return self._calls_by_tool[tool]


def _build_key(arguments: JsonObject) -> bytes:
    return orjson.dumps(normalize_arguments(arguments), option=orjson.OPT_SORT_KEYS)
