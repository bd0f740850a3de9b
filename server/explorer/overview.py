"""The whole graph from afar: tool sets with the number of their tools, and what joins them."""

import asyncio
from collections import Counter
from collections.abc import Sequence

from pydantic import BaseModel

from domain.tool import FINISH, ToolId, is_unresolved, split_tool_id
from graph.links import LinkedGraph
from server.library.catalogue import beginning_with

_EDGES_READ = 200_000
"""Transitions that are counted. A store with more tells of these, in the order of their ids."""
_LOOKED_AT = 600
"""Tools whose couplings are counted, in all, and of one tool set."""
_OF_A_SET = 40
_AT_ONCE = 200
_JOINS = 120
_BUSIEST = 12


class GraphSet(BaseModel):
    """A tool set. ``id``: what the ids of its tools begin with. ``walked``: how often requests went from or to one of its tools; ``inside``: those that stayed in it."""

    id: str
    category: str
    toolset: str
    tools: int
    walked: int
    inside: int


class SetJoin(BaseModel):
    """``walked``: how often requests went from a tool of the one set to a tool of the other; ``coupled``: how many fields fill parameters there."""

    source: str
    target: str
    walked: int
    coupled: int


class BusyTool(BaseModel):
    """``walked``: how often requests went to it or from it."""

    id: ToolId
    walked: int


class GraphOverview(BaseModel):
    """The most walked tool sets, then the largest. ``toolsets``, ``tools``: how many there are in all. ``counted_whole``: all transitions were counted, and the couplings
    of all tools of these sets; else of some of them. ``joins_left_out``: between these sets, the least of them.
    """

    sets: list[GraphSet]
    toolsets: int
    tools: int
    joins: list[SetJoin]
    joins_left_out: int
    counted_whole: bool
    busiest: list[BusyTool]


async def overview(graph: LinkedGraph, ids: Sequence[ToolId], most: int) -> GraphOverview:
    """``ids``: of all tools, in order."""
    sizes = await asyncio.to_thread(lambda: Counter(set_of(tool) for tool in ids))
    walks, busy, whole = await _walked(graph)
    busyness = Counter[str]()
    for (source, target), times in walks.items():
        for name in {source, target}:
            busyness[name] += times
    shown = sorted(sizes, key=lambda one: (-busyness[one], -sizes[one], one))[:most]
    coupled, all_coupled = await _coupled(graph, ids, shown)
    joins = _joins(walks, coupled, shown)
    return GraphOverview(
        sets=[_set(one, sizes[one], busyness[one], walks[one, one]) for one in shown],
        toolsets=len(sizes),
        tools=len(ids),
        joins=joins[:_JOINS],
        joins_left_out=max(0, len(joins) - _JOINS),
        counted_whole=whole and all_coupled,
        busiest=[BusyTool(id=tool, walked=times) for tool, times in _most(busy)],
    )


def set_of(tool: ToolId) -> str:
    """What the ids of its tool set begin with."""
    return tool.rpartition("/")[0]


async def _walked(graph: LinkedGraph) -> tuple[Counter[tuple[str, str]], Counter[ToolId], bool]:
    """How often tools of one set followed those of another, and how often each tool was gone through; False: not all was counted."""
    sets, tools, read = Counter[tuple[str, str]](), Counter[ToolId](), 0
    async for edge in graph.stream_edges():
        read += 1
        if read > _EDGES_READ:
            return sets, tools, False
        times = edge.imported + edge.live
        if edge.target == FINISH or not times or is_unresolved(edge.source) or is_unresolved(edge.target):
            continue
        sets[set_of(edge.source), set_of(edge.target)] += times
        tools[edge.source] += times
        tools[edge.target] += times
    return sets, tools, True


async def _coupled(
    graph: LinkedGraph, ids: Sequence[ToolId], shown: Sequence[str]
) -> tuple[Counter[tuple[str, str]], bool]:
    """How many couplings lead from one of these sets into another; False: not of all of their tools."""
    of_sets = [ids[beginning_with(one, ids)] for one in shown]
    tools = [tool for each in of_sets for tool in each[:_OF_A_SET]][:_LOOKED_AT]
    among, found = frozenset(shown), Counter[tuple[str, str]]()
    for start in range(0, len(tools), _AT_ONCE):
        for tool, known in (await graph.load_neighbourhoods(tools[start : start + _AT_ONCE])).items():
            for feed in known.feeds:
                if (source := set_of(feed.source)) in among and source != set_of(tool):
                    found[source, set_of(tool)] += 1
    return found, len(tools) == sum(map(len, of_sets))


def _joins(walks: Counter[tuple[str, str]], coupled: Counter[tuple[str, str]], shown: Sequence[str]) -> list[SetJoin]:
    among = frozenset(shown)
    pairs = {pair for pair in {*walks, *coupled} if pair[0] != pair[1] and among.issuperset(pair)}
    best = sorted(pairs, key=lambda pair: (-walks[pair], -coupled[pair], pair))
    return [SetJoin(source=pair[0], target=pair[1], walked=walks[pair], coupled=coupled[pair]) for pair in best]


def _set(name: str, tools: int, walked: int, inside: int) -> GraphSet:
    category, toolset, _ = split_tool_id(ToolId(f"{name}/x"))
    return GraphSet(id=name, category=category, toolset=toolset, tools=tools, walked=walked, inside=inside)


def _most(busy: Counter[ToolId]) -> list[tuple[ToolId, int]]:
    return sorted(busy.items(), key=lambda one: (-one[1], one[0]))[:_BUSIEST]
