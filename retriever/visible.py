"""Views of the indexes: without the tools that a user may not see, or as they would be with some more tools.

Views are made in memory for one reader; nothing is written to the underlying indexes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from domain.tool import ToolId
from retriever.index import VectorHit, VectorIndex, Vectors
from retriever.lexical import LexicalMatch, WordIndex


def restrict_vectors(index: VectorIndex, hidden: frozenset[ToolId]) -> VectorIndex:
    """Return a view of the index without the hidden tools; the index itself if none is hidden."""
    return cast("VectorIndex", _VisibleVectors(index, hidden)) if hidden else index


def restrict_words(words: WordIndex, hidden: frozenset[ToolId]) -> WordIndex:
    """Return a view of the BM25 index without the hidden tools; the index itself if none is hidden."""
    return _VisibleWords(words, hidden) if hidden else words


class _VisibleVectors:
    """Vector index without hidden tools; attributes that need no restriction are those of the underlying index."""

    def __init__(self, index: VectorIndex, hidden: frozenset[ToolId]) -> None:
        self._index = index
        self._hidden = hidden

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    async def search(
        self, vector: NDArray[np.float32], limit: int, where: Mapping[str, str] | None = None
    ) -> list[VectorHit]:
        if limit <= 0:
            return []
        # In the worst case all hidden tools are among the hits, so ask for as many more.
        hits = await self._index.search(vector, limit + len(self._hidden), where)
        return [hit for hit in hits if hit.id not in self._hidden][:limit]

    async def compute_cosines(self, queries: Vectors, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        return await self._index.compute_cosines(queries, [tool for tool in ids if tool not in self._hidden])

    async def fetch_vectors(self, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        return await self._index.fetch_vectors([tool for tool in ids if tool not in self._hidden])

    async def fetch_digests(self) -> dict[ToolId, str]:
        return {
            tool: digest for tool, digest in (await self._index.fetch_digests()).items() if tool not in self._hidden
        }


class _VisibleWords:
    """BM25 index without hidden tools."""

    def __init__(self, words: WordIndex, hidden: frozenset[ToolId]) -> None:
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
