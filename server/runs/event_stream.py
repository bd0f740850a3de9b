"""Streams of run events for their followers: the broker of one process, the streams, and checks of their sessions."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, nullcontext

from server.runs.broker import LAST_EVENT_KIND, EventBroker
from server.storage.database import run_to_completion
from server.storage.run_events import StoredEvent
from server.storage.storage import Storage

_AT_ONCE = 500
"""Events read by one query."""


FollowPermission = AbstractContextManager[Callable[[], bool]]
"""Context held while a stream is followed; it yields a function that tells whether following is still allowed."""
_ANYONE: FollowPermission = nullcontext(lambda: True)


async def stream_events(
    storage: Storage,
    broker: EventBroker,
    run_id: str,
    after: int = 0,
    *,
    allowed: FollowPermission = _ANYONE,
    heartbeat: float = 15.0,
    poll: float = 1.0,
) -> AsyncGenerator[StoredEvent | None]:
    """Yield a run's events after number ``after``, then new ones as they come, up to the run's last.

    None is yielded after ``heartbeat`` seconds without an event. At the latest every ``poll`` seconds, ``allowed`` is
    checked, and the database of a run that another process executes is queried. The stream ends early if the server
    stops, the run is removed or the follower may no longer read it; it ends at once if the run has ended without an
    event after that number.
    """
    clock = asyncio.get_running_loop().time
    with broker.subscribe(run_id) as news, allowed as is_allowed:
        last_sent, ended = clock(), False
        while True:
            news.clear()
            if not is_allowed():
                return
            from_broker = broker.get_events_after(run_id, after)
            events = (
                await run_to_completion(storage.events.list_after(run_id, after, _AT_ONCE))
                if from_broker is None
                else from_broker
            )
            for event in events:
                after, last_sent = event.seq, clock()
                yield event
                if event.kind == LAST_EVENT_KIND:
                    return
            if broker.closed or (ended and not events):
                return
            if from_broker is None and not events and await _has_ended(storage, run_id):
                ended = True  # one more look: its last events may have been stored after the query above
                continue
            if len(events) >= _AT_ONCE:
                continue
            try:
                async with asyncio.timeout(min(poll, heartbeat)):
                    await news.wait()
            except TimeoutError:
                if clock() - last_sent >= heartbeat:
                    last_sent = clock()
                    yield None


async def _has_ended(storage: Storage, run_id: str) -> bool:
    """Return whether all events of the run are stored; a run that is gone has none."""
    run = await run_to_completion(storage.runs.get(run_id))
    return run is None or run.status == "finished"
