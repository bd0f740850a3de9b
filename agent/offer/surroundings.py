"""What an offer is chosen from: the tools found for a request, with what joins them to each other and to tools beside them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from agent.offer.profile import Profile, profile
from domain.tool import FINISH, ToolId, is_unresolved
from graph.links import Neighbourhood
from graph.store import GraphReads
from retriever.experience import Precedent

FOUND = 30
"""Tools that the retriever is asked for; where there are no more than ``_FEW``, all of them."""
_FEW = 200
_LOOKED_AT = 16
"""Of how many of the first found what lies beside them is looked at, too."""
_BESIDE = 3
"""Producers, successors and predecessors taken of each."""
_FOLLOWED = 4
"""Requests alike whose tools are taken."""


class RankedTool(Protocol):
    """A tool that the retriever found. ``odds``: its re-ranker's judgement, None without one. ``alike``: copies further down."""

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
        """For each text the tools nearest to it, best first."""
        ...

    async def size(self) -> int:
        """How many tools there are."""
        ...


class Precedents(Protocol):
    """Requests that were served before."""

    async def like(self, request: str, limit: int) -> Sequence[Precedent]:
        """Those most like a request, best first."""
        ...


@dataclass(frozen=True)
class Surroundings:
    """``found``: the retriever's order. ``known``: each tool that has a document, with what joins it to others; ``profiles``: what those
    documents say. ``picked``: the retriever has picked them out of a larger catalogue.
    """

    request: str
    found: Sequence[RankedTool]
    known: Mapping[ToolId, Neighbourhood]
    profiles: Mapping[ToolId, Profile]
    precedents: Sequence[Precedent] = ()
    picked: bool = False

    @cached_property
    def place(self) -> dict[ToolId, int]:
        """Places in the retriever's order, from 0."""
        return {hit.id: place for place, hit in enumerate(self.found)}


async def look_around(
    request: str,
    search: RankedSearch,
    graph: GraphReads,
    precedents: Precedents | None = None,
    also: Iterable[ToolId] = (),
) -> Surroundings:
    """Search once, then read the graph twice: what was found, and what lies beside it. ``also``: tools to be weighed whatever finds them."""
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
    return {tool: profile(known.document) for tool, known in near.items() if known.document is not None}


def _with_profile(
    near: Mapping[ToolId, Neighbourhood], profiles: Mapping[ToolId, Profile]
) -> dict[ToolId, Neighbourhood]:
    return {tool: known for tool, known in near.items() if tool in profiles}


def _beside(around: Surroundings, tools: Sequence[ToolId]) -> list[ToolId]:
    beside: dict[ToolId, None] = {}
    for tool in tools:
        if tool in around.known:
            known = around.known[tool]
            beside |= dict.fromkeys(_producers(tool, around))
            ways = sorted(known.out, key=lambda way: (-(way.edge.imported + way.edge.live), way.edge.target))
            beside |= dict.fromkeys([way.edge.target for way in ways if way.edge.mark != "ban"][:_BESIDE])
            back = sorted(known.into, key=lambda edge: (-(edge.imported + edge.live), edge.source))
            beside |= dict.fromkeys([edge.source for edge in back if edge.mark != "ban"][:_BESIDE])
            if known.facts.reliability < 0:
                beside |= dict.fromkeys([one.other for one in known.substitutes[:_BESIDE]])
    beside |= dict.fromkeys(tool for one in around.precedents for tool in one.tools)
    return [tool for tool in beside if tool != FINISH and not is_unresolved(tool)]


def _producers(tool: ToolId, around: Surroundings) -> list[ToolId]:
    """The best sources of what a tool needs, those of its own tool set first."""
    needs, own = around.profiles[tool].needs, tool.rpartition("/")[0]
    best: dict[ToolId, float] = {}
    for feed in around.known[tool].feeds:
        if feed.parameter in needs and feed.source != tool:
            best[feed.source] = max(feed.score, best.get(feed.source, 0.0))
    return sorted(best, key=lambda one: (one.rpartition("/")[0] != own, -best[one], one))[:_BESIDE]
