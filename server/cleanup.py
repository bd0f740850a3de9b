"""What has had its time is removed, a little at a time, while the server goes on; several servers may do so at once."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from domain.errors import FootpathError
from server.storage.storage import Storage

_log = logging.getLogger(__name__)
_PAUSE = 3600
"""Seconds from one time to the next."""
_AT_ONCE = 20
"""Runs whose events are removed in one transaction: an event may hold a megabyte, and others wait to write."""
_COUNTS = timedelta(days=31)
"""How long it is known what a user has used in a day."""
_JOBS = timedelta(days=90)
"""How long it is known how a job of an administrator ended."""


@asynccontextmanager
async def tidying(storage: Storage, event_days: int, pause: float = _PAUSE) -> AsyncGenerator[None]:
    """At work until the end. ``event_days``: 0 keeps the events of all runs."""
    task = asyncio.create_task(_tidy_now_and_then(storage, event_days, pause))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def tidy(storage: Storage, event_days: int) -> int:
    """Once, to the end; how many events were removed."""
    await storage.daily_usage.delete_old(_COUNTS)
    await storage.jobs.delete_old(_JOBS)
    removed = 0
    while event_days and (ended := await storage.retention.find_expired_runs(timedelta(days=event_days))):
        before = removed
        for start in range(0, len(ended), _AT_ONCE):
            removed += await storage.retention.remove_events(ended[start : start + _AT_ONCE])
        if removed == before:
            break  # another server was faster
    return removed


async def _tidy_now_and_then(storage: Storage, event_days: int, pause: float) -> None:
    while True:
        try:
            if removed := await tidy(storage, event_days):
                _log.info("%d events of runs that ended more than %d days ago were removed", removed, event_days)
        except FootpathError as error:
            _log.warning("what has had its time could not be removed: %s", error)
        except Exception:  # noqa: BLE001  # a defect of ours must not end it for good
            _log.exception("what has had its time could not be removed")
        await asyncio.sleep(pause)
