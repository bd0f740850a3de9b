"""Which tools could help: the encoder's cosine and BM25, scaled to [0, 1] and summed with weights."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.errors import UsageError
from domain.tool import ToolId, tool_id_parts
from retriever.index import Embedder, VectorIndex
from retriever.lexical import LexicalIndex
from retriever.request import ReadyRequest, RequestReader
from retriever.words import standard_name


@dataclass(frozen=True, slots=True)
class SearchParameters:
    """``dense_weight``: the cosine's share of the sum; ``candidates``: taken from each side before fusing.

    Chosen on training requests by ``scripts/tune_retrieval.py`` (docs/benchmarks.md).
    """

    dense_weight: float = 0.5
    candidates: int = 60


@dataclass(frozen=True, slots=True)
class ToolHit:
    """A tool with its fused score, the scaled cosine and the scaled BM25 score, all in [0, 1].

    ``alike`` are the ids of lower-ranked copies: the same API of the same tool set in another spelling or category.
    """

    id: ToolId
    score: float
    dense: float
    lexical: float
    alike: tuple[ToolId, ...] = ()


class ToolSearch:
    """Search over the indexed tools. Safe for concurrent use; the arguments must be open and stay so."""

    def __init__(
        self,
        embedder: Embedder,
        index: VectorIndex,
        lexical: LexicalIndex,
        parameters: SearchParameters | None = None,
    ) -> None:
        self._reader = RequestReader(embedder, lexical)
        self._index = index
        self._parameters = parameters or SearchParameters()

    async def start_tools(self, request: str, limit: int, where: Mapping[str, str] | None = None) -> list[ToolHit]:
        """The best tools, best first, look-alikes grouped; ``where`` may name a ``category``.

        Raises:
            UsageError: ``where`` names something else.
            UnavailableError: an index cannot be read.
        """
        if unknown := set(where or {}) - {"category"}:
            raise UsageError(f"tools cannot be filtered by {', '.join(sorted(unknown))}; there is: category")
        if limit <= 0 or not request.strip():
            return []
        (asked,) = await self._reader.read([request])
        pool = max(self._parameters.candidates, 2 * limit)
        near, worded = await asyncio.gather(
            self._index.search(asked.whole, pool, where),
            asyncio.to_thread(_worded, asked, pool, (where or {}).get("category")),
        )
        found = dict.fromkeys([hit.id for hit in near] + worded)
        hits = self._fused(asked, await self._index.vectors(found))
        return _grouped(sorted(hits, key=lambda hit: (-hit.score, hit.id)), limit)

    async def relevance(self, texts: Sequence[str], ids: Sequence[ToolId]) -> dict[ToolId, tuple[float, ...]]:
        """Each text's score against each tool, on the scale of ``ToolHit.score``; 0 for a tool that is not indexed."""
        if not texts or not ids:
            return dict.fromkeys(ids, (0.0,) * len(texts))
        asked = await self._reader.read(texts)
        vectors = await self._index.vectors(ids)
        scores = [{hit.id: hit.score for hit in self._fused(one, vectors)} for one in asked]
        return {tool: tuple(found.get(tool, 0.0) for found in scores) for tool in ids}

    def _fused(self, asked: ReadyRequest, vectors: Mapping[ToolId, NDArray[np.float32]]) -> list[ToolHit]:
        dense, lexical = asked.score(vectors)
        share = self._parameters.dense_weight
        fused = share * dense + (1 - share) * lexical
        rows = zip(vectors, fused.tolist(), dense.tolist(), lexical.tolist(), strict=True)
        return [ToolHit(*row) for row in rows]


def _worded(asked: ReadyRequest, limit: int, category: str | None) -> list[ToolId]:
    """Candidates by words, from the whole request and from each sentence."""
    first = asked.matches[0]
    allowed = None
    if category is not None:
        allowed = np.array([tool_id_parts(tool)[0] == category for tool in first.ids], np.bool_)
    share = limit // len(asked.matches) + 1
    found = first.best(limit, allowed)
    # Where the index was swapped between two sentences, their rows differ: those of the whole request count.
    for match in asked.matches[1:]:
        if match.ids is first.ids:
            found += match.best(share, allowed)
    return found


def _grouped(hits: Iterable[ToolHit], limit: int) -> list[ToolHit]:
    """The first of each group of look-alikes, with the others' ids."""
    groups: dict[tuple[str, str], list[ToolHit]] = {}
    for hit in hits:
        _, toolset, api = tool_id_parts(hit.id)
        groups.setdefault((standard_name(toolset), standard_name(api)), []).append(hit)
    return [
        ToolHit(first.id, first.score, first.dense, first.lexical, tuple(other.id for other in others))
        for first, *others in list(groups.values())[:limit]
    ]
