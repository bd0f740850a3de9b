"""Views of the indexes without the tools that a user may not see."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from domain.tool import ToolId
from retriever.index import Hit, VectorIndex, Vectors
from retriever.lexical import LexicalMatch, Words


def visible_vectors(index: VectorIndex, hidden: frozenset[ToolId]) -> VectorIndex:
    """Return a view of the index without the hidden tools; the index itself if none is hidden."""
    return cast("VectorIndex", _VisibleVectors(index, hidden)) if hidden else index


def visible_words(words: Words, hidden: frozenset[ToolId]) -> Words:
    """Return a view of the words without those of the hidden tools; the words themselves if none is hidden."""
    return _VisibleWords(words, hidden) if hidden else words


class _VisibleVectors:
    """Vector index without hidden tools; methods that need no restriction are those of the index.

    A search asks for as many more hits as there are hidden tools, so that it never returns too few.
    """

    def __init__(self, index: VectorIndex, hidden: frozenset[ToolId]) -> None:
        self._index = index
        self._hidden = hidden

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    async def search(
        self, vector: NDArray[np.float32], limit: int, where: Mapping[str, str] | None = None
    ) -> list[Hit]:
        if limit <= 0:
            return []
        found = await self._index.search(vector, limit + len(self._hidden), where)
        return [hit for hit in found if hit.id not in self._hidden][:limit]

    async def cosines(self, asked: Vectors, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        return await self._index.cosines(asked, [tool for tool in ids if tool not in self._hidden])

    async def vectors(self, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        return await self._index.vectors([tool for tool in ids if tool not in self._hidden])

    async def digests(self) -> dict[ToolId, str]:
        return {tool: digest for tool, digest in (await self._index.digests()).items() if tool not in self._hidden}


class _VisibleWords:
    """Words without those of hidden tools."""

    def __init__(self, words: Words, hidden: frozenset[ToolId]) -> None:
        self._words = words
        self._hidden = hidden

    async def match(self, text: str) -> LexicalMatch:
        """Score the visible tools, scaled as if the hidden ones did not exist: the best visible one has 1."""
        found = await self._words.match(text)
        rows = [found.rows[tool] for tool in self._hidden if tool in found.rows]
        if not rows:
            return found
        scores = found.scores.copy()
        scores[rows] = 0
        if (best := float(scores.max(initial=0.0))) > 0:
            scores /= best
        return LexicalMatch(found.ids, found.rows, scores)

    async def count(self) -> int:
        return len(await self.ids())

    async def ids(self) -> Sequence[ToolId]:
        return [tool for tool in await self._words.ids() if tool not in self._hidden]
