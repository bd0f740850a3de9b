"""Journal of run events: to the database and back, in order for each run, with several runs in one transaction."""

import asyncio
from collections.abc import Callable, Sequence
from contextvars import Context
from dataclasses import dataclass
from typing import Protocol

from domain.errors import FootpathError
from domain.event import EventRecord, RunFinished
from server.storage.run_records import StoredEvent


class EventAppender(Protocol):
    """Stores events: all of them, or none."""

    async def append(self, events: Sequence[StoredEvent]) -> None:
        """Store the events. ``ConflictError`` where a number is taken or a run is gone; ``UnavailableError``."""
        ...


@dataclass(frozen=True, slots=True)
class _PendingWrite:
    """Events of one run that wait to be stored."""

    events: Sequence[StoredEvent]
    stored: asyncio.Future[None]


class EventBatcher:
    """Collects events while others are being written, and writes them together.

    Where a write of several runs fails, each run's events are written separately and get their own error.
    """

    def __init__(self, events: EventAppender) -> None:
        self._events = events
        self._pending_writes: list[_PendingWrite] = []
        self._task: asyncio.Task[None] | None = None

    async def append(self, events: Sequence[StoredEvent]) -> None:
        """Store the events as :class:`EventAppender` says. The waiting caller may be cancelled; the writing is not."""
        write = _PendingWrite(events, asyncio.get_running_loop().create_future())
        self._pending_writes.append(write)
        if self._task is None:
            self._task = asyncio.create_task(self._write(), context=Context())  # of no run: the task writes for many
        await write.stored

    async def _write(self) -> None:
        try:
            while self._pending_writes:
                writes, self._pending_writes = self._pending_writes, []
                if not await self._try_write(writes, alone=len(writes) == 1):
                    for write in writes:
                        await self._try_write([write], alone=True)
        finally:
            self._task = None

    async def _try_write(self, writes: Sequence[_PendingWrite], *, alone: bool) -> bool:
        """Write several parts at once; return False where they have to be written one by one."""
        try:
            await self._events.append([event for write in writes for event in write.events])
        except Exception as error:  # noqa: BLE001  # raised to whom it is about
            if alone or not isinstance(error, FootpathError):
                _resolve_writes(writes, error)
                return True
            return False
        _resolve_writes(writes, None)
        return True


def _resolve_writes(writes: Sequence[_PendingWrite], error: Exception | None) -> None:
    for write in writes:
        if write.stored.done():
            continue
        if error is None:
            write.stored.set_result(None)
        else:
            write.stored.set_exception(error)


class EventJournal:
    """Writes a run's events in the order in which they are added.

    New events gather while earlier ones are being written. ``on_stored`` is called with what each write has stored,
    ``on_failure`` once where a write fails. Nothing is written after a failure, so that there are no gaps.
    """

    def __init__(
        self, events: EventAppender, on_stored: Callable[[Sequence[StoredEvent]], None], on_failure: Callable[[], None]
    ) -> None:
        self._events = events
        self._on_stored = on_stored
        self._on_failure = on_failure
        self._waiting: list[StoredEvent] = []
        self._task: asyncio.Task[None] | None = None
        self.error: Exception | None = None

    def add(self, record: EventRecord) -> None:
        """Write an event soon."""
        self._waiting.append(to_stored_event(record))
        self._ensure_writing()

    async def flush(self) -> None:
        """Wait until all added events are stored. Raises what prevented it: ``ConflictError`` or ``UnavailableError``.

        The waiting caller may be cancelled; the writing is not.
        """
        while (task := self._ensure_writing()) is not None:
            await asyncio.shield(task)
        if self.error is not None:
            raise self.error

    def _ensure_writing(self) -> "asyncio.Task[None] | None":
        """Return the task that writes, started where needed; None where nothing is left to write."""
        if self._task is None and self._waiting and self.error is None:
            self._task = asyncio.create_task(self._write())
        return self._task

    async def _write(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                await self._events.append(batch)
                self._on_stored(batch)
        except Exception as error:  # noqa: BLE001  # kept, and raised to who flushes
            self.error = error
            self._on_failure()
        finally:
            self._task = None


def to_stored_event(record: EventRecord) -> StoredEvent:
    """Return an event in its stored form."""
    body = record.model_dump_json()
    return StoredEvent(run_id=record.run, seq=record.seq, kind=record.event.kind, body=body)


async def parse_events(events: Sequence[StoredEvent]) -> list[EventRecord]:
    """Parse stored events, in order."""
    return await asyncio.to_thread(_parse, events)


def _parse(events: Sequence[StoredEvent]) -> list[EventRecord]:
    return [EventRecord.model_validate_json(event.body) for event in events]


def add_end_reason(record: EventRecord, why: str) -> EventRecord:
    """Add the reason to the end of a cancelled run; any other event is returned unchanged."""
    event = record.event
    if not why or not isinstance(event, RunFinished) or event.outcome != "cancelled":
        return record
    return record.model_copy(update={"event": event.model_copy(update={"error": why})})
