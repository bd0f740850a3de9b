"""Journal of run events: to the database and back, in order for each run, with several runs in one transaction."""

import asyncio
from collections.abc import Callable, Sequence
from contextvars import Context
from dataclasses import dataclass
from typing import Protocol

from domain.errors import FootpathError
from domain.event import EventRecord, RunFinished
from server.storage.run_events import StoredEvent


class AppendEvents(Protocol):
    """Stores events: all of them, or none."""

    async def append(self, events: Sequence[StoredEvent]) -> None:
        """Store the events. ``ConflictError`` where a number is taken or a run is gone; ``UnavailableError``."""
        ...


@dataclass(frozen=True, slots=True)
class _Part:
    """Events of one run that wait to be stored."""

    events: Sequence[StoredEvent]
    stored: asyncio.Future[None]


class EventBatcher:
    """Collects events while others are being written, and writes them together.

    Where a write of several runs fails, each run's events are written separately and get their own error.
    """

    def __init__(self, events: AppendEvents) -> None:
        self._events = events
        self._parts: list[_Part] = []
        self._task: asyncio.Task[None] | None = None

    async def append(self, events: Sequence[StoredEvent]) -> None:
        """Store the events as :class:`AppendEvents` says. The waiting caller may be cancelled; the writing is not."""
        part = _Part(events, asyncio.get_running_loop().create_future())
        self._parts.append(part)
        if self._task is None:
            self._task = asyncio.create_task(self._write(), context=Context())  # of no run: the task writes for many
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
        """Write several parts at once; return False where they have to be written one by one."""
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


class Journal:
    """Writes a run's events in the order in which they are added.

    New events gather while earlier ones are being written. ``tell`` is called with what each write has stored,
    ``failed`` once where a write fails. Nothing is written after a failure, so that there are no gaps.
    """

    def __init__(
        self, events: AppendEvents, tell: Callable[[Sequence[StoredEvent]], None], failed: Callable[[], None]
    ) -> None:
        self._events = events
        self._tell_stored = tell
        self._tell_failed = failed
        self._waiting: list[StoredEvent] = []
        self._task: asyncio.Task[None] | None = None
        self.error: Exception | None = None

    def add(self, record: EventRecord) -> None:
        """Write an event soon."""
        self._waiting.append(as_stored(record))
        self._begin()

    async def flush(self) -> None:
        """Wait until all added events are stored. Raises what prevented it: ``ConflictError`` or ``UnavailableError``.

        The waiting caller may be cancelled; the writing is not.
        """
        while (task := self._begin()) is not None:
            await asyncio.shield(task)
        if self.error is not None:
            raise self.error

    def _begin(self) -> "asyncio.Task[None] | None":
        """Return the task that writes, started where needed; None where nothing is left to write."""
        if self._task is None and self._waiting and self.error is None:
            self._task = asyncio.create_task(self._write())
        return self._task

    async def _write(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                await self._events.append(batch)
                self._tell_stored(batch)
        except Exception as error:  # noqa: BLE001  # kept, and raised to who flushes
            self.error = error
            self._tell_failed()
        finally:
            self._task = None


def as_stored(record: EventRecord) -> StoredEvent:
    """Return an event in its stored form."""
    body = record.model_dump_json()
    return StoredEvent(run_id=record.run, seq=record.seq, kind=record.event.kind, body=body)


async def records_of(events: Sequence[StoredEvent]) -> list[EventRecord]:
    """Parse stored events, in order."""
    return await asyncio.to_thread(_read, events)


def _read(events: Sequence[StoredEvent]) -> list[EventRecord]:
    return [EventRecord.model_validate_json(event.body) for event in events]


def reasoned(record: EventRecord, why: str) -> EventRecord:
    """Add the reason to the end of a cancelled run; any other event is returned unchanged."""
    event = record.event
    if not why or not isinstance(event, RunFinished) or event.outcome != "cancelled":
        return record
    return record.model_copy(update={"event": event.model_copy(update={"error": why})})
