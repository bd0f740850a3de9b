"""The events of one run on their way into the rows: many in one statement, followers told when they are stored."""

import asyncio
from collections.abc import Callable, Sequence

from domain.event import EventRecord
from server.runs.gathering import Appends
from server.storage.events import StoredEvent


class Journal:
    """Events are written in the order in which they are added; while some are written, the next ones gather.

    ``tell`` is called with what each write has stored, ``failed`` once where one fails; nothing is written after that, so that there are no gaps.
    """

    def __init__(
        self, events: Appends, tell: Callable[[Sequence[StoredEvent]], None], failed: Callable[[], None]
    ) -> None:
        self._events = events
        self._tell_stored = tell
        self._tell_failed = failed
        self._waiting: list[StoredEvent] = []
        self._task: asyncio.Task[None] | None = None
        self.error: Exception | None = None

    def add(self, record: EventRecord) -> None:
        """Have it written soon."""
        self._waiting.append(as_stored(record))
        self._begin()

    async def flush(self) -> None:
        """All that was added is stored when this returns. Raises what kept it from that: ``ConflictError``, ``UnavailableError``.

        Whoever waits may be cancelled; the writing is not.
        """
        while (task := self._begin()) is not None:
            await asyncio.shield(task)
        if self.error is not None:
            raise self.error

    def _begin(self) -> "asyncio.Task[None] | None":
        """The task that writes; None where nothing is left to be written."""
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
    """An event as it is stored."""
    body = record.model_dump_json()
    return StoredEvent(run_id=record.run, seq=record.seq, kind=record.event.kind, body=body)
