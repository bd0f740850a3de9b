"""Rankings of tools for requests whose relevant APIs are known, and how well they match.

Every relevant API counts, one without a document too: it can only be missed.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evaluation.api_keys import Key, key_of
from evaluation.queries import Query
from retriever.metrics import complete, lenient_ndcg, ndcg, recall, reciprocal_rank
from retriever.search import ToolHit

DEPTH = 50
"""Tools asked for: the reciprocal rank of a first relevant tool below counts 0."""

LENIENT = "ndcg@5 lenient (ToolGen)"
"""Not NDCG: what the ToolGen line prints under that name. Beside its figures only."""

Measure = Callable[[Sequence[Key], frozenset[Key]], float]
MEASURES: Mapping[str, Measure] = {
    "ndcg@1": lambda ranking, relevant: ndcg(ranking, relevant, 1),
    "ndcg@5": lambda ranking, relevant: ndcg(ranking, relevant, 5),
    LENIENT: lambda ranking, relevant: lenient_ndcg(ranking, relevant, 5),
    "recall@5": lambda ranking, relevant: recall(ranking, relevant, 5),
    "recall@10": lambda ranking, relevant: recall(ranking, relevant, 10),
    "comp@5": lambda ranking, relevant: complete(ranking, relevant, 5),
    "mrr": reciprocal_rank,
}

Figures = dict[str, float]
Table = dict[str, Figures]


class Search(Protocol):
    """What is measured."""

    async def start_tools(self, request: str, limit: int) -> list[ToolHit]: ...


@dataclass(frozen=True, slots=True)
class Scored:
    """A query with the keys of the tools found for it, best first, each once. ``seconds``: wall time of finding them."""

    query: Query
    ranking: tuple[Key, ...]
    seconds: float = 0.0


Scores = dict[str, list[Scored]]
"""Rankings by the name of their search, of the same queries in the same order."""


async def rank(
    queries: Sequence[Query], search: Search, depth: int, progress: Callable[[int], None] | None = None
) -> list[Scored]:
    """The first ``depth`` tools of every query."""
    scored: Scores = {}
    await rank_all(queries, {"": search}, scored, depth, progress)
    return scored.get("", [])


async def rank_all(
    queries: Sequence[Query],
    searches: Mapping[str, Search],
    into: Scores,
    depth: int = DEPTH,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Every query with every search, query by query: what is in ``into`` compares fairly whenever it is stopped.

    ``progress`` gets the number of queries done.
    """
    for done, query in enumerate(queries, 1):
        found = {
            name: await _ranked(query, search.start_tools(query.query, depth)) for name, search in searches.items()
        }
        for name, one in found.items():
            into.setdefault(name, []).append(one)
        if progress:
            progress(done)


async def _ranked(query: Query, finding: Awaitable[list[ToolHit]]) -> Scored:
    began = time.perf_counter()
    hits = await finding
    return Scored(query, tuple(dict.fromkeys(key_of(hit.id) for hit in hits)), time.perf_counter() - began)


def measures(ranking: Sequence[Key], relevant: frozenset[Key]) -> Figures:
    """All measures of one ranking."""
    return {name: measure(ranking, relevant) for name, measure in MEASURES.items()}


def measured(scored: Sequence[Scored]) -> NDArray[np.float64]:
    """The measures of each ranking, in [0, 1]: shape (n, number of measures), columns in the order of ``MEASURES``."""
    rows = [[*measures(one.ranking, one.query.relevant).values()] for one in scored]
    return np.asarray(rows, dtype=float).reshape(len(rows), len(MEASURES))


def by_name(scored: Iterable[Scored], name: Callable[[Query], str]) -> dict[str, list[Scored]]:
    """The rankings of the queries of each name, in the order of the names."""
    parts: dict[str, list[Scored]] = {}
    for one in scored:
        parts.setdefault(name(one.query), []).append(one)
    return {part: parts[part] for part in sorted(parts)}


def table(scored: Iterable[Scored], name: Callable[[Query], str]) -> Table:
    """Means of the measures over the queries of each name, in the order of the names."""
    return {
        part: {"n": len(rows), **dict(zip(MEASURES, measured(rows).mean(axis=0).tolist(), strict=True))}
        for part, rows in by_name(scored, name).items()
    }
