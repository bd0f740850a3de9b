"""Rank tools for requests with known relevant APIs, and compute how well the rankings match.

Every relevant API counts, even one without a document: it can only be missed. In the figures, ``seen`` and ``unseen``
repeat the measures for one half of the relevant APIs each: those that the store or the encoder learnt from, and the
others. The other half is taken out of the ranking, so that finding it is neither a hit nor a miss. ``zero_shot`` has
the requests none of whose relevant APIs was seen, with nothing taken out.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evaluation.api_names import ApiName, get_api_name
from evaluation.queries import RetrievalQuery
from retriever.metrics import (
    compute_completeness,
    compute_lenient_ndcg,
    compute_ndcg,
    compute_recall,
    compute_reciprocal_rank,
)
from retriever.search import ToolHit

DEPTH = 50
"""Tools searched for; a first relevant tool below this rank has the reciprocal rank 0."""

LENIENT = "ndcg@5 lenient (ToolGen)"
"""The value that ToolGen's code reports as NDCG@5, which it is not; only for comparison with its figures."""

Measure = Callable[[Sequence[ApiName], frozenset[ApiName]], float]
MEASURES: Mapping[str, Measure] = {
    "ndcg@1": lambda ranking, relevant: compute_ndcg(ranking, relevant, 1),
    "ndcg@5": lambda ranking, relevant: compute_ndcg(ranking, relevant, 5),
    LENIENT: lambda ranking, relevant: compute_lenient_ndcg(ranking, relevant, 5),
    "recall@5": lambda ranking, relevant: compute_recall(ranking, relevant, 5),
    "recall@10": lambda ranking, relevant: compute_recall(ranking, relevant, 10),
    "comp@5": lambda ranking, relevant: compute_completeness(ranking, relevant, 5),
    "mrr": compute_reciprocal_rank,
}
"""Measures of a ranking by name, each in [0, 1]."""

Figures = dict[str, float]
Table = dict[str, Figures]


class RetrievalSearch(Protocol):
    """The search that is evaluated."""

    async def find_tools(self, request: str, limit: int) -> list[ToolHit]: ...


@dataclass(frozen=True, slots=True)
class ScoredQuery:
    """A query with its ranking."""

    query: RetrievalQuery
    ranking: tuple[ApiName, ...]
    """Keys of the tools found, best first, each once."""
    seconds: float = 0.0
    """Wall time of the search."""


Scores = dict[str, list[ScoredQuery]]
"""Rankings by the name of their search, of the same queries in the same order."""


async def rank(
    queries: Sequence[RetrievalQuery],
    search: RetrievalSearch,
    depth: int,
    progress: Callable[[int], None] | None = None,
) -> list[ScoredQuery]:
    """Return the first ``depth`` tools of every query."""
    scored: Scores = {}
    await rank_all(queries, {"": search}, scored, depth, progress)
    return scored.get("", [])


async def rank_all(
    queries: Sequence[RetrievalQuery],
    searches: Mapping[str, RetrievalSearch],
    into: Scores,
    depth: int = DEPTH,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Run every query with every search, query by query, so that the results compare fairly whenever it is stopped.

    ``into`` receives the rankings. ``progress`` gets the number of queries done.
    """
    for done, query in enumerate(queries, 1):
        results = {
            name: await _rank_query(query, search.find_tools(query.query, depth)) for name, search in searches.items()
        }
        for name, result in results.items():
            into.setdefault(name, []).append(result)
        if progress:
            progress(done)


async def _rank_query(query: RetrievalQuery, finding: Awaitable[list[ToolHit]]) -> ScoredQuery:
    began = time.perf_counter()
    hits = await finding
    return ScoredQuery(query, tuple(dict.fromkeys(get_api_name(hit.id) for hit in hits)), time.perf_counter() - began)


def compute_measures(ranking: Sequence[ApiName], relevant: frozenset[ApiName]) -> Figures:
    """Return all measures of one ranking."""
    return {name: measure(ranking, relevant) for name, measure in MEASURES.items()}


def compute_measure_matrix(scored: Sequence[ScoredQuery]) -> NDArray[np.float64]:
    """Return the measures of each ranking, in [0, 1], as an array of shape (n, number of measures).

    Columns are in the order of ``MEASURES``.
    """
    rows = [[*compute_measures(one.ranking, one.query.relevant).values()] for one in scored]
    return np.asarray(rows, dtype=float).reshape(len(rows), len(MEASURES))


def group_by_name(scored: Iterable[ScoredQuery], name: Callable[[RetrievalQuery], str]) -> dict[str, list[ScoredQuery]]:
    """Return the rankings by the name that ``name`` gives their query, in the order of the names."""
    parts: dict[str, list[ScoredQuery]] = {}
    for result in scored:
        parts.setdefault(name(result.query), []).append(result)
    return {part: parts[part] for part in sorted(parts)}


def tabulate_means(scored: Iterable[ScoredQuery], name: Callable[[RetrievalQuery], str]) -> Table:
    """Return means of the measures over the queries of each name, in the order of the names."""
    return {
        part: {"n": len(rows), **dict(zip(MEASURES, compute_measure_matrix(rows).mean(axis=0).tolist(), strict=True))}
        for part, rows in group_by_name(scored, name).items()
    }
