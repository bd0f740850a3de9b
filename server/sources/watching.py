"""Sources that are watched: read again and probed as often as their authors say, by one server of several, a little apart."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from random import Random

from domain.errors import FootpathError
from domain.tool import ToolDoc
from server.sources.probing import learn, probe
from server.sources.registry import SourceRegistry
from server.sources.store_access import StoreAccess
from server.storage.source_records import SERVER, Source
from server.storage.storage import Storage
from wiring.executors import create_live_executor

_log = logging.getLogger(__name__)
PAUSE = 15.0
"""Seconds between looks at what is due."""
SOON = timedelta(minutes=1)
"""After which a server is read again that says its tools are others now: however often it says so, no more often than this."""
_LEASE = timedelta(minutes=15)
_SECONDS = 600
"""That one round of a source may take at most."""


class SourceWatch:
    """One process's. ``chance``: by which rounds are set a little apart, so that not all come at once."""

    def __init__(self, storage: Storage, registry: SourceRegistry, access: StoreAccess, chance: Random) -> None:
        self._storage = storage
        self._registry = registry
        self._access = access
        self._chance = chance
        self._rounds = 0

    async def due(self) -> int:
        """Watch what is due, one source after another; how many. What an MCP server said of itself makes its source due soon."""
        done = 0
        while self._access.changed:
            await self._storage.source_watches.schedule_soon(self._access.changed.pop(), SOON)
        while claimed := await self._storage.source_watches.claim(_LEASE):
            for source_id in claimed:
                await self._watched(source_id)
                done += 1
        return done

    async def _watched(self, source_id: str) -> None:
        try:
            async with asyncio.timeout(_SECONDS):
                await self._round(source_id)
        except FootpathError as error:  # the source tells of it
            _log.info("source %s: %s", source_id, error)
        except TimeoutError:
            await self._storage.source_watches.record_reading(
                source_id, f"reading and probing it took more than {_SECONDS} s"
            )
        await self._storage.source_watches.schedule_next(source_id, self._chance.uniform(0.9, 1.1))

    async def _round(self, source_id: str) -> None:
        source = await self._storage.sources.get(source_id)
        if source is None:
            return
        try:
            if source.address or source.command:
                source = await self._registry.refresh(source_id, SERVER, self._registry.read)
        finally:
            await self._probed(source)

    async def _probed(self, source: Source) -> None:
        tools = await self._storage.sources.list_tools(source.id)
        offered: list[ToolDoc] = [one.offer for one in tools if one.offer is not None]
        if not offered:
            return
        container = await self._access.container()
        secrets = await self._access.secrets(source, None)
        executor = create_live_executor(container, secrets, f"source:{source.id}")
        self._rounds += 1
        try:
            outcomes = await probe(offered, executor, self._rounds)
        finally:
            await executor.close()
        key = f"watch {source.id} {self._storage.sources.get_time().isoformat()}"
        await learn(container.graph, key, outcomes)

    async def watch(self, pause: float) -> None:
        """Until cancelled."""
        while True:
            await asyncio.sleep(pause)
            try:
                await self.due()
            except FootpathError as error:
                _log.warning("sources of tools are not watched just now: %s", error)
            except Exception:  # noqa: BLE001  # a defect of ours must not end it for good
                _log.exception("watching sources of tools failed")


@asynccontextmanager
async def watching(
    storage: Storage, registry: SourceRegistry, access: StoreAccess, pause: float = PAUSE
) -> AsyncGenerator[SourceWatch]:
    """At work until the end."""
    watch = SourceWatch(storage, registry, access, Random())
    task = asyncio.create_task(watch.watch(pause))
    try:
        yield watch
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
