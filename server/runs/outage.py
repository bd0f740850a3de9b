"""Whether this server can make runs just now. While it cannot, it takes none from the queue, which other servers may share, and looks again instead."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from domain.errors import UnavailableError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RetryWait:
    """With a store that is out of reach. A run is tried again for ``whole`` before it fails; pauses grow from the ``first`` to the ``longest``."""

    whole: timedelta = timedelta(minutes=10)
    first: timedelta = timedelta(seconds=1)
    longest: timedelta = timedelta(seconds=30)

    def pause(self, waited: timedelta) -> timedelta:
        """As long again as it has waited already."""
        return min(max(waited, self.first), self.longest, max(self.whole - waited, self.first))


async def always_there() -> None:
    """For stores that are within this process's reach as long as it lives."""


class Outage:
    """One worker's. ``look`` raises ``UnavailableError`` while this server cannot make runs; ``over`` is called when it can again.

    The first look comes after the first pause of the ``retry_wait``, each further one after twice as long.
    """

    def __init__(self, look: Callable[[], Awaitable[None]], retry_wait: RetryWait, over: Callable[[], None]) -> None:
        self._look = look
        self._retry_wait = retry_wait
        self._over = over
        self._watching: asyncio.Task[None] | None = None
        self.reason: UnavailableError | None = None
        """Why no run is taken, as the last look found; None: none is kept waiting."""

    @property
    def lasts(self) -> bool:
        """Whether this server was found unable to make runs, and has not been found able since."""
        return self._watching is not None

    def begin(self, reason: UnavailableError) -> None:
        """Take no run from now on, until a look finds that they can be made here."""
        if self._watching is None:
            _log.warning("no runs are taken: %s", reason)
            self.reason = reason
            self._watching = asyncio.create_task(self._watch())

    async def check(self) -> None:
        """Look before runs are taken.

        A run that is taken and put back again has lost time, and has found nothing out that a look does not.
        """
        if not self.lasts and (reason := await self._find_reason()) is not None:
            self.begin(reason)

    async def close(self) -> None:
        """Look no more."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def _watch(self) -> None:
        try:
            pause = self._retry_wait.first
            await asyncio.sleep(pause.total_seconds())
            while (reason := await self._find_reason()) is not None:
                _log.warning("no runs are taken yet: %s", reason)
                self.reason = reason
                pause = min(2 * pause, self._retry_wait.longest)
                await asyncio.sleep(pause.total_seconds())
            _log.info("runs are taken again: what they need is within reach")
        finally:
            self._watching = self.reason = None
            self._over()

    async def _find_reason(self) -> UnavailableError | None:
        """Why no run can be made here just now; None where one can."""
        try:
            await self._look()
        except UnavailableError as error:
            return error
        except Exception:  # noqa: BLE001  # a defect of ours must not keep all runs waiting
            _log.exception("whether runs can be made could not be found out")
        return None
