"""Stopwatch for a run's time, paused while the run waits for its user."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager


class Stopwatch:
    """Measures time from its creation, without pauses."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started = clock()
        self._stands_since: float | None = None
        self._holds = 0
        self._timeouts: dict[asyncio.Timeout, float] = {}

    @property
    def elapsed(self) -> float:
        """Elapsed seconds, without those in which it was paused."""
        now = self._clock() if self._stands_since is None else self._stands_since
        return now - self._started

    @asynccontextmanager
    async def within(self, bound: float) -> AsyncGenerator[None]:
        """Raise ``TimeoutError`` when ``bound`` seconds of the stopwatch have elapsed before the context is left."""
        async with asyncio.timeout(None if self._holds else self._left(bound)) as timeout:
            self._timeouts[timeout] = bound
            try:
                yield
            finally:
                del self._timeouts[timeout]

    @contextmanager
    def standing_still(self) -> Generator[None]:
        """Pause until the context is left; with several overlapping pauses, until the last one is left."""
        if not self._holds:
            self._stands_since = self._clock()
            self._reschedule()
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1
            if not self._holds and self._stands_since is not None:
                self._started += self._clock() - self._stands_since
                self._stands_since = None
                self._reschedule()

    def _left(self, bound: float) -> float:
        return max(0.0, bound - self.elapsed)

    def _reschedule(self) -> None:
        """Move every pending timeout: to never while paused, else to when its bound is reached."""
        now = asyncio.get_running_loop().time() if self._timeouts else 0.0
        for timeout, bound in self._timeouts.items():
            if not timeout.expired():
                timeout.reschedule(None if self._stands_since is not None else now + self._left(bound))
