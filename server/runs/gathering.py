"""The events of all runs of a process on their way into the rows: those of several runs in one transaction."""

import asyncio
from collections.abc import Sequence
from contextvars import Context
from dataclasses import dataclass
from typing import Protocol

from domain.errors import FootpathError
from server.storage.events import StoredEvent


class Appends(Protocol):
    """Stores events: all of them, or none."""

    async def append(self, events: Sequence[StoredEvent]) -> None:
        """``ConflictError`` where a number is taken or a run is gone; ``UnavailableError``."""
        ...


@dataclass(frozen=True, slots=True)
class _Part:
    """What one run has stored."""

    events: Sequence[StoredEvent]
    stored: asyncio.Future[None]


class Gathering:
    """While some are written, the next ones gather. Where a write of several runs fails, each is written by itself and hears its own error."""

    def __init__(self, events: Appends) -> None:
        self._events = events
        self._parts: list[_Part] = []
        self._task: asyncio.Task[None] | None = None

    async def append(self, events: Sequence[StoredEvent]) -> None:
        """As :class:`Appends` says; who waits may be cancelled, the writing is not."""
        part = _Part(events, asyncio.get_running_loop().create_future())
        self._parts.append(part)
        if self._task is None:
            self._task = asyncio.create_task(self._write(), context=Context())  # it is about many runs
        await part.stored

    async def _write(self) -> None:
        try:
            while self._parts:
                parts, self._parts = self._parts, []
                if not await self._written(parts, alone=len(parts) == 1):
                    for part in parts:
                        await self._written([part], alone=True)
        finally:
            self._task = None

    async def _written(self, parts: Sequence[_Part], *, alone: bool) -> bool:
        """Whether there is no more to be done about these."""
        try:
            await self._events.append([event for part in parts for event in part.events])
        except Exception as error:  # noqa: BLE001  # raised to whom it is about
            if alone or not isinstance(error, FootpathError):
                _tell(parts, error)
                return True
            return False
        _tell(parts, None)
        return True


def _tell(parts: Sequence[_Part], error: Exception | None) -> None:
    for part in parts:
        if part.stored.done():
            continue
        if error is None:
            part.stored.set_result(None)
        else:
            part.stored.set_exception(error)
