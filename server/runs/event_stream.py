"""Streams of run events for their followers: the broker of one process, the streams, and checks of their sessions."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass

from domain.errors import FootpathError
from server.storage.accounts import ROLES, Role
from server.storage.database import run_to_completion
from server.storage.run_records import LAST_EVENT, StoredEvent
from server.storage.storage import Storage

_log = logging.getLogger(__name__)


class EventBroker:
    """Passes on new events of the runs that are executed in this process, without a query of the database."""

    def __init__(self) -> None:
        self._subscribers: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._events: dict[str, tuple[int, list[StoredEvent]]] = {}
        self.closed = False
        """The server is stopping; followers have to come back later."""

    @property
    def followers(self) -> int:
        """Return the number of subscriptions."""
        return sum(len(events) for events in self._subscribers.values())

    @contextmanager
    def subscribe(self, run_id: str) -> Generator[asyncio.Event]:
        """Yield an event that is set whenever the run has new events; the waiter clears it before reading."""
        event = asyncio.Event()
        self._subscribers[run_id].add(event)
        try:
            yield event
        finally:
            self._subscribers[run_id].discard(event)
            if not self._subscribers[run_id]:
                del self._subscribers[run_id]
                if self._is_over(run_id):
                    self._events.pop(run_id)

    def begin(self, run_id: str, last: int) -> None:
        """Note that the run is executed here from now on, after its event number ``last``."""
        self._events[run_id] = (last, [])

    def publish(self, run_id: str, stored: Sequence[StoredEvent]) -> None:
        """Pass on events that were stored, in order."""
        if run_id in self._events:
            self._events[run_id][1].extend(stored)
        self._wake(run_id)

    def end(self, run_id: str) -> None:
        """Note that the run is not executed here any more.

        Followers of a run that has ended still get its last events from here; in any other case the database has all
        there is.
        """
        if not (self._is_over(run_id) and run_id in self._subscribers):
            self._events.pop(run_id, None)
        self._wake(run_id)

    def get_events_after(self, run_id: str, seq: int) -> list[StoredEvent] | None:
        """Return the run's events after a number; None where the database has to be queried."""
        if run_id not in self._events:
            return None
        first_seq, stored = self._events[run_id]
        events = stored[seq - first_seq :] if seq >= first_seq else None
        # A run that is over has no more events to wait for: the database says that it has ended.
        return None if not events and self._is_over(run_id) else events

    def close(self) -> None:
        """Wake all subscribers for the last time."""
        self.closed = True
        for run_id in list(self._subscribers):
            self._wake(run_id)

    def _is_over(self, run_id: str) -> bool:
        """Return whether the run's last event was published here."""
        _, stored = self._events.get(run_id, (0, []))
        return bool(stored) and stored[-1].kind == LAST_EVENT

    def _wake(self, run_id: str) -> None:
        for event in self._subscribers.get(run_id, ()):
            event.set()


_PAGE_SIZE = 500
"""Events read by one query."""


FollowPermission = AbstractContextManager[Callable[[], bool]]
"""Context held while a stream is followed; it yields a function that tells whether following is still allowed."""
_ALLOW_ANYONE: FollowPermission = nullcontext(lambda: True)


async def stream_events(
    storage: Storage,
    broker: EventBroker,
    run_id: str,
    after: int = 0,
    *,
    allowed: FollowPermission = _ALLOW_ANYONE,
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
                await run_to_completion(storage.events.list_after(run_id, after, _PAGE_SIZE))
                if from_broker is None
                else from_broker
            )
            for event in events:
                after, last_sent = event.seq, clock()
                yield event
                if event.kind == LAST_EVENT:
                    return
            if broker.closed or (ended and not events):
                return
            if from_broker is None and not events and await _has_ended(storage, run_id):
                ended = True  # one more look: its last events may have been stored after the query above
                continue
            if len(events) >= _PAGE_SIZE:
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


_REFRESH_SECONDS = 1.0
"""Seconds between two queries."""


@dataclass(slots=True, eq=False)
class _SessionStream:
    """An open stream and whether its session is valid."""

    session_id: str
    min_role: Role
    """Role that its user had at the beginning, and must keep at least."""
    is_valid: bool = True


class StreamSessions:
    """Open streams of one process. Created by :func:`watch_sessions` only."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._streams: set[_SessionStream] = set()

    @contextmanager
    def track(self, session_id: str, role: Role) -> Generator[Callable[[], bool]]:
        """Track a stream for the time of the block; yield a function that tells whether it may go on.

        It may not once the account is disabled or the session has ended.
        """
        stream = _SessionStream(session_id, role)
        self._streams.add(stream)
        try:
            yield lambda: stream.is_valid
        finally:
            self._streams.discard(stream)

    async def refresh(self) -> None:
        """Check all streams with one query. Where the database does not answer, no session is taken as valid."""
        streams = list(self._streams)
        if not streams:
            return
        roles: dict[str, str] = {}
        try:
            roles = await self._storage.tokens.get_roles({stream.session_id for stream in streams})
        except FootpathError as error:
            _log.warning("streams are ended, since it is not known whether their sessions count: %s", error)
        for stream in streams:
            stream.is_valid = roles.get(stream.session_id) in ROLES[ROLES.index(stream.min_role) :]


@asynccontextmanager
async def watch_sessions(storage: Storage) -> AsyncGenerator[StreamSessions]:
    """Check the sessions regularly for the time of the block."""
    sessions = StreamSessions(storage)
    task = asyncio.create_task(_refresh_periodically(sessions))
    try:
        yield sessions
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _refresh_periodically(sessions: StreamSessions) -> None:
    while True:
        await asyncio.sleep(_REFRESH_SECONDS)
        await sessions.refresh()
