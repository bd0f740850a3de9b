"""Before a run, the store follows the rows: another process may have taken a step with a source."""

import asyncio
from collections.abc import Awaitable, Callable

from server.storage.shielded import shielded
from server.storage.storage import Storage
from wiring.admitting import reconcile
from wiring.container import Container


class LatestSteps:
    """One process's. ``container``: with every tool. Only what the graph's documents tell is looked at; :mod:`server.sources.following` looks deeper."""

    def __init__(self, storage: Storage, container: Callable[[], Awaitable[Container]]) -> None:
        self._rows = storage.offered_tools
        self._container = container
        self._lock = asyncio.Lock()
        self._followed = ""

    async def follow(self) -> None:
        """One small question of the rows, where no step was taken since. Raises ``UnavailableError``; the next one tries again."""
        if await shielded(self._rows.revision()) == self._followed:
            return
        async with self._lock:
            revision = await shielded(self._rows.revision())
            if revision == self._followed:
                return
            known = await shielded(self._rows.known())
            if known:
                offered = {one.doc.id: one.doc for one in await shielded(self._rows.all())}
                await reconcile(await self._container(), offered, known, whole=False)
            self._followed = revision
