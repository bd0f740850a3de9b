"""What is around a tool: its neighbours by weight and by coupling, theirs, and so on, the best of each first, as many as a picture holds."""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TypeVar

from domain.tool import FINISH, ToolDoc, ToolId, is_unresolved, split_tool_id
from graph.links import FeedLink, LinkedGraph
from graph.weights import WeightParameters, compute_availability
from server.explorer.picture import GraphFeed, GraphPicture, GraphTool, GraphWalk, feeds_of, walk_of
from server.explorer.reading import Reading
from server.library.listing import Effect

_INTO = 12
"""Of the ways into a tool, whose weights lie with their sources, so many of the most walked are looked at; of tools further out fewer."""
_INTO_FURTHER = 4
_FED = 12
"""What tools feed is asked of so many of each depth."""
_LOOKED_AT = 400
"""Neighbours whose documents are looked at, where only these tell whether a tool is wanted."""
_NEARER = 60
"""Of what room there is, in percent, for each depth but the last."""
_EDGES = 120
"""Of each kind that are answered."""


Edge = TypeVar("Edge", GraphWalk, GraphFeed)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which part. ``least``: the least weight of a way, and score of a coupling. ``toolset`` and ``effect``: of the tools around the centre; empty: any."""

    depth: int = 1
    most: int = 30
    walks: bool = True
    feeds: bool = True
    least: float = 0.0
    toolset: str = ""
    effect: Effect | None = None


@dataclass(slots=True)
class _Found:
    """How well a neighbour is joined: ``walk`` and ``feed`` None where it is not so."""

    walk: float | None = None
    feed: float | None = None


async def surroundings(
    graph: LinkedGraph, weights: WeightParameters, centre: ToolId, wanted: Wanted, banned: Collection[ToolId] = ()
) -> GraphPicture:
    """The centre has a document."""
    reading = Reading(graph, weights)
    depths, waiting, frontier = {centre: 0}, dict[ToolId, int](), [centre]
    for depth in range(1, wanted.depth + 1):
        found = await _beside(reading, frontier, wanted, depth)
        fresh = {tool: how for tool, how in found.items() if tool not in depths}
        best = _best_of_both(await _fitting(reading, fresh, wanted))
        room = wanted.most + 1 - len(depths)
        frontier = best[: room if depth == wanted.depth else -(-room * _NEARER // 100)]
        depths |= dict.fromkeys(frontier, depth)
        waiting |= {tool: depth for tool in best if tool not in waiting}
    # What is further out left some room: then for more of what is near.
    more = [tool for tool in waiting if tool not in depths][: wanted.most + 1 - len(depths)]
    depths |= {tool: waiting[tool] for tool in more}
    await reading.read(depths)
    return _picture(reading, centre, depths, len(waiting.keys() - depths.keys()), wanted, banned)


async def _beside(reading: Reading, tools: Sequence[ToolId], wanted: Wanted, depth: int) -> dict[ToolId, _Found]:
    """The neighbours of these, with how well they are joined to one of them."""
    await reading.read(tools)
    found: dict[ToolId, _Found] = {}
    if wanted.walks:
        into = [_most_walked(reading, tool, _INTO if depth == 1 else _INTO_FURTHER) for tool in tools]
        await reading.read(chain.from_iterable(into))
        for tool, sources in zip(tools, into, strict=True):
            _walked(reading, tool, sources, wanted, found)
    if wanted.feeds:
        fed = await asyncio.gather(*(reading.graph.get_feeds_out(tool) for tool in tools[:_FED]))
        for feed in chain(*fed, *(reading.known[tool].feeds for tool in tools if tool in reading.known)):
            other = feed.target if feed.source in tools else feed.source
            if feed.score >= wanted.least:
                one = found.setdefault(other, _Found())
                one.feed = max(one.feed or 0.0, feed.score)
    return found


def _most_walked(reading: Reading, tool: ToolId, most: int) -> list[ToolId]:
    into = reading.known[tool].into if tool in reading.known else ()
    best = sorted(into, key=lambda one: (one.mark is None, -(one.imported + one.live), one.source))
    return [one.source for one in best[:most]]


def _walked(
    reading: Reading, tool: ToolId, sources: Sequence[ToolId], wanted: Wanted, found: dict[ToolId, _Found]
) -> None:
    ways = [(way.target, way.weight) for way in reading.ways(tool).values() if way.resolved and way.target != FINISH]
    ways += [
        (source, way.weight)
        for source in sources
        if reading.document(source) and (way := reading.ways(source).get(tool)) is not None
    ]
    for other, weight in ways:
        if weight >= wanted.least:
            one = found.setdefault(other, _Found())
            one.walk = max(one.walk or 0.0, weight)


async def _fitting(reading: Reading, found: Mapping[ToolId, _Found], wanted: Wanted) -> dict[ToolId, _Found]:
    """Those of the tool set, and of what calls of them do, that is wanted."""
    fit = {tool: how for tool, how in found.items() if wanted.toolset in ("", split_tool_id(tool)[1])}
    if wanted.effect is None:
        return fit
    looked_at = _best_of_both(fit)[:_LOOKED_AT]
    docs = await reading.graph.get_tools(looked_at)
    return {tool: fit[tool] for tool in looked_at if tool in docs and docs[tool].effect.kind == wanted.effect}


def _best_of_both(found: Mapping[ToolId, _Found]) -> list[ToolId]:
    """The heaviest and the best coupled in turn: the one kind says little of the other."""
    by_walk = sorted(
        (tool for tool, how in found.items() if how.walk is not None),
        key=lambda tool: (-(found[tool].walk or 0.0), -(found[tool].feed or 0.0), tool),
    )
    by_feed = sorted(
        (tool for tool, how in found.items() if how.feed is not None),
        key=lambda tool: (-(found[tool].feed or 0.0), -(found[tool].walk or 0.0), tool),
    )
    in_turn = chain.from_iterable(zip_longest(by_walk, by_feed))
    return list(dict.fromkeys(tool for tool in in_turn if tool is not None))


def _picture(  # of all that was found
    reading: Reading,
    centre: ToolId,
    depths: Mapping[ToolId, int],
    left: int,
    wanted: Wanted,
    banned: Collection[ToolId],
) -> GraphPicture:
    docs = {tool: doc for tool in depths if (doc := reading.document(tool)) is not None}
    walks = list(_walks(reading, docs, wanted)) if wanted.walks else []
    feeds = feeds_of(_feeds(reading, docs, wanted)) if wanted.feeds else []
    end = reading.ways(centre).get(FINISH)
    return GraphPicture(
        centre=centre,
        ends=end.weight if end else 0.0,
        tools=[_tool(reading, doc, depths[tool], docs, banned) for tool, doc in docs.items()],
        walks=_first(walks, centre),
        feeds=_first(feeds, centre),
        left_out=left,
        edges_left_out=max(0, len(walks) - _EDGES) + max(0, len(feeds) - _EDGES),
    )


def _walks(reading: Reading, tools: Collection[ToolId], wanted: Wanted) -> Iterator[GraphWalk]:
    for tool in tools:
        for way in reading.ways(tool).values():
            if way.target in tools and way.weight >= wanted.least:
                yield walk_of(way)


def _feeds(reading: Reading, tools: Collection[ToolId], wanted: Wanted) -> Iterator[FeedLink]:
    return (
        feed
        for tool in tools
        for feed in reading.known[tool].feeds
        if feed.source in tools and feed.score >= wanted.least
    )


def _first(edges: Iterable[Edge], centre: ToolId) -> list[Edge]:
    """Those of the centre first, then the best."""
    best = sorted(edges, key=lambda one: (centre not in (one.source, one.target), -one.score, one.source, one.target))
    return best[:_EDGES]


def _tool(
    reading: Reading, doc: ToolDoc, depth: int, tools: Collection[ToolId], banned: Collection[ToolId]
) -> GraphTool:
    known = reading.known[doc.id]
    facts = known.facts
    near = {way.target for way in reading.ways(doc.id).values() if way.resolved and way.target != FINISH}
    near |= {one.source for one in known.into if not is_unresolved(one.source)} | {one.source for one in known.feeds}
    return GraphTool(
        id=doc.id,
        category=doc.category,
        toolset=doc.toolset,
        api=doc.api,
        effect=doc.effect.kind,
        availability=compute_availability(facts, reading.weights, reading.now),
        tried=facts.calls + facts.ok + facts.transient + facts.gone,
        depth=depth,
        beyond=len(near.difference(tools)),
        banned=doc.id in banned,
    )
