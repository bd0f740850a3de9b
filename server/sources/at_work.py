"""All that is at work on sources in one process."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from server.sources.checking import SourceChecker, checking
from server.sources.registry import Follow, SourceRegistry
from server.sources.store_access import StoreAccess
from server.sources.watching import SourceWatch, watching
from server.storage.storage import Storage


@dataclass(frozen=True, slots=True)
class SourcesAtWork:
    """What operations ask."""

    registry: SourceRegistry
    checker: SourceChecker
    watch: SourceWatch


@asynccontextmanager
async def sources_at_work(
    storage: Storage, access: StoreAccess, follow: Follow, worker: str
) -> AsyncGenerator[SourcesAtWork]:
    """Until the end. ``worker``: what this process is called."""
    registry = SourceRegistry(storage, access, follow)
    async with (
        checking(storage, registry, access, worker) as checker,
        watching(storage, registry, access) as watch,
    ):
        yield SourcesAtWork(registry, checker, watch)
