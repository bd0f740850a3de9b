"""New events of runs to their subscribers within this process: for runs that are made here, the rows need not be asked."""

import asyncio
from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from server.storage.run_events import StoredEvent

LAST = "run.finished"
"""The kind of a run's last event."""


class EventBroker:
    """``closed``: the server is stopping; who follows has to come back later."""

    def __init__(self) -> None:
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._told: dict[str, tuple[int, list[StoredEvent]]] = {}
        self.closed = False

    @property
    def followers(self) -> int:
        """How many follow runs here."""
        return sum(len(events) for events in self._waiting.values())

    @contextmanager
    def subscribe(self, run_id: str) -> Generator[asyncio.Event]:
        """An event that is set whenever the run has told something; who waits clears it before reading."""
        event = asyncio.Event()
        self._waiting[run_id].add(event)
        try:
            yield event
        finally:
            self._waiting[run_id].discard(event)
            if not self._waiting[run_id]:
                del self._waiting[run_id]
                if self._is_over(run_id):
                    self._told.pop(run_id)

    def begin(self, run_id: str, last: int) -> None:
        """The run is made here from now on; ``last``: the number of its last event until now."""
        self._told[run_id] = (last, [])

    def publish(self, run_id: str, stored: Sequence[StoredEvent]) -> None:
        """These were stored, in order."""
        if run_id in self._told:
            self._told[run_id][1].extend(stored)
        self._wake(run_id)

    def end(self, run_id: str) -> None:
        """The run is not made here any more. Who follows it to its last event has it from here still; else all there is to know is in the rows."""
        if not (self._is_over(run_id) and run_id in self._waiting):
            self._told.pop(run_id, None)
        self._wake(run_id)

    def after(self, run_id: str, seq: int) -> list[StoredEvent] | None:
        """The run's events after a number; None where the rows have to be asked."""
        if run_id not in self._told:
            return None
        before, told = self._told[run_id]
        found = told[seq - before :] if seq >= before else None
        # Of a run that is over there is nothing to wait for: who asks for more than it told learns from the rows that it has ended.
        return None if not found and self._is_over(run_id) else found

    def close(self) -> None:
        """Let everybody go."""
        self.closed = True
        for run_id in list(self._waiting):
            self._wake(run_id)

    def _is_over(self, run_id: str) -> bool:
        """Whether the run's last event was told here."""
        _, told = self._told.get(run_id, (0, []))
        return bool(told) and told[-1].kind == LAST

    def _wake(self, run_id: str) -> None:
        for event in self._waiting.get(run_id, ()):
            event.set()
