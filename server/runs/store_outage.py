"""Outage of the stores that runs need.

During an outage this server claims no runs, since other servers may share the queue, and checks the stores regularly.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from domain.errors import UnavailableError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RetryWait:
    """Timing of retries while a store is out of reach."""

    total: timedelta = timedelta(minutes=10)
    """A run is retried for this long before it fails."""
    first: timedelta = timedelta(seconds=1)
    """Shortest pause, which is the first one."""
    longest: timedelta = timedelta(seconds=30)
    """Longest pause."""

    def compute_pause(self, waited: timedelta) -> timedelta:
        """Return the next pause: as long as the run has waited already, within the bounds."""
        return min(max(waited, self.first), self.longest, max(self.total - waited, self.first))


async def check_nothing() -> None:
    """Check nothing: for stores that are always reachable from this process."""


class StoreOutage:
    """Outage as one worker sees it.

    ``check_stores`` raises ``UnavailableError`` while this server cannot execute runs; ``on_end`` is called when it can
    again.
    The first check follows after the shortest pause of ``retry_wait``, and each pause is twice the one before.
    """

    def __init__(
        self, check_stores: Callable[[], Awaitable[None]], retry_wait: RetryWait, on_end: Callable[[], None]
    ) -> None:
        self._check_stores = check_stores
        self._retry_wait = retry_wait
        self._on_end = on_end
        self._watch_task: asyncio.Task[None] | None = None
        self.reason: UnavailableError | None = None
        """Why no run is claimed, by the last check; None while there is no outage."""

    @property
    def is_ongoing(self) -> bool:
        """Return whether this server was found unable to execute runs, and has not been found able since."""
        return self._watch_task is not None

    def begin(self, reason: UnavailableError) -> None:
        """Claim no runs from now on, until a check finds that they can be executed here."""
        if self._watch_task is None:
            _log.warning("no runs are taken: %s", reason)
            self.reason = reason
            self._watch_task = asyncio.create_task(self._watch())

    async def check(self) -> None:
        """Check the stores before runs are claimed.

        Claiming a run only to postpone it would cost it time, and reveal no more than this check.
        """
        if not self.is_ongoing and (reason := await self._find_reason()) is not None:
            self.begin(reason)

    async def close(self) -> None:
        """Stop checking."""
        if self._watch_task is not None:
            self._watch_task.cancel()
            await asyncio.gather(self._watch_task, return_exceptions=True)

    async def _watch(self) -> None:
        """Check the stores until runs can be executed again."""
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
            self._watch_task = self.reason = None
            self._on_end()

    async def _find_reason(self) -> UnavailableError | None:
        """Return why no run can be executed here just now; None where one can."""
        try:
            await self._check_stores()
        except UnavailableError as error:
            return error
        except Exception:  # noqa: BLE001  # a defect of ours must not keep all runs waiting
            _log.exception("whether runs can be made could not be found out")
        return None
