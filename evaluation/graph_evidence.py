"""Groups of requests by how far the graph could help: whether past paths join their relevant APIs."""

from collections.abc import Collection, Sequence

from domain.tool import FINISH
from evaluation.api_names import ApiName, get_api_name
from evaluation.planning import PlannedQuery
from graph.store import GraphStore

LINKED, WALKED, UNKNOWN = "relevant APIs joined", "a relevant API walked", "no relevant API walked"
ApiPairs = frozenset[tuple[ApiName, ApiName]]
"""Pairs of APIs that an edge joins; an API that was walked at all is paired with itself."""


async def collect_linked_pairs(store: GraphStore) -> ApiPairs:
    """Return the ends of every edge between tools as keys, and ``(key, key)`` for every tool that was walked."""
    linked: set[tuple[ApiName, ApiName]] = set()
    async for edge in store.stream_edges():
        source = get_api_name(edge.source)
        linked.add((source, source))
        if edge.target != FINISH:
            target = get_api_name(edge.target)
            linked |= {(source, target), (target, target)}
    return frozenset(linked)


def group_by_evidence(planned: Sequence[PlannedQuery], linked: ApiPairs) -> dict[str, list[PlannedQuery]]:
    """Group requests by what the graph knows of their relevant APIs: an edge joins two, a path has one, none."""
    groups: dict[str, list[PlannedQuery]] = {LINKED: [], WALKED: [], UNKNOWN: []}
    for request in planned:
        groups[classify_evidence(request.query.relevant, linked)].append(request)
    return groups


def classify_evidence(relevant: Collection[ApiName], linked: ApiPairs) -> str:
    """Return the most that the graph knows of these relevant APIs."""
    if any((a, b) in linked for a in relevant for b in relevant if a != b):
        return LINKED
    return WALKED if any((a, a) in linked for a in relevant) else UNKNOWN
