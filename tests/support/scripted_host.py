"""A host for programs that answers each call from a function, in the order that it is told."""

from collections.abc import Callable, Mapping

from pydantic.types import JsonValue

from agent.programs.program_types import CallFailure, CellStop, PendingCalls, SandboxCall, SandboxSession

Answer = Callable[[SandboxCall], JsonValue | CallFailure]


async def driven(
    session: SandboxSession,
    text: str,
    answer: Answer = lambda call: dict(call.arguments),
    inputs: Mapping[str, JsonValue] | None = None,
) -> CellStop:
    """A cell, run to its end: of what it waits for, the last call is answered first."""
    stop = await session.start(text, inputs or {})
    while isinstance(stop, PendingCalls):
        last = stop.calls[-1]
        stop = await session.resume({last.id: answer(last)})
    return stop
