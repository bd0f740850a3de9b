"""A part of the tool graph, as it is answered: tools, and what joins them."""

from collections.abc import Iterable, Sequence

from pydantic import BaseModel

from domain.tool import ToolId
from graph.facts import Mark
from graph.links import FeedLink
from graph.weights import WeightedEdge
from server.library.listing import Effect

_COUPLINGS = 3


class GraphTool(BaseModel):
    """``depth``: how many edges lie between it and the centre. ``availability`` None: untested; ``tried``: calls that it stands on. ``beyond``: neighbours
    that are known and not in the picture. ``banned``: an administrator has it offered to no run.
    """

    id: ToolId
    category: str
    toolset: str
    api: str
    effect: Effect
    availability: float | None
    tried: int
    depth: int
    beyond: int
    banned: bool


class GraphWalk(BaseModel):
    """A transition. ``weight``: its share of all out of its source, marks counted in; ``score``: that times the availability of its target (one half where that
    is untested), by which runs rank it. ``strength``: what is left of the live walks.
    """

    source: ToolId
    target: ToolId
    weight: float
    imported: int
    live: int
    strength: float
    mark: Mark | None
    availability: float | None
    score: float


class Coupled(BaseModel):
    """``field`` of what the source answers can fill ``parameter`` of the target; ``score``: how well, in [0, 1]."""

    field: str
    parameter: str
    score: float


class GraphFeed(BaseModel):
    """All couplings from one tool into another: the best three of ``many``; ``score``: of the best."""

    source: ToolId
    target: ToolId
    score: float
    couplings: list[Coupled]
    many: int


class GraphPicture(BaseModel):
    """``ends``: the share of requests that ended with the centre. ``left_out``: neighbours that were found and are not in the picture; ``edges_left_out``: edges between
    its tools that are not.
    """

    centre: ToolId
    ends: float
    tools: list[GraphTool]
    walks: list[GraphWalk]
    feeds: list[GraphFeed]
    left_out: int
    edges_left_out: int


def walk_of(way: WeightedEdge) -> GraphWalk:
    """An edge with its weight."""
    edge = way.edge
    return GraphWalk(
        source=edge.source,
        target=edge.target,
        weight=way.weight,
        imported=edge.imported,
        live=edge.live,
        strength=edge.strength,
        mark=edge.mark,
        availability=way.availability,
        score=way.rank_score,
    )


def feeds_of(feeds: Iterable[FeedLink]) -> list[GraphFeed]:
    """Feeds by the two tools that they join, the best first."""
    joined: dict[tuple[ToolId, ToolId], list[FeedLink]] = {}
    for one in feeds:
        joined.setdefault((one.source, one.target), []).append(one)
    found = [_feed(source, target, ones) for (source, target), ones in joined.items()]
    return sorted(found, key=lambda one: (-one.score, one.source, one.target))


def _feed(source: ToolId, target: ToolId, feeds: Sequence[FeedLink]) -> GraphFeed:
    best = sorted(feeds, key=lambda one: (-one.score, one.parameter, one.field))
    told = [Coupled(field=one.field, parameter=one.parameter, score=one.score) for one in best[:_COUPLINGS]]
    return GraphFeed(source=source, target=target, score=best[0].score, couplings=told, many=len(best))
