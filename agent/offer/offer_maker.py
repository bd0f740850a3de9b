"""Offers: the tools for a request, selected by retrieval and graph together (docs/offers.md).

A tool's score is the sum of its signals, each times the weight of its kind.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from agent.offer.neighbourhood import OfferNeighbourhood, PrecedentSearch, RankedSearch, load_neighbourhood
from agent.offer.offer_signals import collect_signals
from agent.offer.tool_offer import AbsenceReport, OfferEntry, OfferReason, OfferSignal, ReasonKind, ToolOffer
from domain.tool import ToolId
from graph.store import NeighbourhoodReader
from graph.weights import DEFAULT_WEIGHTS, WeightParameters
from retriever.words import normalize_tool_name

_FITTED: Mapping[ReasonKind, float] = {
    "found": 0.3, "service": 0.4, "named": 0.8, "returns": 0.4, "supplies": 0.5, "resolves": 0.4, "consumes": 0.8, "joins": 0.35,
    "holds": 0.2, "sibling": 0.25, "follows": 0.1, "precedes": 0.1, "walked": 0.29, "served": 0.1, "failing": -1.0, "crowded": -0.2,
}  # fmt: skip
"""Fitted on the even lines of the requests of docs/offers.md, where each source of requests counts the same."""

_AMONG_MANY: Mapping[ReasonKind, float] = {"found": 2.0, "follows": 1.0, "precedes": 5.0, "walked": 0.4}
"""Weights that differ if the retriever selected its tools from a large catalogue.

Its judgement was trained on such catalogues, and tools with past use are the exception there. Chosen on the even
lines of the requests over 45,113 tools.
"""


@dataclass(frozen=True, slots=True)
class OfferWeights:
    """Weights of evidence in log-odds: how much a signal of 1 adds to a tool's score."""

    by_kind: Mapping[ReasonKind, float] = field(default_factory=lambda: _FITTED)
    """Weight of each kind."""
    among_many: Mapping[ReasonKind, float] = field(default_factory=lambda: _AMONG_MANY)
    """Weights that replace them if the tools were selected from a large catalogue."""

    def compute_reasons(
        self, signals: Mapping[ReasonKind, OfferSignal], *, picked: bool = False
    ) -> tuple[OfferReason, ...]:
        """Return the reasons for a tool, the weightiest first, without those that count for nothing.

        ``picked``: whether the tools were selected from a large catalogue.
        """
        counts = {**self.by_kind, **self.among_many} if picked else self.by_kind
        weighted = [OfferReason(kind, counts.get(kind, 0.0) * signal.value, signal) for kind, signal in signals.items()]
        return sort_by_weight(reason for reason in weighted if reason.share)


def sort_by_weight(reasons: Iterable[OfferReason]) -> tuple[OfferReason, ...]:
    """Return the reasons, the weightiest first."""
    return tuple(sorted(reasons, key=lambda one: (-abs(one.share), one.kind)))


_SAME_API_SCORE = 0.9
"""Score of a substitute link from which two tools of one set count as the same API."""


class OfferSource(Protocol):
    """Source of offers."""

    async def offer(self, request: str, limit: int) -> ToolOffer:
        """Return at most ``limit`` tools for a request, best first."""
        ...


@dataclass(frozen=True)
class _ScoredTools:
    """Scored tools of one request, and what they were scored from."""

    around: OfferNeighbourhood
    ranked: Sequence[OfferEntry]


class OfferMaker:
    """Makes the offers of one run or one question.

    Args:
        search: finds tools for a request.
        graph: reads what joins them.
        precedents: requests that were served before; None if they are not to count.
        weights: parameters of edge weights and availability.
        counts: weights of the kinds of evidence.
    """

    def __init__(
        self,
        search: RankedSearch,
        graph: NeighbourhoodReader,
        precedents: PrecedentSearch | None = None,
        weights: WeightParameters = DEFAULT_WEIGHTS,
        counts: OfferWeights | None = None,
    ) -> None:
        self._search = search
        self._graph = graph
        self._precedents = precedents
        self._weights = weights
        self._offer_weights = counts or OfferWeights()

    async def offer(self, request: str, limit: int) -> ToolOffer:
        """Return at most ``limit`` tools, best first, with copies of one API in one place."""
        weighed = await self._score_tools(request)
        return ToolOffer(request, tuple(_group_copies(weighed)[:limit]), len(weighed.ranked))

    async def explain_absence(self, request: str, limit: int, tool: ToolId) -> AbsenceReport:
        """Return what speaks for a tool that may be missing in the offer, and its rank."""
        weighed = await self._score_tools(request, [tool])
        grouped = _group_copies(weighed)
        offered = grouped[:limit]
        place = next(
            (rank_in_offer for rank_in_offer, entry in enumerate(grouped, 1) if tool in (entry.id, *entry.alike)), None
        )
        stands_for = grouped[place - 1].id if place else None
        rank = weighed.around.ranks.get(tool)
        return AbsenceReport(
            tool=next((entry for entry in weighed.ranked if entry.id == tool), None),
            offered=place is not None and place <= limit,
            found=None if rank is None else rank + 1,
            place=place,
            last=offered[-1].score if offered else 0.0,
            links=_find_links(weighed.around, tool, [entry.id for entry in offered]),
            stands_for=stands_for if stands_for != tool else None,
        )

    async def _score_tools(self, request: str, also: Iterable[ToolId] = ()) -> _ScoredTools:
        """Score all tools near a request. ``also``: tools to score even if nothing finds them."""
        around = await load_neighbourhood(request, self._search, self._graph, self._precedents, also)
        tools: list[OfferEntry] = []
        for tool, own in collect_signals(around, self._weights).items():
            reasons = self._offer_weights.compute_reasons(own, picked=around.picked)
            tools.append(OfferEntry(tool, sum(reason.share for reason in reasons), reasons))
        return _ScoredTools(
            around, _sort_by_score(self._penalize_crowding(_sort_by_score(_promote_stand_ins(tools, around)), around))
        )

    def _penalize_crowding(self, ranked: Sequence[OfferEntry], around: OfferNeighbourhood) -> list[OfferEntry]:
        """Lower the score of a tool by how many before it need the same inputs.

        An offer should hold all parts of a path, and not many alternatives for one part.
        """
        counts, thinned = Counter[object](), list[OfferEntry]()
        for tool in ranked:
            lacks = around.profiles[tool.id].dependency_key
            count = counts[lacks] if lacks is not None else 0
            counts[lacks] += 1
            crowded = self._offer_weights.compute_reasons(
                {"crowded": OfferSignal(math.log1p(count), None, f"{count} before it")}
            )
            thinned.append(_add_reasons(tool, crowded) if crowded else tool)
        return thinned


def _add_reasons(tool: OfferEntry, reasons: Sequence[OfferReason]) -> OfferEntry:
    """Return a tool with more reasons and the score that they add up to."""
    return replace(
        tool,
        score=tool.score + sum(reason.share for reason in reasons),
        reasons=sort_by_weight((*tool.reasons, *reasons)),
    )


def _sort_by_score(tools: Iterable[OfferEntry]) -> list[OfferEntry]:
    """Return tools by score, ties by id."""
    return sorted(tools, key=lambda one: (-one.score, one.id))


def _promote_stand_ins(tools: Iterable[OfferEntry], around: OfferNeighbourhood) -> list[OfferEntry]:
    """Raise each substitute of a failing tool to the score that the tool had before it failed, less 1 - link score."""
    tools_by_id = {tool.id: tool for tool in tools}
    broken = {tool.id for tool in tools_by_id.values() if any(reason.kind == "failing" for reason in tool.reasons)}
    for failing in list(tools_by_id.values()):
        lost = next((reason for reason in failing.reasons if reason.kind == "failing"), None)
        if lost is None:
            continue
        worth = failing.score - lost.share
        for link in around.neighbourhoods[failing.id].substitutes:
            other = tools_by_id.get(link.other) if link.other not in broken else None
            gain = worth - (1 - link.score) - other.score if other is not None else 0.0
            if other is not None and gain > 0:
                reason = OfferReason("stands_in", gain, OfferSignal(link.score, failing.id, lost.signal.detail))
                tools_by_id[other.id] = _add_reasons(other, [reason])
    return list(tools_by_id.values())


def _group_copies(weighed: _ScoredTools) -> list[OfferEntry]:
    """Return the first tool of each group of copies, with the ids of the others."""
    group_by_name = dict[tuple[str, str], int]()
    groups = list[list[ToolId]]()
    first: list[OfferEntry] = []
    for tool in weighed.ranked:
        keys = [normalize_tool_name(tool.id), *_find_copies(tool.id, weighed.around)]
        index = next((group_by_name[key] for key in keys if key in group_by_name), None)
        if index is None:
            index = len(first)
            first.append(tool)
            groups.append([])
        else:
            groups[index].append(tool.id)
        group_by_name[keys[0]] = index
    hits = {hit.id: hit.alike for hit in weighed.around.hits}
    return [
        replace(tool, alike=tuple(dict.fromkeys((*others, *hits.get(tool.id, ())))))
        for tool, others in zip(first, groups, strict=True)
    ]


def _find_copies(tool: ToolId, around: OfferNeighbourhood) -> list[tuple[str, str]]:
    """Return the standard names of tools of the same set that do exactly the job of this one."""
    own = tool.rpartition("/")[0]
    links = around.neighbourhoods[tool].substitutes
    return [
        normalize_tool_name(link.other)
        for link in links
        if link.score >= _SAME_API_SCORE and link.other.rpartition("/")[0] == own
    ]


def _find_links(around: OfferNeighbourhood, tool: ToolId, offered: Sequence[ToolId]) -> tuple[OfferReason, ...]:
    """Return what joins a tool to those offered: data feeds and past calls, in both directions."""
    reasons: list[OfferReason] = []
    for mate in offered:
        reasons += _find_ways(around, mate, tool, "supplies", "follows")
        reasons += _find_ways(around, tool, mate, "consumes", "precedes")
    return tuple(sorted(reasons, key=lambda one: (one.kind, -one.signal.value, one.signal.by or "", one.signal.detail)))


def _find_ways(
    around: OfferNeighbourhood, tool: ToolId, other: ToolId, fed: ReasonKind, walked: ReasonKind
) -> list[OfferReason]:
    """Return the links between two tools.

    Reasons of kind ``fed`` are feeds from ``other`` into ``tool``; those of kind ``walked`` are past walks from
    ``tool`` to ``other``.
    """
    neighbourhood = around.neighbourhoods.get(tool)
    if neighbourhood is None:
        return []
    mate = tool if fed == "supplies" else other
    feeds = [feed for feed in neighbourhood.feeds if feed.source == other]
    edges = [way.edge for way in neighbourhood.out if way.edge.target == other]
    return [
        *(
            OfferReason(fed, 0.0, OfferSignal(feed.score, mate, f"{feed.parameter} from {feed.field or 'it'}"))
            for feed in feeds
        ),
        *(
            OfferReason(
                walked, 0.0, OfferSignal(float(way.imported + way.live), mate, f"{way.imported + way.live} times")
            )
            for way in edges
        ),
    ]
