"""Vector index in memory with exact search, the reference for other indexes."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from domain.errors import StoreVersionError, UnavailableError
from domain.ranking import rank_results
from domain.tool import ToolId
from retriever.index import VectorHit, VectorPoint, Vectors, get_hit_id, get_hit_score


class ExactIndex:
    """Vector index in memory; ties are broken by id."""

    def __init__(self) -> None:
        self._points: dict[ToolId, VectorPoint] = {}
        self._identity: tuple[str, int] | None = None
        self._open = False

    async def setup(self, identity: str, dimension: int) -> None:
        if self._points and self._identity != (identity, dimension):
            raise StoreVersionError(f"the index holds vectors of {self._identity}, not of {(identity, dimension)}")
        self._identity = (identity, dimension)
        self._open = True

    async def put(self, points: Sequence[VectorPoint]) -> None:
        self._require_open()
        self._points.update({point.id: point for point in points})

    async def remove(self, ids: Iterable[ToolId]) -> None:
        self._require_open()
        for tool in ids:
            self._points.pop(tool, None)

    async def search(
        self, vector: NDArray[np.float32], limit: int, filters: Mapping[str, str] | None = None
    ) -> list[VectorHit]:
        self._require_open()
        conditions = dict(filters or {})
        points = [
            point for point in self._points.values() if conditions.items() <= {"category": point.category}.items()
        ]
        hits = [VectorHit(point.id, float(point.vector @ vector)) for point in points]
        return rank_results(hits, limit, get_hit_score, get_hit_id)

    async def compute_cosines(self, queries: Vectors, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        return {tool: queries @ vector for tool, vector in (await self.fetch_vectors(ids)).items()}

    async def fetch_vectors(self, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        self._require_open()
        return {tool: self._points[tool].vector for tool in ids if tool in self._points}

    async def fetch_digests(self) -> dict[ToolId, str]:
        self._require_open()
        return {tool: point.digest for tool, point in self._points.items()}

    async def count(self) -> int:
        self._require_open()
        return len(self._points)

    async def close(self) -> None:
        self._open = False

    def _require_open(self) -> None:
        if not self._open:
            raise UnavailableError("the vector index is not open: call setup first")
