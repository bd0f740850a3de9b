"""The ways from one tool to another over at most two more, the surest first."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise

from pydantic import BaseModel

from domain.tool import FINISH, ToolId
from graph.links import FeedLink, LinkedGraph
from graph.weights import UNTESTED_AVAILABILITY, WeightParameters, compute_availability
from server.explorer.picture import GraphFeed, GraphWalk, feeds_of, walk_of
from server.explorer.reading import Reading

BESIDE = 40
"""Neighbours of either end that ways may go through: the best."""
UNWALKED = 0.1
"""What a coupling counts, times its score, where nobody has gone from the one tool to the other."""


class PathStep(BaseModel):
    """One edge: walked, coupled, or both."""

    source: ToolId
    target: ToolId
    walk: GraphWalk | None
    feed: GraphFeed | None


class GraphPath(BaseModel):
    """``score``: the product over its edges of weight × availability of where each leads; of an edge that nobody walked a tenth of its coupling's score stands for the weight."""

    score: float
    steps: list[PathStep]


class GraphPaths(BaseModel):
    """The surest ways; ``left_out``: how many more were found. Between tools that have very many neighbours only the best of these are gone through."""

    paths: list[GraphPath]
    left_out: int


async def paths_between(
    graph: LinkedGraph, weights: WeightParameters, source: ToolId, target: ToolId, most: int
) -> GraphPaths:
    """Over one, two or three edges; no tool twice."""
    roads = _Roads(Reading(graph, weights))
    await roads.begin(source, target)
    ways = [(source, target)] + [(source, one, target) for one in roads.after if one in roads.before_set]
    ways += [(source, one, other, target) for one in roads.after for other in roads.before if one != other]
    found = [path for way in dict.fromkeys(ways) if (path := roads.path(way)) is not None]
    best = sorted(found, key=lambda one: (-one.score, len(one.steps), [step.target for step in one.steps]))
    return GraphPaths(paths=best[:most], left_out=max(0, len(best) - most))


class _Roads:
    """What leads where, as far as it was read. ``after``: the best neighbours behind the first tool; ``before``: those ahead of the last."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._feeds: dict[tuple[ToolId, ToolId], GraphFeed] = {}
        self.after: list[ToolId] = []
        self.before: list[ToolId] = []
        self.before_set: frozenset[ToolId] = frozenset()

    async def begin(self, source: ToolId, target: ToolId) -> None:
        """Read both ends and what is beside them."""
        reading = self._reading
        _, fed = await asyncio.gather(reading.read([source, target]), reading.graph.get_feeds_out(source))
        here = reading.known[target]
        ends = {source, target, FINISH}
        walked = sorted(reading.ways(source).values(), key=lambda way: (-way.rank_score, way.target))
        into = sorted(here.into, key=lambda one: (-(one.imported + one.live), one.source))
        self.after = _in_turn((one.target for one in walked if one.resolved), (one.target for one in fed), ends)
        self.before = _in_turn((one.source for one in into), (one.source for one in here.feeds), ends)
        await reading.read([*self.after, *self.before])
        self.after = [one for one in self.after if reading.document(one)]
        self.before = [one for one in self.before if reading.document(one)]
        self.before_set = frozenset(self.before)
        known = chain(fed, *(reading.known[tool].feeds for tool in {*self.after, *self.before, target}))
        self._feeds = {(one.source, one.target): one for one in feeds_of(_once(known))}

    def path(self, tools: Sequence[ToolId]) -> GraphPath | None:
        """None: one of its edges is not there, or an administrator has banned it."""
        steps: list[PathStep] = []
        score = 1.0
        for one, other in pairwise(tools):
            way, feed = self._reading.ways(one).get(other), self._feeds.get((one, other))
            if (way is None and feed is None) or (way is not None and way.edge.mark == "ban"):
                return None
            walked = way.rank_score if way is not None else 0.0
            score *= walked or UNWALKED * (feed.score if feed is not None else 0.0) * self._available(other)
            steps.append(PathStep(source=one, target=other, walk=walk_of(way) if way is not None else None, feed=feed))
        return GraphPath(score=score, steps=steps)

    def _available(self, tool: ToolId) -> float:
        known = compute_availability(self._reading.known[tool].facts, self._reading.weights, self._reading.now)
        return UNTESTED_AVAILABILITY if known is None else known


def _in_turn(walked: Iterable[ToolId], fed: Iterable[ToolId], but: set[ToolId]) -> list[ToolId]:
    """Half of those that were walked, half of those that are coupled, each once; more of the one where there are few of the other."""
    one = [tool for tool in dict.fromkeys(walked) if tool not in but]
    other = [tool for tool in dict.fromkeys(fed) if tool not in but]
    half = BESIDE // 2
    first = [*one[:half], *other[:half]]
    return list(dict.fromkeys([*first, *one[half:], *other[half:]]))[:BESIDE]


def _once(feeds: Iterable[FeedLink]) -> Iterator[FeedLink]:
    yield from dict.fromkeys(feeds)
