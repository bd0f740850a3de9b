"""Work with rows, shielded from cancellation: it is seen through to its end, whoever waits for it: a question that is cut off costs a connection."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def shielded(work: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
    """What ``work`` gives. Cancelled, it waits for the end of the work first.

    The work is begun at once, and not when this is first awaited: among things that are gathered, one may be cancelled before its first step,
    and would leave a coroutine that nobody has ever started.
    """
    task = asyncio.create_task(work)
    task.add_done_callback(_look_at_failure)
    return _see_through(task)


async def _see_through(task: "asyncio.Task[T]") -> T:
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _look_at_failure(task: "asyncio.Task[Any]") -> None:
    """Whoever waits for the work has its failure from there; where nobody does any more, it is none to be logged."""
    if not task.cancelled():
        task.exception()
