"""The second level of a node's frontier: what past paths call right after one of its candidates."""

from agent.arguments import fillable
from agent.candidate import Candidate, Follower
from agent.evidence import Evidence
from agent.frontier import Frontier
from agent.search import Node
from graph.weights import rank

_PARENTS = 4
_EACH = 2
_WALKED = 0.15
"""Weight below which an edge is chance rather than habit."""


class Followers:
    """Finds them for one run. Candidates that lead to each other need no second line: they are on offer already."""

    def __init__(self, request: str, evidence: Evidence) -> None:
        self._request = request
        self._evidence = evidence

    async def __call__(self, state: Frontier, node: Node) -> tuple[Follower, ...]:
        """At most two for each of the first few candidates that are open; each once, behind the first that leads to it."""
        evidence = self._evidence
        known = {*state.path, *state.banned, *(c.tool.id for c in node.candidates)}
        found: list[Follower] = []
        parents = [(at, c) for at, c in enumerate(node.candidates) if state.is_open(c.tool.id)][:_PARENTS]
        for at, parent in parents:
            ways = [w for w in rank(await evidence.neighbours(parent.tool.id)) if w.weight >= _WALKED]
            new = [w for w in ways if w.target not in known][:_EACH]
            await evidence.read(w.target for w in new)
            for way in new:
                doc = evidence.doc(way.target)
                fill = fillable(doc, self._request, (*node.path, parent.tool))
                candidate = Candidate(
                    tool=doc,
                    weight=way.weight,
                    availability=evidence.availability(way.target),
                    relevance=evidence.relevance(way.target),
                    origin="graph",
                    missing=fill.missing,
                    feeds=fill.feeds,
                )
                found.append(Follower(at, candidate))
                known.add(way.target)
        return tuple(found)
