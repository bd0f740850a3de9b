"""Broker of run events within one process, which spares subscribers of local runs the database."""

import asyncio
from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from server.storage.run_events import StoredEvent

LAST_EVENT_KIND = "run.finished"
"""Kind of a run's last event."""


class EventBroker:
    """Passes on new events of the runs that are executed in this process, without a query of the database."""

    def __init__(self) -> None:
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._events: dict[str, tuple[int, list[StoredEvent]]] = {}
        self.closed = False
        """The server is stopping; followers have to come back later."""

    @property
    def followers(self) -> int:
        """Return the number of subscriptions."""
        return sum(len(events) for events in self._waiting.values())

    @contextmanager
    def subscribe(self, run_id: str) -> Generator[asyncio.Event]:
        """Yield an event that is set whenever the run has new events; the waiter clears it before reading."""
        event = asyncio.Event()
        self._waiting[run_id].add(event)
        try:
            yield event
        finally:
            self._waiting[run_id].discard(event)
            if not self._waiting[run_id]:
                del self._waiting[run_id]
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
        if not (self._is_over(run_id) and run_id in self._waiting):
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
        for run_id in list(self._waiting):
            self._wake(run_id)

    def _is_over(self, run_id: str) -> bool:
        """Return whether the run's last event was published here."""
        _, stored = self._events.get(run_id, (0, []))
        return bool(stored) and stored[-1].kind == LAST_EVENT_KIND

    def _wake(self, run_id: str) -> None:
        for event in self._waiting.get(run_id, ()):
            event.set()
