"""Offers: the tools for a request, selected by retrieval and graph together (docs/offers.md)."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from agent.offer.offer import Absence, Kind, Offer, OfferedTool, Reason, Signal
from agent.offer.signals import signals
from agent.offer.surroundings import Precedents, RankedSearch, Surroundings, look_around
from agent.offer.weighing import OfferWeights, by_weight
from domain.tool import ToolId
from graph.store import GraphReads
from graph.weights import DEFAULTS, WeightParameters
from retriever.words import standard_names

_SURE = 0.9
"""Score of a substitute link from which two tools of one set count as the same API."""


class Offers(Protocol):
    """Source of offers."""

    async def offer(self, request: str, limit: int) -> Offer:
        """Return at most ``limit`` tools for a request, best first."""
        ...


@dataclass(frozen=True)
class _Weighed:
    """Scored tools of one request, and what they were scored from."""

    around: Surroundings
    ranked: Sequence[OfferedTool]


class OfferMaker:
    """Maker of offers for one run or one question, as its search is.

    Without ``precedents`` no earlier request speaks for a tool.
    """

    def __init__(
        self,
        search: RankedSearch,
        graph: GraphReads,
        precedents: Precedents | None = None,
        weights: WeightParameters = DEFAULTS,
        counts: OfferWeights | None = None,
    ) -> None:
        self._search = search
        self._graph = graph
        self._precedents = precedents
        self._weights = weights
        self._counts = counts or OfferWeights()

    async def offer(self, request: str, limit: int) -> Offer:
        """Return at most ``limit`` tools, best first, with copies of one API in one place."""
        weighed = await self._weigh(request)
        return Offer(request, tuple(_grouped(weighed)[:limit]), len(weighed.ranked))

    async def why_not(self, request: str, limit: int, tool: ToolId) -> Absence:
        """Return what speaks for a tool that may be missing in the offer, and its rank."""
        weighed = await self._weigh(request, [tool])
        grouped = _grouped(weighed)
        offered = grouped[:limit]
        place = next((at for at, one in enumerate(grouped, 1) if tool in (one.id, *one.alike)), None)
        stands_for = grouped[place - 1].id if place else None
        found = weighed.around.place.get(tool)
        return Absence(
            tool=next((one for one in weighed.ranked if one.id == tool), None),
            offered=place is not None and place <= limit,
            found=None if found is None else found + 1,
            place=place,
            last=offered[-1].score if offered else 0.0,
            links=_links(weighed.around, tool, [one.id for one in offered]),
            stands_for=stands_for if stands_for != tool else None,
        )

    async def _weigh(self, request: str, also: Iterable[ToolId] = ()) -> _Weighed:
        """Score all tools near a request. ``also``: tools to score even if nothing finds them."""
        around = await look_around(request, self._search, self._graph, self._precedents, also)
        tools: list[OfferedTool] = []
        for tool, own in signals(around, self._weights).items():
            reasons = self._counts.reasons(own, picked=around.picked)
            tools.append(OfferedTool(tool, sum(one.share for one in reasons), reasons))
        return _Weighed(around, _by_score(self._thinned(_by_score(_stood_in(tools, around)), around)))

    def _thinned(self, ranked: Sequence[OfferedTool], around: Surroundings) -> list[OfferedTool]:
        """Lower the score of a tool by how many before it need the same inputs.

        An offer should hold all parts of a path, and not many alternatives for one part.
        """
        before, thinned = Counter[object](), list[OfferedTool]()
        for tool in ranked:
            lacks = around.profiles[tool.id].lacks
            many = before[lacks] if lacks is not None else 0
            before[lacks] += 1
            crowded = self._counts.reasons({"crowded": Signal(math.log1p(many), None, f"{many} before it")})
            thinned.append(_with(tool, crowded) if crowded else tool)
        return thinned


def _with(tool: OfferedTool, more: Sequence[Reason]) -> OfferedTool:
    """Return a tool with more reasons and the score that they add up to."""
    return replace(tool, score=tool.score + sum(one.share for one in more), reasons=by_weight((*tool.reasons, *more)))


def _by_score(tools: Iterable[OfferedTool]) -> list[OfferedTool]:
    """Return tools by score, ties by id."""
    return sorted(tools, key=lambda one: (-one.score, one.id))


def _stood_in(tools: Iterable[OfferedTool], around: Surroundings) -> list[OfferedTool]:
    """Raise each substitute of a failing tool to the score that the tool had before it failed, less 1 - link score."""
    known = {tool.id: tool for tool in tools}
    broken = {tool.id for tool in known.values() if any(reason.kind == "failing" for reason in tool.reasons)}
    for failing in list(known.values()):
        lost = next((reason for reason in failing.reasons if reason.kind == "failing"), None)
        if lost is None:
            continue
        worth = failing.score - lost.share
        for link in around.known[failing.id].substitutes:
            other = known.get(link.other) if link.other not in broken else None
            more = worth - (1 - link.score) - other.score if other is not None else 0.0
            if other is not None and more > 0:
                reason = Reason("stands_in", more, Signal(link.score, failing.id, lost.signal.detail))
                known[other.id] = _with(other, [reason])
    return list(known.values())


def _grouped(weighed: _Weighed) -> list[OfferedTool]:
    """Return the first tool of each group of copies, with the ids of the others."""
    place = dict[tuple[str, str], int]()
    groups = list[list[ToolId]]()
    first: list[OfferedTool] = []
    for tool in weighed.ranked:
        keys = [standard_names(tool.id), *_same(tool.id, weighed.around)]
        at = next((place[key] for key in keys if key in place), None)
        if at is None:
            at = len(first)
            first.append(tool)
            groups.append([])
        else:
            groups[at].append(tool.id)
        place[keys[0]] = at
    hits = {hit.id: hit.alike for hit in weighed.around.found}
    return [
        replace(tool, alike=tuple(dict.fromkeys((*others, *hits.get(tool.id, ())))))
        for tool, others in zip(first, groups, strict=True)
    ]


def _same(tool: ToolId, around: Surroundings) -> list[tuple[str, str]]:
    """Return the standard names of tools of the same set that do exactly the job of this one."""
    own = tool.rpartition("/")[0]
    links = around.known[tool].substitutes
    return [standard_names(one.other) for one in links if one.score >= _SURE and one.other.rpartition("/")[0] == own]


def _links(around: Surroundings, tool: ToolId, offered: Sequence[ToolId]) -> tuple[Reason, ...]:
    """Return what joins a tool to those offered: data feeds and past calls, in both directions."""
    found: list[Reason] = []
    for mate in offered:
        found += _ways(around, mate, tool, "supplies", "follows")
        found += _ways(around, tool, mate, "consumes", "precedes")
    return tuple(sorted(found, key=lambda one: (one.kind, -one.signal.value, one.signal.by or "", one.signal.detail)))


def _ways(around: Surroundings, one: ToolId, other: ToolId, fed: Kind, walked: Kind) -> list[Reason]:
    """Return the links between two tools.

    Reasons of kind ``fed`` are feeds from ``other`` into ``one``; those of kind ``walked`` are past walks from
    ``one`` to ``other``.
    """
    known = around.known.get(one)
    if known is None:
        return []
    mate = one if fed == "supplies" else other
    feeds = [feed for feed in known.feeds if feed.source == other]
    ways = [way.edge for way in known.out if way.edge.target == other]
    return [
        *(Reason(fed, 0.0, Signal(feed.score, mate, f"{feed.parameter} from {feed.field or 'it'}")) for feed in feeds),
        *(
            Reason(walked, 0.0, Signal(float(way.imported + way.live), mate, f"{way.imported + way.live} times"))
            for way in ways
        ),
    ]
