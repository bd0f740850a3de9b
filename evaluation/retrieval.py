"""How well the start tools match requests whose relevant APIs are known.

Every relevant API counts, one without a document too: it can only be missed. ``seen`` and ``unseen`` repeat the measures
with one half of the relevant APIs each: those on an accepted path of the store's trajectories, and the others; the other
half then leaves the ranking, so that finding it is neither a hit nor a miss.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.tool import ToolId
from evaluation.names import Key, key_of
from evaluation.queries import Query
from graph.store import GraphStore
from retriever.metrics import complete, ndcg, recall, reciprocal_rank
from retriever.search import ToolHit

DEPTH = 50
"""Tools asked for: the reciprocal rank of a first relevant tool below counts 0."""

Figures = dict[str, float]
Table = dict[str, Figures]


class Search(Protocol):
    """What is measured."""

    async def start_tools(self, request: str, limit: int) -> list[ToolHit]: ...


@dataclass(frozen=True, slots=True)
class Scored:
    """A query with the keys of the tools found for it, best first, each once."""

    query: Query
    ranking: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    """Means over requests, 0 to 1, by group and by split. ``relevant`` counts distinct APIs, ``missing`` those without a document."""

    groups: Table
    splits: Table
    seen: Table
    unseen: Table
    relevant: int
    missing: int
    seconds: float


async def evaluate_retrieval(
    queries: Sequence[Query],
    search: Search,
    graph: GraphStore,
    progress: Callable[[int], None] | None = None,
) -> RetrievalReport:
    """Rank tools for every query and score the rankings. ``progress`` gets the number of queries done."""
    start = time.perf_counter()
    scored = await rank(queries, search, DEPTH, progress)
    seconds = time.perf_counter() - start
    relevant = frozenset[Key]().union(*(query.relevant for query in queries))
    documents = await _documents(graph, relevant)
    seen = {api for api, tools in documents.items() if await _walked(graph, tools)}
    return RetrievalReport(
        groups=table(scored, lambda query: query.group),
        splits=table(scored, lambda query: query.split),
        seen=table(_restricted(scored, seen), lambda query: query.group),
        unseen=table(_restricted(scored, relevant - seen), lambda query: query.group),
        relevant=len(relevant),
        missing=len(relevant - documents.keys()),
        seconds=seconds,
    )


async def rank(
    queries: Sequence[Query], search: Search, depth: int, progress: Callable[[int], None] | None = None
) -> list[Scored]:
    """The first ``depth`` tools of every query."""
    scored: list[Scored] = []
    for query in queries:
        hits = await search.start_tools(query.query, depth)
        scored.append(Scored(query, tuple(dict.fromkeys(key_of(hit.id) for hit in hits))))
        if progress:
            progress(len(scored))
    return scored


def table(scored: Iterable[Scored], name: Callable[[Query], str]) -> Table:
    """Means of the measures over the queries of each name, in the order of the names."""
    parts: dict[str, list[Scored]] = {}
    for one in scored:
        parts.setdefault(name(one.query), []).append(one)
    return {part: _means(parts[part]) for part in sorted(parts)}


def measures(ranking: Sequence[Key], relevant: frozenset[Key]) -> Figures:
    """All measures of one ranking."""
    return {
        "ndcg@1": ndcg(ranking, relevant, 1),
        "ndcg@5": ndcg(ranking, relevant, 5),
        "recall@5": recall(ranking, relevant, 5),
        "recall@10": recall(ranking, relevant, 10),
        "comp@5": complete(ranking, relevant, 5),
        "mrr": reciprocal_rank(ranking, relevant),
    }


def _means(part: Sequence[Scored]) -> Figures:
    rows = [measures(one.ranking, one.query.relevant) for one in part]
    return {"n": len(rows), **{name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}}


def _restricted(scored: Iterable[Scored], apis: set[Key] | frozenset[Key]) -> list[Scored]:
    """Only ``apis`` count as relevant, the other relevant ones leave the ranking; queries without any are left out."""
    found: list[Scored] = []
    for one in scored:
        kept = one.query.relevant & apis
        if kept:
            others = one.query.relevant - kept
            ranking = tuple(api for api in one.ranking if api not in others)
            found.append(Scored(Query(one.query.split, one.query.query, kept), ranking))
    return found


async def _documents(graph: GraphStore, apis: frozenset[Key]) -> dict[Key, list[ToolId]]:
    """The documents of each API, copies in other categories included; APIs without one are left out."""
    found: dict[Key, list[ToolId]] = {}
    async for document in graph.documents():
        if (api := key_of(document.id)) in apis:
            found.setdefault(api, []).append(document.id)
    return found


async def _walked(graph: GraphStore, tools: Sequence[ToolId]) -> bool:
    """Whether one of them lies on an imported path: every node of a path has an edge out of it, the last one to Finish."""
    for tool in tools:
        if any(neighbour.edge.imported for neighbour in await graph.out_edges(tool)):
            return True
    return False
