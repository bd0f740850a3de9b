"""Which tools could help: the encoder's cosine and BM25, scaled to [0, 1] and summed with weights."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.errors import UsageError
from domain.tool import ToolId, tool_id_parts
from retriever.index import Embedder, VectorIndex
from retriever.lexical import LexicalIndex, LexicalMatch
from retriever.words import standard_name

_REMEMBERED = 64
"""Texts whose vector and BM25 scores are kept: a walk asks about the same request at every node."""


@dataclass(frozen=True, slots=True)
class SearchParameters:
    """``dense_weight``: the cosine's share of the sum; ``candidates``: taken from each side before fusing.

    Chosen on training requests by ``evaluation.tuning`` (docs/benchmarks.md).
    """

    dense_weight: float = 0.5
    candidates: int = 200


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


@dataclass(frozen=True, slots=True)
class _Request:
    vector: NDArray[np.float32]
    match: LexicalMatch


class ToolSearch:
    """Search over the indexed tools. Safe for concurrent use; the arguments must be open and stay so."""

    def __init__(
        self,
        embedder: Embedder,
        index: VectorIndex,
        lexical: LexicalIndex,
        parameters: SearchParameters | None = None,
    ) -> None:
        self._embedder = embedder
        self._index = index
        self._lexical = lexical
        self._parameters = parameters or SearchParameters()
        self._remembered: OrderedDict[str, _Request] = OrderedDict()

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
        asked = (await self._requests([request]))[0]
        pool = max(self._parameters.candidates, 4 * limit)
        dense = {hit.id: hit.score for hit in await self._index.search(asked.vector, pool, where)}
        lexical = await asyncio.to_thread(_lexical_candidates, asked.match, pool, (where or {}).get("category"))
        late = [tool for tool in lexical if tool not in dense]
        dense |= _cosines(asked.vector, await self._index.vectors(late))
        hits = [self._hit(tool, cosine, asked.match) for tool, cosine in dense.items()]
        return _grouped(sorted(hits, key=lambda hit: (-hit.score, hit.id)), limit)

    async def relevance(self, texts: Sequence[str], ids: Sequence[ToolId]) -> dict[ToolId, tuple[float, ...]]:
        """Each text's score against each tool, on the scale of ``ToolHit.score``; 0 for a tool that is not indexed."""
        if not texts or not ids:
            return {tool: (0.0,) * len(texts) for tool in ids}
        asked = await self._requests(texts)
        vectors = await self._index.vectors(ids)
        cosines = [_cosines(one.vector, vectors) for one in asked]
        return {
            tool: tuple(
                self._hit(tool, found[tool], one.match).score if tool in vectors else 0.0
                for one, found in zip(asked, cosines, strict=True)
            )
            for tool in ids
        }

    def _hit(self, tool: ToolId, cosine: float, match: LexicalMatch) -> ToolHit:
        dense, lexical = min(max(cosine, 0.0), 1.0), match.of(tool)
        share = self._parameters.dense_weight
        return ToolHit(tool, share * dense + (1 - share) * lexical, dense, lexical)

    async def _requests(self, texts: Sequence[str]) -> list[_Request]:
        """Vectors and BM25 scores of the texts, from memory where they were asked before."""
        new = [text for text in dict.fromkeys(texts) if text not in self._remembered]
        found = {text: self._remembered[text] for text in texts if text in self._remembered}
        if new:
            matching = asyncio.gather(*(self._lexical.match(text) for text in new))
            vectors, matches = await asyncio.gather(self._embedder.embed(new, "query"), matching)
            for text, vector, match in zip(new, vectors, matches, strict=True):
                found[text] = _Request(vector, match)
        for text, request in found.items():
            self._remembered[text] = request
            self._remembered.move_to_end(text)
        while len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)
        return [found[text] for text in texts]


def _lexical_candidates(match: LexicalMatch, limit: int, category: str | None) -> list[ToolId]:
    if category is None:
        return match.best(limit)
    return match.best(limit, np.array([tool_id_parts(tool)[0] == category for tool in match.ids], np.bool_))


def _cosines(vector: NDArray[np.float32], vectors: Mapping[ToolId, NDArray[np.float32]]) -> dict[ToolId, float]:
    if not vectors:
        return {}
    products = np.stack(list(vectors.values())) @ vector
    return dict(zip(vectors, products.tolist(), strict=True))


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
