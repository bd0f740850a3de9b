"""Vector index in a folder that one process owns, by Qdrant's embedded engine (``qdrant-edge-py``)."""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID, uuid5

import numpy as np
from numpy.typing import NDArray

from domain.errors import UnavailableError
from domain.ranking import find_with_ties, rank_results
from domain.tool import ToolId
from retriever.backends.edge_folder import EdgeFolder
from retriever.index import VectorHit, VectorPoint, Vectors, get_hit_id, get_hit_score

_NAMESPACE = UUID("0e3f6e7e-5a0b-5c0e-9a55-7a1f0a0b6c11")
"""Namespace of point ids made from tool ids: the engine takes only UUIDs and integers."""

_PAGE_SIZE = 10_000
_MAX_PAYLOAD_BYTES = 2_000
"""Upper estimate of a point's bytes besides its vector."""
_MAX_CACHED_VECTORS = 16_384
"""Vectors in the cache, 25 MB at 384 dimensions: the engine returns numbers one by one."""

Result = TypeVar("Result")


class EdgeIndex:
    """Vector index of one process; a search compares all vectors.

    For tens of thousands of tools that takes milliseconds, while an approximate search would miss some. After ``put``
    or ``remove`` has returned, the change survives a killed process. Operations run in worker threads, one at a time.
    """

    def __init__(self, directory: Path, reindexing: str = "python scripts/reindex.py") -> None:
        """Use ``directory``; ``reindexing`` is the command that an error about another encoder names."""
        self._folder = EdgeFolder(directory, reindexing)
        self._lock = threading.Lock()
        self._shard: Any = None
        self._cached_vectors: OrderedDict[ToolId, NDArray[np.float32]] = OrderedDict()

    async def setup(self, identity: str, dimension: int) -> None:
        """Open or create the index.

        Raises:
            StoreBusyError: another process owns the folder.
            StoreVersionError: its vectors were made by another encoder.
        """
        await asyncio.to_thread(self._setup, identity, dimension)

    async def put(self, points: Sequence[VectorPoint]) -> None:
        if points:
            await self._run("write vectors", lambda shard: self._put(shard, points))

    async def remove(self, ids: Iterable[ToolId]) -> None:
        if tools := list(ids):
            await self._run("remove vectors", lambda shard: self._remove(shard, tools))

    async def search(
        self, vector: NDArray[np.float32], limit: int, filters: Mapping[str, str] | None = None
    ) -> list[VectorHit]:
        if limit <= 0:
            return []
        hits = await find_with_ties(
            lambda asked: self._run("search", lambda shard: _search_shard(shard, vector, asked, filters or {})),
            limit,
            get_hit_score,
        )
        return rank_results(hits, limit, get_hit_score, get_hit_id)

    async def compute_cosines(self, queries: Vectors, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        tools = list(dict.fromkeys(ids))
        return (
            await self._run("read vectors", lambda shard: self._compute_cosines(shard, queries, tools)) if tools else {}
        )

    async def fetch_vectors(self, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        tools_by_point = {build_point_uuid(tool): tool for tool in ids}
        return await self._run("read vectors", lambda shard: _fetch_vectors(shard, tools_by_point))

    async def fetch_digests(self) -> dict[ToolId, str]:
        return await self._run("list the vectors", _fetch_digests)

    async def count(self) -> int:
        return await self._run("count vectors", _count_points)

    async def close(self) -> None:
        await asyncio.to_thread(self._close)

    def _put(self, shard: Any, points: Sequence[VectorPoint]) -> None:
        self._folder.check_space(sum(point.vector.nbytes + _MAX_PAYLOAD_BYTES for point in points))
        self._evict(point.id for point in points)
        _upsert_points(shard, points)

    def _remove(self, shard: Any, tools: Sequence[ToolId]) -> None:
        self._evict(tools)
        _delete_points(shard, [build_point_uuid(tool) for tool in tools])

    def _evict(self, tools: Iterable[ToolId]) -> None:
        for tool in tools:
            self._cached_vectors.pop(tool, None)

    def _compute_cosines(
        self, shard: Any, queries: Vectors, tools: Sequence[ToolId]
    ) -> dict[ToolId, NDArray[np.float32]]:
        new = _fetch_vectors(
            shard, {build_point_uuid(tool): tool for tool in tools if tool not in self._cached_vectors}
        )
        for tool, row in new.items():
            self._cached_vectors[tool] = row.copy()  # a view would keep the whole array alive
        indexed = [tool for tool in tools if tool in self._cached_vectors]
        if not indexed:
            return {}
        for tool in indexed:
            self._cached_vectors.move_to_end(tool)
        cosines = np.stack([self._cached_vectors[tool] for tool in indexed]) @ queries.T
        while len(self._cached_vectors) > _MAX_CACHED_VECTORS:
            self._cached_vectors.popitem(last=False)
        return dict(zip(indexed, cosines, strict=True))

    async def _run(self, action: str, operation: Callable[[Any], Result]) -> Result:
        return await asyncio.to_thread(self._run_locked, action, operation)

    def _run_locked(self, action: str, operation: Callable[[Any], Result]) -> Result:
        with self._lock, self._folder.translate_errors(action):
            if self._shard is None:
                raise UnavailableError(f"the vector index in {self._folder.root} is not open: call setup first")
            return operation(self._shard)

    def _setup(self, identity: str, dimension: int) -> None:
        with self._lock:
            if self._shard is not None:
                self._folder.check_identity(identity, dimension)
                return
            self._folder.acquire()
            try:
                with self._folder.translate_errors("open the vector index"):
                    self._shard = _open_shard(self._folder, identity, dimension)
            except BaseException:
                self._folder.release()
                raise

    def _close(self) -> None:
        with self._lock:
            shard, self._shard = self._shard, None
            self._cached_vectors.clear()
            try:
                if shard is not None:
                    with self._folder.translate_errors("flush the vector index"):
                        shard.flush()
                        shard.close()
            finally:
                self._folder.release()


@lru_cache(maxsize=65_536)
def build_point_uuid(tool: ToolId) -> UUID:
    """Return the engine's id of a tool's point."""
    return uuid5(_NAMESPACE, tool)


def _open_shard(folder: EdgeFolder, identity: str, dimension: int) -> Any:
    """Load the shard, after creating it if it is missing."""
    import qdrant_edge as edge

    if folder.find_identity() not in (None, (identity, dimension)) and _is_shard_empty(folder.shard):
        # An empty shard of another encoder, left by a build that failed at its start.
        folder.shard.rename(folder.prepare_partial_shard())
    if not folder.shard.exists():
        # Created under another name and renamed when it is complete, so that a crash leaves no half-made shard.
        folder.check_space(0)
        folder.write_identity(identity, dimension)
        partial_shard = folder.prepare_partial_shard()
        # 16 bits a number: searched in half the time, at the cost of 0.00001 in a cosine.
        vectors = edge.EdgeVectorParams(
            size=dimension, distance=edge.Distance.Cosine, datatype=edge.VectorStorageDatatype.Turbo16
        )
        created = edge.EdgeShard.create(str(partial_shard), edge.EdgeConfig(vectors=vectors))
        created.update(edge.UpdateOperation.create_field_index("category", edge.PayloadSchemaType.Keyword))
        created.flush()
        created.close()
        partial_shard.rename(folder.shard)
    folder.check_identity(identity, dimension)
    return edge.EdgeShard.load(str(folder.shard))


def _is_shard_empty(shard_folder: Path) -> bool:
    import qdrant_edge as edge

    shard = edge.EdgeShard.load(str(shard_folder))
    try:
        return _count_points(shard) == 0
    finally:
        shard.close()


def _upsert_points(shard: Any, points: Sequence[VectorPoint]) -> None:
    import qdrant_edge as edge

    rows = [
        edge.Point(
            build_point_uuid(point.id),
            point.vector.tolist(),
            {"id": point.id, "digest": point.digest, "category": point.category},
        )
        for point in points
    ]
    shard.update(edge.UpdateOperation.upsert_points(rows))
    shard.flush()


def _delete_points(shard: Any, point_ids: list[Any]) -> None:
    import qdrant_edge as edge

    shard.update(edge.UpdateOperation.delete_points(point_ids))
    shard.flush()


def _search_shard(shard: Any, vector: NDArray[np.float32], limit: int, filters: Mapping[str, str]) -> list[VectorHit]:
    import qdrant_edge as edge

    conditions: list[Any] = [edge.FieldCondition(key, match=edge.MatchValue(value)) for key, value in filters.items()]
    scored_points = shard.search(
        edge.SearchRequest(
            query=edge.Query.Nearest(vector.tolist()),
            limit=limit,
            filter=edge.Filter(must=conditions) if conditions else None,
            params=edge.SearchParams(exact=True),
            with_payload=["id"],
        )
    )
    return [VectorHit(ToolId(point.payload["id"]), float(point.score)) for point in scored_points]


def _fetch_vectors(shard: Any, tools_by_point: Mapping[UUID, ToolId]) -> dict[ToolId, NDArray[np.float32]]:
    if not tools_by_point:
        return {}
    records = shard.retrieve(list(tools_by_point), with_payload=False, with_vector=True)
    rows = np.array([record.vector for record in records], np.float32)
    return {tools_by_point[record.id]: row for record, row in zip(records, rows, strict=True)}


def _fetch_digests(shard: Any) -> dict[ToolId, str]:
    import qdrant_edge as edge

    digests: dict[ToolId, str] = {}
    offset: Any = None
    while True:
        request = edge.ScrollRequest(offset=offset, limit=_PAGE_SIZE, with_payload=["id", "digest"], with_vector=False)
        records, offset = shard.scroll(request)
        digests.update((ToolId(record.payload["id"]), record.payload["digest"]) for record in records)
        if offset is None:
            return digests


def _count_points(shard: Any) -> int:
    import qdrant_edge as edge

    return int(shard.count(edge.CountRequest(exact=True)))
