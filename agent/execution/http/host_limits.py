"""Limits per host: concurrent calls, calls per second, and pauses that the host asks for."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


class EventLoopClock:
    """Clock of the event loop, in seconds, which tests may replace."""

    def now(self) -> float:
        """Return the seconds since an arbitrary point in time."""
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        """Wait for this many seconds."""
        await asyncio.sleep(seconds)


class HostPausedError(Exception):
    """A host's pause is longer than a call may wait; ``seconds`` of the pause remain."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the host asks not to be called for another {seconds:.0f} s")
        self.seconds = seconds


@dataclass(slots=True)
class _HostTurns:
    slots: asyncio.Semaphore
    call_count: int = 0
    next_start: float = field(default=float("-inf"))

    def is_idle(self, now: float) -> bool:
        return not self.call_count and self.next_start <= now


class HostLimits:
    """Limits of the calls to each host.

    ``concurrency`` is the number of concurrent calls. ``rate`` is the number of calls per second, begun at even
    intervals; None means no limit. ``longest_pause`` bounds the seconds of a pause, even if a host asks for more.
    """

    def __init__(
        self,
        concurrency: int,
        rate: float | None = None,
        clock: EventLoopClock | None = None,
        *,
        longest_pause: float = 300.0,
    ) -> None:
        self._concurrency = concurrency
        self._interval = 1.0 / rate if rate else 0.0
        self._clock = clock or EventLoopClock()
        self._longest_pause = longest_pause
        self._hosts: dict[str, _HostTurns] = {}
        self._pauses: dict[tuple[str, str], float] = {}

    @asynccontextmanager
    async def hold_turn(self, place: str, max_pause: float, caller_key: str = "") -> AsyncGenerator[None]:
        """Wait for a turn to call a host and hold it inside the context.

        ``place`` names the host, ``caller_key`` identifies the caller to it.

        Raises:
            HostPausedError: the host asked for a pause of more than ``max_pause`` seconds.
        """
        host = self._hosts.setdefault(place, _HostTurns(asyncio.Semaphore(self._concurrency)))
        host.call_count += 1
        try:
            await self._wait_until_unpaused(
                place, max_pause, caller_key
            )  # before taking a slot, which a call with another key can use meanwhile
            async with host.slots:
                await self._wait_until_unpaused(place, max_pause, caller_key)
                await self._wait_for_interval(host)
                yield
        finally:
            host.call_count -= 1
            if host.is_idle(self._clock.now()):  # otherwise the table would grow with every host ever called
                self._hosts.pop(place, None)

    def pause(self, place: str, seconds: float, caller_key: str = "") -> None:
        """Begin no call to this host for this many seconds, as it asked.

        With ``caller_key``, only calls of that caller pause, whose quota is used up.
        """
        now = self._clock.now()
        pause_end = max(self._pauses.get((place, caller_key), now), now + min(seconds, self._longest_pause))
        # Rebuilt without the pauses that have ended, so that the table stays small.
        self._pauses = {paused: end for paused, end in self._pauses.items() if end > now} | {
            (place, caller_key): pause_end
        }

    async def _wait_until_unpaused(self, place: str, max_pause: float, caller_key: str) -> None:
        """Wait until the host may be called, including pauses that other calls report meanwhile."""
        while (remaining := self._get_remaining_pause(place, caller_key)) > 0:
            if remaining > max_pause:
                raise HostPausedError(remaining)
            await self._clock.sleep(remaining)

    def _get_remaining_pause(self, place: str, caller_key: str) -> float:
        """Return the remaining seconds of a host's pauses, for all callers and for this one."""
        ends = (self._pauses.get((place, paused_key), float("-inf")) for paused_key in ("", caller_key))
        return max(ends) - self._clock.now()

    async def _wait_for_interval(self, host: _HostTurns) -> None:
        start = max(host.next_start, self._clock.now())
        host.next_start = start + self._interval
        if (remaining := start - self._clock.now()) > 0:
            await self._clock.sleep(remaining)
