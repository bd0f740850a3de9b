"""Whether what this server needs is there: a list of checks by name, each bounded, asked at most once in a moment."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from time import monotonic

from domain.errors import FootpathError, UnavailableError

_log = logging.getLogger(__name__)
Check = Callable[[], Awaitable[None]]
"""Raises a ``FootpathError`` where something is not there, or cannot be used."""

SECONDS = 3.0
"""What does not answer in that time is not there."""
MOMENT = 1.0
"""Seconds for which an outcome counts: who asks often costs no more than who asks once."""


class Readiness:
    """One process's."""

    def __init__(self, checks: Mapping[str, Check]) -> None:
        self._checks = dict(checks)
        self._faults: dict[str, FootpathError] = {}
        self._until = 0.0
        self._asking = asyncio.Lock()

    @property
    def names(self) -> list[str]:
        """Of all that is looked at."""
        return list(self._checks)

    async def faults(self) -> Mapping[str, FootpathError]:
        """What is not as it must be, by name."""
        async with self._asking:
            if monotonic() >= self._until:
                found = await asyncio.gather(*(_fault(check) for check in self._checks.values()))
                self._note({name: fault for name, fault in zip(self._checks, found, strict=True) if fault is not None})
                self._until = monotonic() + MOMENT
            return self._faults

    async def check(self, ignored: Collection[str] = ()) -> None:
        """Raise ``UnavailableError`` with all that is not as it must be, but for what is ``ignored``."""
        faults = await self.faults()
        if names := sorted(faults.keys() - set(ignored)):
            error = UnavailableError("not ready: " + "; ".join(f"{name}: {faults[name]}" for name in names))
            error.part = ", ".join(names)
            raise error

    def _note(self, faults: dict[str, FootpathError]) -> None:
        """A line of the log for each change, not for each question."""
        for name in faults.keys() - self._faults.keys():
            _log.warning("not ready: %s: %s", name, faults[name])
        for name in self._faults.keys() - faults.keys():
            _log.info("ready again: %s", name)
        self._faults = faults


async def _fault(check: Check) -> FootpathError | None:
    try:
        async with asyncio.timeout(SECONDS):
            await check()
    except TimeoutError:
        return UnavailableError(f"no answer within {SECONDS:g} seconds")
    except FootpathError as error:
        return error
    return None
