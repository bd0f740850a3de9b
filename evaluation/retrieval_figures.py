"""Figures of rankings: means with intervals by group, split, seen and unseen APIs, and paired differences.

``seen`` and ``unseen`` repeat the measures with one half of the relevant APIs each: those on an accepted path of the store's
trajectories or otherwise trained on, and the others; the other half then leaves the ranking, so that finding it is neither
a hit nor a miss. ``zero_shot`` takes nothing out: it holds the requests none of whose relevant APIs was seen.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.tool import ToolId
from evaluation.api_names import ApiName, get_api_name
from evaluation.intervals import bootstrap_intervals
from evaluation.queries import RetrievalQuery
from evaluation.retrieval import MEASURES, ScoredQuery, compute_measure_matrix, group_by_name
from graph.store import GraphStore

ALL = "all"
"""Name of the part with all requests."""
Part = dict[str, Any]
"""Figures of some requests: ``n``, the mean of each measure, and ``intervals`` with both ends for each."""
Row = dict[str, dict[str, Part]]
"""Parts by section (groups, splits, seen, unseen, zero_shot) and name."""


@dataclass(frozen=True, slots=True)
class ApiKnowledge:
    """The relevant APIs that a store knows, and in which way."""

    relevant: frozenset[ApiName]
    documented: frozenset[ApiName]
    """Relevant APIs with a document in the store."""
    seen: frozenset[ApiName]
    """Relevant APIs on a path that the store learnt, or that the encoder was trained on."""


async def collect_api_knowledge(
    queries: Iterable[RetrievalQuery], graph: GraphStore, trained: frozenset[ApiName] = frozenset()
) -> ApiKnowledge:
    """Return what the store knows of the queries' relevant APIs.

    ``trained`` are APIs that the encoder was trained on besides.
    """
    relevant = frozenset[ApiName]().union(*(query.relevant for query in queries))
    documents = await find_documents(graph, relevant)
    walked = frozenset([api for api, tools in documents.items() if await _is_walked(graph, tools)])
    return ApiKnowledge(relevant, frozenset(documents), walked | (relevant & trained))


async def find_documents(graph: GraphStore, apis: frozenset[ApiName]) -> dict[ApiName, list[ToolId]]:
    """Return the documents of each API, including copies in other categories; APIs without one are left out."""
    documents: dict[ApiName, list[ToolId]] = {}
    async for document in graph.stream_documents():
        if (api := get_api_name(document.id)) in apis:
            documents.setdefault(api, []).append(document.id)
    return documents


def compute_row(scored: Sequence[ScoredQuery], knowledge: ApiKnowledge) -> Row:
    """Return the means of every part, 0 to 1, with their 95 % bootstrap intervals over requests."""
    return {
        section: {name: _summarize(compute_measure_matrix(part)) for name, part in parts.items()}
        for section, parts in _split_sections(scored, knowledge).items()
    }


def compare_rankings(scored: Sequence[ScoredQuery], others: Sequence[ScoredQuery], knowledge: ApiKnowledge) -> Row:
    """Return the mean of ``scored`` less ``others``, with paired intervals, for the requests of both.

    Both must have the requests in the same order.
    """
    both = min(len(scored), len(others))
    ours, theirs = _split_sections(scored[:both], knowledge), _split_sections(others[:both], knowledge)
    return {
        section: {
            name: _summarize(compute_measure_matrix(part) - compute_measure_matrix(theirs[section][name]))
            for name, part in parts.items()
        }
        for section, parts in ours.items()
    }


def compute_median_seconds(scored: Sequence[ScoredQuery]) -> float:
    """Return the median wall time of one ranking, in seconds."""
    return median(one.seconds for one in scored) if scored else 0.0


def _split_sections(scored: Sequence[ScoredQuery], knowledge: ApiKnowledge) -> dict[str, dict[str, list[ScoredQuery]]]:
    untouched = [one for one in scored if not one.query.relevant & knowledge.seen]
    return {
        "groups": _group_with_total(scored),
        "splits": group_by_name(scored, lambda query: query.split),
        "seen": _group_with_total(_restrict(scored, knowledge.seen)),
        "unseen": _group_with_total(_restrict(scored, knowledge.relevant - knowledge.seen)),
        "zero_shot": _group_with_total(untouched),
    }


def _group_with_total(scored: Sequence[ScoredQuery]) -> dict[str, list[ScoredQuery]]:
    """Return the rankings by group, and all of them."""
    return {**group_by_name(scored, lambda query: query.group), **({ALL: list(scored)} if scored else {})}


def _summarize(values: NDArray[np.float64]) -> Part:
    means, ends = values.mean(axis=0).tolist(), bootstrap_intervals(values).tolist()
    return {
        "n": len(values),
        **dict(zip(MEASURES, means, strict=True)),
        "intervals": dict(zip(MEASURES, ends, strict=True)),
    }


def _restrict(scored: Iterable[ScoredQuery], apis: frozenset[ApiName]) -> list[ScoredQuery]:
    """Count only ``apis`` as relevant and take the other relevant ones out of the ranking; drop queries without any."""
    restricted: list[ScoredQuery] = []
    for ranking_result in scored:
        relevant = ranking_result.query.relevant & apis
        if relevant:
            others = ranking_result.query.relevant - relevant
            ranking = tuple(api for api in ranking_result.ranking if api not in others)
            restricted.append(
                ScoredQuery(RetrievalQuery(ranking_result.query.split, ranking_result.query.query, relevant), ranking)
            )
    return restricted


async def _is_walked(graph: GraphStore, tools: Sequence[ToolId]) -> bool:
    """Return whether one of the tools lies on an imported path.

    Every node of a path has an edge out of it, the last one to Finish.
    """
    for tool in tools:
        if any(neighbour.edge.imported for neighbour in await graph.get_out_edges(tool)):
            return True
    return False
