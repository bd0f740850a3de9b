"""Views of the indexes: without the tools that a user may not see, or as they would be with some more tools.

Views are made in memory for one reader; nothing is written to the underlying indexes.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from domain.errors import UsageError
from domain.tool import ToolDoc, ToolId
from retriever.document_texts import build_dense_text, build_lexical_text, hash_text
from retriever.index import Embedder, VectorHit, VectorIndex, VectorPoint, Vectors
from retriever.lexical import LexicalGeneration, LexicalIndex, LexicalMatch, LexicalParameters, LexicalReader


def restrict_vector_index(index: VectorIndex, hidden: frozenset[ToolId]) -> VectorIndex:
    """Return a view of the index without the hidden tools; the index itself if none is hidden."""
    return cast("VectorIndex", _RestrictedVectorIndex(index, hidden)) if hidden else index


def restrict_lexical_reader(lexical: LexicalReader, hidden: frozenset[ToolId]) -> LexicalReader:
    """Return a view of the BM25 index without the hidden tools; the index itself if none is hidden."""
    return _RestrictedLexicalReader(lexical, hidden) if hidden else lexical


class _RestrictedVectorIndex:
    """Vector index without hidden tools; attributes that need no restriction are those of the underlying index."""

    def __init__(self, index: VectorIndex, hidden: frozenset[ToolId]) -> None:
        self._index = index
        self._hidden = hidden

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    async def search(
        self, vector: NDArray[np.float32], limit: int, filters: Mapping[str, str] | None = None
    ) -> list[VectorHit]:
        if limit <= 0:
            return []
        # In the worst case all hidden tools are among the hits, so ask for as many more.
        hits = await self._index.search(vector, limit + len(self._hidden), filters)
        return [hit for hit in hits if hit.id not in self._hidden][:limit]

    async def compute_cosines(self, queries: Vectors, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        return await self._index.compute_cosines(queries, [tool for tool in ids if tool not in self._hidden])

    async def fetch_vectors(self, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        return await self._index.fetch_vectors([tool for tool in ids if tool not in self._hidden])

    async def fetch_digests(self) -> dict[ToolId, str]:
        return {
            tool: digest for tool, digest in (await self._index.fetch_digests()).items() if tool not in self._hidden
        }


class _RestrictedLexicalReader:
    """BM25 index without hidden tools."""

    def __init__(self, words: LexicalReader, hidden: frozenset[ToolId]) -> None:
        self._words = words
        self._hidden = hidden

    async def match(self, text: str) -> LexicalMatch:
        """Score the visible tools, scaled as if the hidden ones did not exist: the best visible one has 1."""
        matched = await self._words.match(text)
        rows = [matched.rows[tool] for tool in self._hidden if tool in matched.rows]
        if not rows:
            return matched
        scores = matched.scores.copy()
        scores[rows] = 0
        if (best := float(scores.max(initial=0.0))) > 0:
            scores /= best
        return LexicalMatch(matched.ids, matched.rows, scores)

    async def count(self) -> int:
        return len(await self.list_ids())

    async def list_ids(self) -> Sequence[ToolId]:
        return [tool for tool in await self._words.list_ids() if tool not in self._hidden]


class AugmentedVectorIndex:
    """Read-only vector index with additional points, which replace those of the same id."""

    def __init__(self, inner: VectorIndex, points: Sequence[VectorPoint]) -> None:
        self._inner = inner
        self._points = {point.id: point for point in points}

    async def setup(self, identity: str, dimension: int) -> None:
        """Set up the underlying index."""
        await self._inner.setup(identity, dimension)

    async def put(self, points: Sequence[VectorPoint]) -> None:
        """Raise ``UsageError``: this index is read-only."""
        raise UsageError(f"{len(points)} points cannot be kept in a search that is only asked what would be")

    async def remove(self, ids: Iterable[ToolId]) -> None:
        """Raise ``UsageError``: this index is read-only."""
        raise UsageError(f"{len(list(ids))} points cannot be removed from a search that is only asked what would be")

    async def search(
        self, vector: NDArray[np.float32], limit: int, filters: Mapping[str, str] | None = None
    ) -> list[VectorHit]:
        """Return the nearest stored and additional points, best first."""
        # Stored points may be replaced by additional ones: ask for as many more, and drop those.
        inner_hits = [
            hit
            for hit in await self._inner.search(vector, limit + len(self._points), filters)
            if hit.id not in self._points
        ]
        category = (filters or {}).get("category")
        added_hits = [
            VectorHit(point.id, float(point.vector @ vector))
            for point in self._points.values()
            if category in (None, point.category)
        ]
        return sorted([*inner_hits, *added_hits], key=lambda hit: (-hit.score, hit.id))[:limit]

    async def compute_cosines(self, queries: Vectors, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        """Return the cosines of stored and additional points, in the order of ``ids``."""
        tool_ids = list(ids)
        by_tool = await self._inner.compute_cosines(
            queries, [tool_id for tool_id in tool_ids if tool_id not in self._points]
        )
        by_tool |= {tool_id: queries @ self._points[tool_id].vector for tool_id in tool_ids if tool_id in self._points}
        return {tool_id: by_tool[tool_id] for tool_id in tool_ids if tool_id in by_tool}

    async def fetch_vectors(self, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        """Return the vectors of stored and additional points."""
        tool_ids = list(ids)
        by_tool = await self._inner.fetch_vectors([tool_id for tool_id in tool_ids if tool_id not in self._points])
        return by_tool | {tool_id: self._points[tool_id].vector for tool_id in tool_ids if tool_id in self._points}

    async def fetch_digests(self) -> dict[ToolId, str]:
        """Return the digests of stored and additional points."""
        return await self._inner.fetch_digests() | {point.id: point.digest for point in self._points.values()}

    async def count(self) -> int:
        """Return the number of distinct points."""
        return len(await self.fetch_digests())  # an additional point may replace a stored one

    async def close(self) -> None:
        """Leave the underlying index open: others own it."""


class AugmentedLexicalIndex(LexicalIndex):
    """Read-only BM25 index over these texts, built in memory without files."""

    def __init__(self, texts: Mapping[ToolId, str], parameters: LexicalParameters | None = None) -> None:
        super().__init__(Path(), parameters)
        self._texts = dict(sorted(texts.items()))
        self._generation = self._build_generation(self._texts)

    async def put(self, texts: Mapping[ToolId, str]) -> bool:
        """Raise ``UsageError``: this index is read-only."""
        raise UsageError(f"{len(texts)} texts cannot be kept in a search that is only asked what would be")

    async def replace(self, texts: Mapping[ToolId, str]) -> bool:
        """Raise ``UsageError``: this index is read-only."""
        raise UsageError(f"{len(texts)} texts cannot be kept in a search that is only asked what would be")

    async def read_texts(self) -> dict[ToolId, str]:
        """Return all texts."""
        return dict(self._texts)

    async def count(self) -> int:
        """Return the number of texts."""
        return len(self._texts)

    def _build_generation(self, texts: dict[ToolId, str]) -> LexicalGeneration:
        vocabulary, columns = self._build(list(texts.values()))
        ids = list(texts)
        rows = {tool: row for row, tool in enumerate(ids)}
        values, places, starts = (columns[key] for key in ("data", "indices", "indptr"))
        return LexicalGeneration(
            "what if",
            ids,
            rows,
            vocabulary,
            values.astype(np.float32),
            places.astype(np.int32),
            starts.astype(np.int64),
        )

    def _open_current(self) -> LexicalGeneration:
        return self._generation


async def augment_indexes(
    embedder: Embedder, index: VectorIndex, lexical: LexicalIndex, tools: Sequence[ToolDoc]
) -> tuple[VectorIndex, LexicalIndex]:
    """Return both indexes as they would be with these tools added. Raises ``UnavailableError``."""
    texts = [build_dense_text(tool) for tool in tools]
    vectors = await embedder.embed(texts, "document") if texts else np.zeros((0, embedder.dimension), np.float32)
    points = [
        VectorPoint(tool.id, vector, hash_text(text), tool.category)
        for tool, vector, text in zip(tools, vectors, texts, strict=True)
    ]
    words = await lexical.read_texts() | {tool.id: build_lexical_text(tool) for tool in tools}
    return AugmentedVectorIndex(index, points), await asyncio.to_thread(AugmentedLexicalIndex, words)
