"""Validity of the log-in sessions that event streams belong to: one query a second for all streams of a process."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from domain.errors import FootpathError
from server.storage.accounts import ROLES, Role
from server.storage.storage import Storage

_log = logging.getLogger(__name__)
_PAUSE = 1.0
"""Seconds between two queries."""


@dataclass(slots=True, eq=False)
class _SessionStream:
    """An open stream and whether its session is valid."""

    session_id: str
    role: Role
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
            roles = await self._storage.tokens.get_roles({one.session_id for one in streams})
        except FootpathError as error:
            _log.warning("streams are ended, since it is not known whether their sessions count: %s", error)
        for one in streams:
            one.is_valid = roles.get(one.session_id) in ROLES[ROLES.index(one.role) :]


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
        await asyncio.sleep(_PAUSE)
        await sessions.refresh()
