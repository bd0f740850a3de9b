"""Who follows runs is told within this process that there is something new to read."""

import asyncio
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager


class Board:
    """``closed``: the server is stopping; who follows has to come back later."""

    def __init__(self) -> None:
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self.closed = False

    @contextmanager
    def waiting(self, run_id: str) -> Generator[asyncio.Event]:
        """An event that is set whenever the run has told something; who waits clears it before reading."""
        event = asyncio.Event()
        self._waiting[run_id].add(event)
        try:
            yield event
        finally:
            self._waiting[run_id].discard(event)
            if not self._waiting[run_id]:
                del self._waiting[run_id]

    def tell(self, run_id: str) -> None:
        """There is something new of this run."""
        for event in self._waiting.get(run_id, ()):
            event.set()

    def close(self) -> None:
        """Let everybody go."""
        self.closed = True
        for events in list(self._waiting.values()):
            for event in events:
                event.set()
