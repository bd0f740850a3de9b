"""Indexes as they would be with some more tools, in memory: nothing is written, and no other reader sees them."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from domain.errors import UsageError
from domain.tool import ToolDoc, ToolId
from retriever.documents import dense_text, digest, lexical_text
from retriever.index import Embedder, Hit, Point, VectorIndex, Vectors
from retriever.lexical import LexicalIndex, LexicalParameters
from retriever.lexical_files import Generation


class VectorsWith:
    """Read-only vector index with additional points, which replace those of the same id."""

    def __init__(self, inner: VectorIndex, points: Sequence[Point]) -> None:
        self._inner = inner
        self._points = {point.id: point for point in points}

    async def setup(self, identity: str, dimension: int) -> None:
        """Set up the underlying index."""
        await self._inner.setup(identity, dimension)

    async def put(self, points: Sequence[Point]) -> None:
        """Raise ``UsageError``: this index is read-only."""
        raise UsageError(f"{len(points)} points cannot be kept in a search that is only asked what would be")

    async def remove(self, ids: Iterable[ToolId]) -> None:
        """Raise ``UsageError``: this index is read-only."""
        raise UsageError(f"{len(list(ids))} points cannot be removed from a search that is only asked what would be")

    async def search(
        self, vector: NDArray[np.float32], limit: int, where: Mapping[str, str] | None = None
    ) -> list[Hit]:
        """Return the nearest stored and additional points, best first."""
        found = [
            hit
            for hit in await self._inner.search(vector, limit + len(self._points), where)
            if hit.id not in self._points
        ]
        category = (where or {}).get("category")
        own = [
            Hit(point.id, float(point.vector @ vector))
            for point in self._points.values()
            if category in (None, point.category)
        ]
        return sorted([*found, *own], key=lambda hit: (-hit.score, hit.id))[:limit]

    async def cosines(self, asked: Vectors, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        """Return the cosines of stored and additional points, in the order of ``ids``."""
        wanted = list(ids)
        found = await self._inner.cosines(asked, [one for one in wanted if one not in self._points])
        found |= {one: asked @ self._points[one].vector for one in wanted if one in self._points}
        return {one: found[one] for one in wanted if one in found}

    async def vectors(self, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        """Return the vectors of stored and additional points."""
        wanted = list(ids)
        found = await self._inner.vectors([one for one in wanted if one not in self._points])
        return found | {one: self._points[one].vector for one in wanted if one in self._points}

    async def digests(self) -> dict[ToolId, str]:
        """Return the digests of stored and additional points."""
        return await self._inner.digests() | {point.id: point.digest for point in self._points.values()}

    async def count(self) -> int:
        """Return the number of distinct points."""
        return len(await self.digests())  # an additional point may replace a stored one

    async def close(self) -> None:
        """Leave the underlying index open: others own it."""


class WordsWith(LexicalIndex):
    """Read-only lexical index over these texts, built in memory without files."""

    def __init__(self, texts: Mapping[ToolId, str], parameters: LexicalParameters | None = None) -> None:
        super().__init__(Path(), parameters)
        self._texts = dict(sorted(texts.items()))
        self._whole = self._made(self._texts)

    async def put(self, texts: Mapping[ToolId, str]) -> bool:
        """Raise ``UsageError``: this index is read-only."""
        raise UsageError(f"{len(texts)} texts cannot be kept in a search that is only asked what would be")

    async def replace(self, texts: Mapping[ToolId, str]) -> bool:
        """Raise ``UsageError``: this index is read-only."""
        raise UsageError(f"{len(texts)} texts cannot be kept in a search that is only asked what would be")

    async def texts(self) -> dict[ToolId, str]:
        """Return all texts."""
        return dict(self._texts)

    async def count(self) -> int:
        """Return the number of texts."""
        return len(self._texts)

    def _made(self, texts: dict[ToolId, str]) -> Generation:
        vocabulary, columns = self._build(list(texts.values()))
        ids = list(texts)
        rows = {tool: row for row, tool in enumerate(ids)}
        values, places, starts = (columns[key] for key in ("data", "indices", "indptr"))
        return Generation(
            "what if",
            ids,
            rows,
            vocabulary,
            values.astype(np.float32),
            places.astype(np.int32),
            starts.astype(np.int64),
        )

    def _current(self) -> Generation:
        return self._whole


async def with_tools(
    embedder: Embedder, index: VectorIndex, lexical: LexicalIndex, tools: Sequence[ToolDoc]
) -> tuple[VectorIndex, LexicalIndex]:
    """Return both indexes as they would be with these tools added."""
    texts = [dense_text(tool) for tool in tools]
    vectors = await embedder.embed(texts, "document") if texts else np.zeros((0, embedder.dimension), np.float32)
    points = [
        Point(tool.id, vector, digest(text), tool.category)
        for tool, vector, text in zip(tools, vectors, texts, strict=True)
    ]
    words = await lexical.texts() | {tool.id: lexical_text(tool) for tool in tools}
    return VectorsWith(index, points), await asyncio.to_thread(WordsWith, words)
