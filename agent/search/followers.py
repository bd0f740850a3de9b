"""Followers of a node's candidates: tools that past paths call right after one of them."""

from agent.offer.candidates import Candidate, Follower
from agent.offer.tool_facts import Evidence
from agent.search.dfs import Node
from agent.search.state import Frontier
from domain.tool import ToolDoc
from graph.weights import Weighted, rank

_PARENTS = 4
"""Limit of candidates whose followers are looked up."""
_EACH = 2
"""Limit of followers for each candidate."""
_WALKED = 0.15
"""Weight below which an edge is chance rather than habit."""


class Followers:
    """Finds followers for one run. Candidates that lead to each other are left out: they can be chosen already."""

    def __init__(self, request: str, evidence: Evidence) -> None:
        self._request = request
        self._evidence = evidence

    async def __call__(self, state: Frontier, node: Node) -> tuple[Follower, ...]:
        """Return at most two followers for each of the first few open candidates.

        Each is returned once, with the first candidate that leads to it.
        """
        evidence = self._evidence
        known = {*state.path, *state.banned, *(c.tool.id for c in node.candidates)}
        parents = [(at, c) for at, c in enumerate(node.candidates) if state.is_open(c.tool.id)][:_PARENTS]
        led_to: list[tuple[int, Candidate, Weighted]] = []
        for at, parent in parents:
            ways = [w for w in rank(await evidence.neighbours(parent.tool.id)) if w.weight >= _WALKED]
            new = [w for w in ways if w.target not in known][:_EACH]
            led_to += [(at, parent, way) for way in new]
            known |= {way.target for way in new}
        await evidence.read(way.target for _, _, way in led_to)
        return tuple(Follower(at, self._candidate(way, (*node.path, parent.tool))) for at, parent, way in led_to)

    def _candidate(self, way: Weighted, path: tuple[ToolDoc, ...]) -> Candidate:
        evidence, doc = self._evidence, self._evidence.doc(way.target)
        fill = evidence.reader.fillable(doc, self._request, path)
        return Candidate(
            tool=doc,
            weight=way.weight,
            availability=evidence.availability(way.target),
            relevance=evidence.relevance(way.target),
            origin="graph",
            missing=fill.missing,
            feeds=fill.feeds,
        )
