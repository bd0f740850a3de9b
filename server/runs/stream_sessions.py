"""Which of the sessions that streams belong to still count: asked of the rows once a second, for all streams of a process at once."""

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
"""Seconds from one question to the next."""


@dataclass(slots=True, eq=False)
class _Stream:
    """``role``: what its user had when it began, and must have at least."""

    session_id: str
    role: Role
    counts: bool = True


class StreamSessions:
    """One process's. Made by :func:`watched_sessions` only."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._streams: set[_Stream] = set()

    @contextmanager
    def following(self, session_id: str, role: Role) -> Generator[Callable[[], bool]]:
        """While a stream goes on. Given is whether it still may: an account that is disabled, or a session that is ended, hears no more."""
        stream = _Stream(session_id, role)
        self._streams.add(stream)
        try:
            yield lambda: stream.counts
        finally:
            self._streams.discard(stream)

    async def look(self) -> None:
        """One question for all. Where the rows do not answer, nobody is known to count."""
        streams = list(self._streams)
        if not streams:
            return
        roles: dict[str, str] = {}
        try:
            roles = await self._storage.tokens.get_roles({one.session_id for one in streams})
        except FootpathError as error:
            _log.warning("streams are ended, since it is not known whether their sessions count: %s", error)
        for one in streams:
            one.counts = roles.get(one.session_id) in ROLES[ROLES.index(one.role) :]


@asynccontextmanager
async def watched_sessions(storage: Storage) -> AsyncGenerator[StreamSessions]:
    """Looked at until the end."""
    followed = StreamSessions(storage)
    task = asyncio.create_task(_look_now_and_then(followed))
    try:
        yield followed
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _look_now_and_then(followed: StreamSessions) -> None:
    while True:
        await asyncio.sleep(_PAUSE)
        await followed.look()
