"""Assembly of the dependencies of a search, and the finder of tools that may follow its candidates."""

from collections.abc import Callable

from agent.offer.candidates import FollowingCandidate, ToolCandidate
from agent.offer.node_expansion import NodeExpander
from agent.offer.tool_evidence import ToolEvidence
from agent.policy.protocol import Policy, Results
from agent.search.dfs import SearchDeps, SearchNode, SearchOptions, SearchSettings
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
        excluded = {*state.path, *state.banned, *(candidate.tool.id for candidate in node.candidates)}
        parents = [
            (index, candidate) for index, candidate in enumerate(node.candidates) if state.is_open(candidate.tool.id)
        ][:_MAX_PARENTS]
        following: list[tuple[int, ToolCandidate, WeightedEdge]] = []
        for index, parent in parents:
            edges = [
                edge
                for edge in rank_candidates(await evidence.neighbours(parent.tool.id))
                if edge.weight >= _MIN_WEIGHT
            ]
            new_edges = [edge for edge in edges if edge.target not in excluded][:_MAX_PER_PARENT]
            following += [(index, parent, edge) for edge in new_edges]
            excluded |= {edge.target for edge in new_edges}
        await evidence.read(edge.target for _, _, edge in following)
        return tuple(
            FollowingCandidate(index, self._build_candidate(edge, (*node.path, parent.tool)))
            for index, parent, edge in following
        )

    def _build_candidate(self, edge: WeightedEdge, path: tuple[ToolDoc, ...]) -> ToolCandidate:
        evidence, doc = self._evidence, self._evidence.doc(edge.target)
        inputs = evidence.reader.check_inputs(doc, self._request, path)
        return ToolCandidate(
            tool=doc,
            weight=edge.weight,
            availability=evidence.availability(edge.target),
            relevance=evidence.relevance(edge.target),
            origin="graph",
            missing=inputs.missing,
            feeds=inputs.feeds,
        )


def build_search_deps(
    request: str,
    evidence: ToolEvidence,
    settings: SearchSettings,
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
        choose_move=policy.decide,
        choose_path=policy.decide,
        find_followers=FollowerFinder(request, evidence),
        several_steps=settings.several_steps and options.several_steps,
        get_results=results,
    )
