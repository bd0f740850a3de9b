"""Neighbourhood of a request: the tools found, and what joins them to each other and to further tools."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from agent.offer.profile import Profile, profile
from domain.tool import FINISH, ToolId, is_unresolved
from graph.links import Neighbourhood
from graph.store import GraphReads
from graph.weights import is_failing
from retriever.experience import Precedent

FOUND = 30
"""Tools that the retriever is asked for; a catalogue of at most ``_FEW`` tools is taken as a whole."""
_FEW = 200
_LOOKED_AT = 16
"""Best hits whose neighbours are read too."""
_BESIDE = 3
"""Producers, successors and predecessors taken of each hit."""
_FOLLOWED = 4
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

    async def start_tools_of(self, requests: Sequence[str], limit: int) -> Sequence[Sequence[RankedTool]]:
        """Return for each text the tools nearest to it, best first."""
        ...

    async def size(self) -> int:
        """Return the number of tools."""
        ...


class Precedents(Protocol):
    """Requests that were served before."""

    async def like(self, request: str, limit: int) -> Sequence[Precedent]:
        """Return those most similar to a request, best first."""
        ...


@dataclass(frozen=True)
class Surroundings:
    """Tools near one request."""

    request: str
    found: Sequence[RankedTool]
    """Hits in the retriever's order."""
    known: Mapping[ToolId, Neighbourhood]
    """Each tool that has a document, with what joins it to others."""
    profiles: Mapping[ToolId, Profile]
    """Profiles of those documents."""
    precedents: Sequence[Precedent] = ()
    """Similar requests that were served before."""
    picked: bool = False
    """True if the retriever selected the hits from a larger catalogue."""

    @cached_property
    def place(self) -> dict[ToolId, int]:
        """Ranks in the retriever's order, from 0."""
        return {hit.id: place for place, hit in enumerate(self.found)}


async def look_around(
    request: str,
    search: RankedSearch,
    graph: GraphReads,
    precedents: Precedents | None = None,
    also: Iterable[ToolId] = (),
) -> Surroundings:
    """Search once, then read the graph twice: for the hits, and for their neighbours.

    ``also``: tools to include whatever finds them.
    """
    many = await search.size()
    (found,) = await search.start_tools_of([request], many if many <= _FEW else FOUND)
    served = await precedents.like(request, _FOLLOWED) if precedents else ()
    ids = [hit.id for hit in found]
    near = await graph.around(dict.fromkeys((*ids, *also)))
    profiles = _profiles(near)
    around = Surroundings(request, found, _with_profile(near, profiles), profiles, served)
    more = [tool for tool in _beside(around, ids[:_LOOKED_AT]) if tool not in near]
    further = await graph.around(more) if more else {}
    # By id, so that no store's own order decides between equals.
    known = dict(sorted({**near, **further}.items()))
    profiles = dict(sorted({**profiles, **_profiles(further)}.items()))
    return Surroundings(request, found, _with_profile(known, profiles), profiles, served, picked=many > _FEW)


def _profiles(near: Mapping[ToolId, Neighbourhood]) -> dict[ToolId, Profile]:
    """Return the profiles of tools that have a document."""
    return {tool: profile(known.document) for tool, known in near.items() if known.document is not None}


def _with_profile(
    near: Mapping[ToolId, Neighbourhood], profiles: Mapping[ToolId, Profile]
) -> dict[ToolId, Neighbourhood]:
    """Return only the tools that have a profile."""
    return {tool: known for tool, known in near.items() if tool in profiles}


def _beside(around: Surroundings, tools: Sequence[ToolId]) -> list[ToolId]:
    """Return the neighbours of the first hits.

    They are producers, successors, predecessors and, for failing tools, substitutes; also the tools of similar
    requests.
    """
    beside: dict[ToolId, None] = {}
    for tool in tools:
        if tool in around.known:
            known = around.known[tool]
            beside |= dict.fromkeys(_producers(tool, around))
            ways = sorted(known.out, key=lambda way: (-(way.edge.imported + way.edge.live), way.edge.target))
            beside |= dict.fromkeys([way.edge.target for way in ways if way.edge.mark != "ban"][:_BESIDE])
            back = sorted(known.into, key=lambda edge: (-(edge.imported + edge.live), edge.source))
            beside |= dict.fromkeys([edge.source for edge in back if edge.mark != "ban"][:_BESIDE])
            if is_failing(known.facts):
                beside |= dict.fromkeys([one.other for one in known.substitutes[:_BESIDE]])
    beside |= dict.fromkeys(tool for one in around.precedents for tool in one.tools)
    return [tool for tool in beside if tool != FINISH and not is_unresolved(tool)]


def _producers(tool: ToolId, around: Surroundings) -> list[ToolId]:
    """Return the best sources of what a tool needs, those of its own tool set first."""
    needs, own = around.profiles[tool].needs, tool.rpartition("/")[0]
    best: dict[ToolId, float] = {}
    for feed in around.known[tool].feeds:
        if feed.parameter in needs and feed.source != tool:
            best[feed.source] = max(feed.score, best.get(feed.source, 0.0))
    return sorted(best, key=lambda one: (one.rpartition("/")[0] != own, -best[one], one))[:_BESIDE]
