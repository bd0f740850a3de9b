"""Whether what runs are made with is within reach. While it is not, no run is taken only to be put back: it is looked for instead."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from domain.errors import FootpathError, PassingError

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
    """One worker's. ``look`` raises while a store is out of reach; ``over`` is called when it does no longer.

    The first look comes after the first pause of the ``retry_wait``, each further one after twice as long.
    """

    def __init__(self, look: Callable[[], Awaitable[None]], retry_wait: RetryWait, over: Callable[[], None]) -> None:
        self._look = look
        self._retry_wait = retry_wait
        self._over = over
        self._watching: asyncio.Task[None] | None = None

    @property
    def lasts(self) -> bool:
        """Whether a store was found out of reach, and has not been seen since."""
        return self._watching is not None

    def begin(self) -> None:
        """A run has found a store out of reach."""
        if self._watching is None:
            _log.warning("no runs are taken until the store is within reach")
            self._watching = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Look no more."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def _watch(self) -> None:
        try:
            pause = self._retry_wait.first
            await asyncio.sleep(pause.total_seconds())
            while await self._out_of_reach():
                pause = min(2 * pause, self._retry_wait.longest)
                await asyncio.sleep(pause.total_seconds())
            _log.info("the store is within reach again")
        finally:
            self._watching = None
            self._over()

    async def _out_of_reach(self) -> bool:
        """What does not pass by itself is for a run to say."""
        try:
            await self._look()
        except PassingError as error:
            _log.warning("the store is still out of reach: %s", error)
            return True
        except FootpathError:
            return False
        except Exception:  # noqa: BLE001  # a defect of ours must not keep all runs waiting
            _log.exception("whether the store is within reach could not be found out")
        return False
