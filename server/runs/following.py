"""The events of a run as they are stored, for who follows it; from any number on, as often as one likes."""

import asyncio
from collections.abc import AsyncGenerator

from server.runs.board import Board
from server.storage.events import RunEvents, StoredEvent

_POLL_SECONDS = 1.0
"""So long until the rows are looked at again without being told to: another process may have the run in hand."""
_AT_ONCE = 500
LAST = "run.finished"


async def follow(
    events: RunEvents,
    board: Board,
    run_id: str,
    after: int = 0,
    *,
    heartbeat: float = 15.0,
    poll: float = _POLL_SECONDS,
) -> AsyncGenerator[StoredEvent | None]:
    """Those after number ``after``, then new ones as they come, to the run's last. None: nothing new for ``heartbeat`` seconds.

    Ends early where the server stops.
    """
    clock = asyncio.get_running_loop().time
    with board.waiting(run_id) as news:
        told_at = clock()
        while True:
            news.clear()
            found = await events.after(run_id, after, _AT_ONCE)
            for event in found:
                after, told_at = event.seq, clock()
                yield event
                if event.kind == LAST:
                    return
            if board.closed:
                return
            if len(found) == _AT_ONCE:
                continue
            try:
                async with asyncio.timeout(min(poll, heartbeat)):
                    await news.wait()
            except TimeoutError:
                if clock() - told_at >= heartbeat:
                    told_at = clock()
                    yield None
