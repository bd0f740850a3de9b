"""Neighbourhood of a request: the tools found, and what joins them to each other and to further tools."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from agent.offer.tool_profile import ToolProfile, build_profile
from domain.tool import FINISH, ToolId, is_unresolved
from graph.links import ToolNeighbourhood
from graph.store import NeighbourhoodReader
from graph.weights import is_failing
from retriever.experience import Precedent

MAX_HITS = 30
"""Tools that the retriever is asked for; a catalogue of at most ``_SMALL_CATALOGUE`` tools is taken as a whole."""
_SMALL_CATALOGUE = 200
_EXPANDED_HITS = 16
"""Best hits whose neighbours are read too."""
_MAX_NEIGHBOURS = 3
"""Producers, successors and predecessors taken of each hit."""
_MAX_PRECEDENTS = 4
"""Similar requests whose tools are taken."""


class RankedTool(Protocol):
    """A tool that the retriever found.

    ``odds``: judgement of its re-ranker, None without one. ``alike``: copies further down.
    """

    @property
    def id(self) -> ToolId: ...

    @property
    def score(self) -> float: ...

    @property
    def odds(self) -> float | None: ...

    @property
    def alike(self) -> tuple[ToolId, ...]: ...


class RankedSearch(Protocol):
    """The part of the retriever that an offer needs."""

    async def find_tools_for_all(self, requests: Sequence[str], limit: int) -> Sequence[Sequence[RankedTool]]:
        """Return for each text the tools nearest to it, best first."""
        ...

    async def count_tools(self) -> int:
        """Return the number of tools."""
        ...


class PrecedentSearch(Protocol):
    """Requests that were served before."""

    async def find_precedents(self, request: str, limit: int) -> Sequence[Precedent]:
        """Return those most similar to a request, best first."""
        ...


@dataclass(frozen=True)
class OfferNeighbourhood:
    """Tools near one request."""

    request: str
    hits: Sequence[RankedTool]
    """Hits in the retriever's order."""
    neighbourhoods: Mapping[ToolId, ToolNeighbourhood]
    """Each tool that has a document, with what joins it to others."""
    profiles: Mapping[ToolId, ToolProfile]
    """Profiles of those documents."""
    precedents: Sequence[Precedent] = ()
    """Similar requests that were served before."""
    picked: bool = False
    """True if the retriever selected the hits from a larger catalogue."""

    @cached_property
    def ranks(self) -> dict[ToolId, int]:
        """Ranks in the retriever's order, from 0."""
        return {hit.id: place for place, hit in enumerate(self.hits)}


async def load_neighbourhood(
    request: str,
    search: RankedSearch,
    graph: NeighbourhoodReader,
    precedents: PrecedentSearch | None = None,
    also: Iterable[ToolId] = (),
) -> OfferNeighbourhood:
    """Search once, then read the graph twice: for the hits, and for their neighbours.

    ``also``: tools to include whatever finds them.
    """
    tool_count = await search.count_tools()
    (hits,) = await search.find_tools_for_all([request], tool_count if tool_count <= _SMALL_CATALOGUE else MAX_HITS)
    served = await precedents.find_precedents(request, _MAX_PRECEDENTS) if precedents else ()
    ids = [hit.id for hit in hits]
    near = await graph.load_neighbourhoods(dict.fromkeys((*ids, *also)))
    profiles = _build_profiles(near)
    around = OfferNeighbourhood(request, hits, _keep_profiled(near, profiles), profiles, served)
    more = [tool for tool in _find_neighbours(around, ids[:_EXPANDED_HITS]) if tool not in near]
    further = await graph.load_neighbourhoods(more) if more else {}
    # By id, so that no store's own order decides between equals.
    neighbourhoods = dict(sorted({**near, **further}.items()))
    profiles = dict(sorted({**profiles, **_build_profiles(further)}.items()))
    return OfferNeighbourhood(
        request, hits, _keep_profiled(neighbourhoods, profiles), profiles, served, picked=tool_count > _SMALL_CATALOGUE
    )


def _build_profiles(near: Mapping[ToolId, ToolNeighbourhood]) -> dict[ToolId, ToolProfile]:
    """Return the profiles of tools that have a document."""
    return {
        tool: build_profile(neighbourhood.document)
        for tool, neighbourhood in near.items()
        if neighbourhood.document is not None
    }


def _keep_profiled(
    near: Mapping[ToolId, ToolNeighbourhood], profiles: Mapping[ToolId, ToolProfile]
) -> dict[ToolId, ToolNeighbourhood]:
    """Return only the tools that have a profile."""
    return {tool: neighbourhood for tool, neighbourhood in near.items() if tool in profiles}


def _find_neighbours(around: OfferNeighbourhood, tools: Sequence[ToolId]) -> list[ToolId]:
    """Return the neighbours of the first hits.

    They are producers, successors, predecessors and, for failing tools, substitutes; also the tools of similar
    requests.
    """
    neighbours: dict[ToolId, None] = {}
    for tool in tools:
        if tool in around.neighbourhoods:
            neighbourhood = around.neighbourhoods[tool]
            neighbours |= dict.fromkeys(_find_producers(tool, around))
            successors = sorted(
                neighbourhood.out, key=lambda way: (-(way.edge.imported + way.edge.live), way.edge.target)
            )
            neighbours |= dict.fromkeys(
                [way.edge.target for way in successors if way.edge.mark != "ban"][:_MAX_NEIGHBOURS]
            )
            predecessors = sorted(neighbourhood.into, key=lambda edge: (-(edge.imported + edge.live), edge.source))
            neighbours |= dict.fromkeys([edge.source for edge in predecessors if edge.mark != "ban"][:_MAX_NEIGHBOURS])
            if is_failing(neighbourhood.facts):
                neighbours |= dict.fromkeys([link.other for link in neighbourhood.substitutes[:_MAX_NEIGHBOURS]])
    neighbours |= dict.fromkeys(tool for precedent in around.precedents for tool in precedent.tools)
    return [tool for tool in neighbours if tool != FINISH and not is_unresolved(tool)]


def _find_producers(tool: ToolId, around: OfferNeighbourhood) -> list[ToolId]:
    """Return the best sources of what a tool needs, those of its own tool set first."""
    needs, own = around.profiles[tool].required_inputs, tool.rpartition("/")[0]
    best: dict[ToolId, float] = {}
    for feed in around.neighbourhoods[tool].feeds:
        if feed.parameter in needs and feed.source != tool:
            best[feed.source] = max(feed.score, best.get(feed.source, 0.0))
    return sorted(best, key=lambda one: (one.rpartition("/")[0] != own, -best[one], one))[:_MAX_NEIGHBOURS]
