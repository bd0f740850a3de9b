"""Groups of requests by how far the graph could help: whether past paths join their relevant APIs."""

from collections.abc import Collection, Sequence

from domain.tool import FINISH
from evaluation.api_keys import Key, key_of
from evaluation.planning import PlannedQuery
from graph.store import GraphStore

LINKED, WALKED, UNKNOWN = "relevant APIs joined", "a relevant API walked", "no relevant API walked"
Pairs = frozenset[tuple[Key, Key]]


async def pairs(store: GraphStore) -> Pairs:
    """Return the ends of every edge between tools as keys, and ``(key, key)`` for every tool that was walked."""
    found: set[tuple[Key, Key]] = set()
    async for edge in store.edges():
        source = key_of(edge.source)
        found.add((source, source))
        if edge.target != FINISH:
            target = key_of(edge.target)
            found |= {(source, target), (target, target)}
    return frozenset(found)


def by_evidence(done: Sequence[PlannedQuery], known: Pairs) -> dict[str, list[PlannedQuery]]:
    """Group requests by what the graph knows of their relevant APIs: an edge joins two, a path has one, none."""
    groups: dict[str, list[PlannedQuery]] = {LINKED: [], WALKED: [], UNKNOWN: []}
    for one in done:
        groups[evidence_for(one.query.relevant, known)].append(one)
    return groups


def evidence_for(relevant: Collection[Key], known: Pairs) -> str:
    """Return the most that the graph knows of these relevant APIs."""
    if any((a, b) in known for a in relevant for b in relevant if a != b):
        return LINKED
    return WALKED if any((a, a) in known for a in relevant) else UNKNOWN
