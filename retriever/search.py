"""Search for the tools of a request.

Candidates are scored by the weighted sum of the encoder's cosine and BM25, each scaled to [0, 1], and ordered by it
or by a re-ranker.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from domain.errors import UsageError
from domain.tool import ToolId
from retriever.candidates import CandidateGatherer, GatheredCandidates, combine_part_scores
from retriever.experience import Precedent, ToolExperience
from retriever.features import ScoredCandidates, compute_features
from retriever.index import Embedder, VectorIndex
from retriever.lexical import LexicalReader
from retriever.reranker import Reranker
from retriever.words import normalize_tool_name


@dataclass(frozen=True, slots=True)
class SearchParameters:
    """Parameters of the search, chosen on training requests (``scripts/tune_retrieval.py``)."""

    dense_weight: float = 0.5
    """The cosine's share of the fused score."""
    candidates: int = 60
    """Number of candidates from the vectors, and as many from the words, before their scores are fused."""


@dataclass(frozen=True, slots=True)
class ToolHit:
    """A tool that a search found; its three scores are in [0, 1], ``odds`` are unbounded."""

    id: ToolId
    score: float
    """Fused score."""
    dense: float
    """Calibrated cosine."""
    lexical: float
    """Scaled BM25 score."""
    alike: tuple[ToolId, ...] = ()
    """Ids of lower-ranked copies: the same API of the same tool set in another spelling or category."""
    odds: float | None = None
    """The re-ranker's score, by which hits are ordered; None without a re-ranker."""


class ToolSearch:
    """Search over the indexed tools. Safe for concurrent use; the indexes must stay open."""

    def __init__(
        self,
        embedder: Embedder,
        index: VectorIndex,
        lexical: LexicalReader,
        parameters: SearchParameters | None = None,
        reranker: Reranker | None = None,
        experience: ToolExperience | None = None,
    ) -> None:
        self._parameters = parameters or SearchParameters()
        self._gatherer = CandidateGatherer(embedder, index, lexical, self._parameters.dense_weight, experience)
        self._reranker = reranker

    @property
    def reranks(self) -> bool:
        """Return whether a re-ranker orders the hits."""
        return self._reranker is not None

    async def find_tools(self, request: str, limit: int, filters: Mapping[str, str] | None = None) -> list[ToolHit]:
        """Return the best tools, best first, copies grouped; ``filters`` may name a ``category``.

        With a re-ranker the hits are in its order, so ``score`` is not descending.

        Raises:
            UsageError: ``filters`` names something else.
            UnavailableError: an index cannot be read.
        """
        if unknown := set(filters or {}) - {"category"}:
            raise UsageError(f"tools cannot be filtered by {', '.join(sorted(unknown))}; there is: category")
        (hits,) = await self._search([request], limit, (filters or {}).get("category"))
        return hits

    async def find_tools_for_all(self, requests: Sequence[str], limit: int) -> list[list[ToolHit]]:
        """Return the best tools of each request, in order, as :meth:`find_tools` does.

        Requests share the reads of the stores.
        """
        return await self._search(requests, limit)

    async def _search(self, requests: Sequence[str], limit: int, category: str | None = None) -> list[list[ToolHit]]:
        distinct_requests = [request for request in dict.fromkeys(requests) if request.strip()] if limit > 0 else []
        size = max(self._parameters.candidates, 2 * limit)
        pools = await self._gatherer.gather(distinct_requests, size, category, widen=self._reranker is not None)
        hits_by_request = {
            request: _group_copies(await self._rank(pool), limit)
            for request, pool in zip(distinct_requests, pools, strict=True)
        }
        return [hits_by_request.get(request, []) for request in requests]

    async def count_tools(self) -> int:
        """Return the number of indexed tools."""
        return await self._gatherer.count_tools()

    async def find_precedents(self, request: str, limit: int) -> Sequence[Precedent]:
        """Return the past requests most similar to this one, best first; none without experience."""
        return await self._gatherer.find_precedents(request, limit)

    async def score_relevance(self, texts: Sequence[str], ids: Sequence[ToolId]) -> dict[ToolId, tuple[float, ...]]:
        """Return for each tool its fused score for each text, in order.

        Scores are as ``ToolHit.score``, and 0 for a tool that is not indexed.
        """
        if not texts or not ids:
            return dict.fromkeys(ids, (0.0,) * len(texts))
        scores_by_text = [
            dict(zip(candidates.ids, candidates.fused.tolist(), strict=True))
            for candidates in await self._gatherer.score_tools(texts, ids)
        ]
        return {tool: tuple(scores_by_tool.get(tool, 0.0) for scores_by_tool in scores_by_text) for tool in ids}

    async def _rank(self, pool: GatheredCandidates) -> list[ToolHit]:
        """Rank the candidates, best first; ties are ordered by id."""
        candidates = pool.candidates
        hits = _build_hits(candidates)
        if not self._reranker or not hits:
            return sorted(hits, key=lambda hit: (-hit.score, hit.id))
        odds_by_row = self._reranker.score(
            await asyncio.to_thread(compute_features, candidates, pool.transitions, pool.precedents)
        )
        ranked = [replace(hit, odds=odds) for hit, odds in zip(hits, odds_by_row.tolist(), strict=True)]
        return sorted(ranked, key=lambda hit: (-(hit.odds or 0.0), hit.id))


def _build_hits(candidates: ScoredCandidates) -> list[ToolHit]:
    dense, lexical = combine_part_scores(candidates.cosines), combine_part_scores(candidates.bm25)
    rows = zip(candidates.ids, candidates.fused.tolist(), dense.tolist(), lexical.tolist(), strict=True)
    return [ToolHit(*row) for row in rows]


def _group_copies(hits: Iterable[ToolHit], limit: int) -> list[ToolHit]:
    """Return the first hit of each group of copies, with the ids of the others; at most ``limit`` groups."""
    groups: dict[tuple[str, str], list[ToolHit]] = {}
    for hit in hits:
        groups.setdefault(normalize_tool_name(hit.id), []).append(hit)
    return [
        replace(first, alike=tuple(other.id for other in others)) if others else first
        for first, *others in list(groups.values())[:limit]
    ]
