"""What a server has, in figures. Each part has so long; what takes longer is named as missing rather than waited for."""

import asyncio
from collections.abc import Awaitable
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import TypeVar

from domain.errors import FootpathError
from domain.model import Model
from server.data.census import Availabilities, EdgeCounts, ToolCounts, availabilities, edge_counts, tool_counts
from server.runs.agent_runtime import AgentRuntime
from server.storage.storage import Storage
from wiring.container import Container
from wiring.settings import Settings
from wiring.store_folder import StoreFolder

T = TypeVar("T")
SECONDS = 20.0
"""For each part."""
_MOMENT = 60.0
"""Seconds for which what was counted counts: who looks often costs no more than who looks once."""


class Place(Model):
    """Where a part lies: ``here`` in files, or on a server of that ``kind``. ``bytes`` None: a server keeps them."""

    kind: str
    bytes: int | None
    note: str = ""
    count: int | None = None


class Statistics(Model):
    """``kept``: how many there are of what. ``missing``: parts that took too long, or could not be reached, each with why."""

    at: datetime
    seconds: float
    tools: ToolCounts | None
    edges: EdgeCounts | None
    availability: Availabilities | None
    kept: dict[str, int]
    database: Place
    graph: Place
    vectors: Place
    missing: dict[str, str]


class Counting:
    """One process's. Counted once for all who ask within a moment."""

    def __init__(self, settings: Settings, storage: Storage, agents: AgentRuntime, seconds: float = SECONDS) -> None:
        self._settings = settings
        self._storage = storage
        self._agents = agents
        self._seconds = seconds
        self._turn = asyncio.Lock()
        self._counted: tuple[float, Statistics] | None = None

    async def statistics(self, *, anew: bool = False) -> Statistics:
        """``anew``: what was counted before does not count."""
        async with self._turn:
            if anew or self._counted is None or monotonic() - self._counted[0] > _MOMENT:
                self._counted = (monotonic(), await self._count())
            return self._counted[1]

    async def _count(self) -> Statistics:
        start, missing = monotonic(), dict[str, str]()
        rows = await self._part("rows", self._storage.row_counts.count_all(), missing) or {}
        container = await self._part("store", self._agents.get_full_container(), missing)
        names = await self._part("sources", self._storage.row_counts.list_source_names(), missing) or {}
        tools = edges = chances = None
        kept, vectors = dict[str, int](), None
        if container is not None:
            tools = await self._part("tools", tool_counts(container, names), missing)
            edges = await self._part("edges", edge_counts(container), missing)
            chances = await self._part("availability", availabilities(container), missing)
            kept = await self._part("kept", _kept(container), missing) or {}
            vectors = await self._part("vectors", _vectors(container), missing)
        settings, folder = self._settings, StoreFolder(self._settings.store)
        database = await asyncio.to_thread(_size, settings.server_home, "rows.db")
        graph = None if settings.graph_url else await asyncio.to_thread(_size, folder.root, "*.db")
        on_file = self._storage.database.dialect == "sqlite"
        return Statistics(
            at=self._storage.sources.get_time(),
            seconds=round(monotonic() - start, 3),
            tools=tools,
            edges=edges,
            availability=chances,
            kept=rows | kept,
            database=Place(kind=self._storage.database.dialect, bytes=database if on_file else None),
            graph=Place(kind="neo4j" if settings.graph_url else "sqlite", bytes=graph),
            vectors=vectors or Place(kind="qdrant" if settings.vector_url else "embedded", bytes=None),
            missing=missing,
        )

    async def _part(self, name: str, part: Awaitable[T], missing: dict[str, str]) -> T | None:
        try:
            async with asyncio.timeout(self._seconds):
                return await part
        except TimeoutError:
            missing[name] = f"it was not counted within {self._seconds:g} seconds"
        except FootpathError as error:
            missing[name] = str(error)
        return None


async def _kept(container: Container) -> dict[str, int]:
    recorded = await asyncio.to_thread(container.folder.recordings.exists)
    return {
        "recorded_calls": await (await container.recordings()).count() if recorded else 0,
        "memories": await (await container.memories()).count(),
        "solutions": await (await container.solution_store()).count(),
    }


async def _vectors(container: Container) -> Place:
    embedder, index, _ = await container.get_retrieval()
    folder = None if container.vectors_on_server else await container.get_vectors_folder()
    size = None if folder is None else await asyncio.to_thread(_size, folder, "**/*")
    kind = "qdrant" if container.vectors_on_server else "embedded"
    return Place(kind=kind, bytes=size, note=embedder.identity, count=await index.count())


def _size(folder: Path, pattern: str) -> int:
    """Bytes of the files below a folder whose names are so, with what belongs to them."""
    found = {file for each in (pattern, f"{pattern}-wal") for file in folder.glob(each) if file.is_file()}
    return sum(file.stat().st_size for file in found)
