"""Work with rows, shielded from cancellation: it is seen through to its end, whoever waits for it: a question that is cut off costs a connection."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def shielded(work: Coroutine[Any, Any, T]) -> T:
    """What ``work`` gives. Cancelled, it waits for the end of the work first."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # nobody waits for it any more
        raise
