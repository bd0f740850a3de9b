"""Assembly of the dependencies of a search, and the finder of tools that may follow its candidates."""

from collections.abc import Callable

from agent.offer.candidates import Candidate, FollowingCandidate
from agent.offer.expansion import NodeExpander
from agent.offer.tool_evidence import ToolEvidence
from agent.policy.protocol import Policy, Results
from agent.search.dfs import SearchDeps, SearchNode
from agent.search.settings import SearchOptions, WalkSettings
from agent.search.state import SearchState
from domain.tool import ToolDoc
from graph.weights import WeightedEdge, rank_candidates

_MAX_PARENTS = 4
"""Candidates whose followers are looked up."""
_MAX_PER_PARENT = 2
"""Followers for each candidate."""
_MIN_WEIGHT = 0.15
"""Least weight of an edge to a follower; lighter edges are mostly chance."""


class FollowerFinder:
    """Finder of the tools that usually follow the candidates of a node.

    Tools that are candidates themselves are left out, since they can be chosen already.
    """

    def __init__(self, request: str, evidence: ToolEvidence) -> None:
        self._request = request
        self._evidence = evidence

    async def __call__(self, state: SearchState, node: SearchNode) -> tuple[FollowingCandidate, ...]:
        """Return at most two followers for each of the first few open candidates.

        Each tool is returned once, with the first candidate that leads to it.
        """
        evidence = self._evidence
        excluded = {*state.path, *state.banned, *(c.tool.id for c in node.candidates)}
        parents = [(at, c) for at, c in enumerate(node.candidates) if state.is_open(c.tool.id)][:_MAX_PARENTS]
        led_to: list[tuple[int, Candidate, WeightedEdge]] = []
        for at, parent in parents:
            ways = [w for w in rank_candidates(await evidence.neighbours(parent.tool.id)) if w.weight >= _MIN_WEIGHT]
            new = [w for w in ways if w.target not in excluded][:_MAX_PER_PARENT]
            led_to += [(at, parent, way) for way in new]
            excluded |= {way.target for way in new}
        await evidence.read(way.target for _, _, way in led_to)
        return tuple(
            FollowingCandidate(at, self._build_candidate(way, (*node.path, parent.tool))) for at, parent, way in led_to
        )

    def _build_candidate(self, way: WeightedEdge, path: tuple[ToolDoc, ...]) -> Candidate:
        evidence, doc = self._evidence, self._evidence.doc(way.target)
        fill = evidence.reader.check_inputs(doc, self._request, path)
        return Candidate(
            tool=doc,
            weight=way.weight,
            availability=evidence.availability(way.target),
            relevance=evidence.relevance(way.target),
            origin="graph",
            missing=fill.missing,
            feeds=fill.feeds,
        )


def build_search_deps(
    request: str,
    evidence: ToolEvidence,
    settings: WalkSettings,
    policy: Policy,
    results: Callable[[], Results] = tuple,
    expand: NodeExpander | None = None,
    options: SearchOptions | None = None,
) -> SearchDeps:
    """Build the dependencies of a search.

    Args:
        request: the request.
        evidence: tools and edges known for the request.
        settings: settings of the search.
        policy: makes the decisions.
        results: returns the results of the steps called so far.
        expand: builds the nodes; the default one knows of no earlier steps.
        options: extensions that the planner uses.
    """
    options = options or SearchOptions()
    return SearchDeps(
        expand=expand or NodeExpander(request, evidence, settings, options=options),
        choose=policy.decide,
        whole_path=policy.decide,
        followers=FollowerFinder(request, evidence),
        several=settings.several and options.several_steps,
        results=results,
    )
