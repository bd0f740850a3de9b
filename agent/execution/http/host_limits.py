"""Each host's limits: so many calls at once, so many a second, and none while it asks for a pause."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


class Clock:
    """The event loop's time. Seconds; a test may have one of its own."""

    def now(self) -> float:
        """Seconds since some moment."""
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class HostPausedError(Exception):
    """The host asked not to be called for longer than a call waits. ``seconds`` are left of that."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the host asks not to be called for another {seconds:.0f} s")
        self.seconds = seconds


@dataclass(slots=True)
class _Host:
    slots: asyncio.Semaphore
    calls: int = 0
    not_before: float = field(default=float("-inf"))

    def idle(self, now: float) -> bool:
        return not self.calls and self.not_before <= now


class HostLimits:
    """``concurrency``: calls at once. ``rate``: calls a second, begun evenly; None: as many as come. ``longest_pause``: seconds; a host
    that asks for more is given as much.
    """

    def __init__(
        self, concurrency: int, rate: float | None = None, clock: Clock | None = None, *, longest_pause: float = 300.0
    ) -> None:
        self._concurrency = concurrency
        self._interval = 1.0 / rate if rate else 0.0
        self._clock = clock or Clock()
        self._longest_pause = longest_pause
        self._hosts: dict[str, _Host] = {}
        self._pauses: dict[tuple[str, str], float] = {}

    @asynccontextmanager
    async def turn(self, place: str, longest: float, key: str = "") -> AsyncGenerator[None]:
        """Wait for a turn at a host, and keep it for this block. ``key``: by which the host knows the caller.

        Raises ``HostPausedError`` where the host asks to be left alone for more than ``longest`` seconds.
        """
        host = self._hosts.setdefault(place, _Host(asyncio.Semaphore(self._concurrency)))
        host.calls += 1
        try:
            await self._unpaused(place, longest, key)  # before it takes a turn that others could have
            async with host.slots:
                await self._unpaused(place, longest, key)
                await self._evenly(host)
                yield
        finally:
            host.calls -= 1
            if host.idle(self._clock.now()):
                self._hosts.pop(place, None)

    def pause(self, place: str, seconds: float, key: str = "") -> None:
        """Begin no call at this host for so long: it said so. ``key``: it said so to that caller only, whose quota is used up."""
        now = self._clock.now()
        until = max(self._pauses.get((place, key), now), now + min(seconds, self._longest_pause))
        self._pauses = {one: end for one, end in self._pauses.items() if end > now} | {(place, key): until}

    async def _unpaused(self, place: str, longest: float, key: str) -> None:
        """Until the host may be called. A pause that another call brings while waiting counts, too."""
        while (paused := self._paused(place, key)) > 0:
            if paused > longest:
                raise HostPausedError(paused)
            await self._clock.sleep(paused)

    def _paused(self, place: str, key: str) -> float:
        """Seconds that are left of the pauses of a host: those that hold for all, and those of this key."""
        ends = (self._pauses.get((place, one), float("-inf")) for one in ("", key))
        return max(ends) - self._clock.now()

    async def _evenly(self, host: _Host) -> None:
        begin = max(host.not_before, self._clock.now())
        host.not_before = begin + self._interval
        if (left := begin - self._clock.now()) > 0:
            await self._clock.sleep(left)
