"""What joins a tool to others: walks out of it and into it, what feeds what, and what can do its job; each with what it rests on."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from domain.tool import FINISH, ToolId
from graph.evidence import to_timestamp
from graph.facts import Edge, Mark, Neighbour
from graph.links import FeedLink, SubstituteLink, ToolNeighbourhood
from graph.weights import WeightParameters, compute_transition_weights
from wiring.container import Container


@dataclass(frozen=True, slots=True)
class Walk:
    """An edge seen from the tool: ``other`` is its other end. ``weight``: its share of all that leave its source, marks counted in. ``imported``,
    ``live``: how often it was walked; ``strength``: what is left of the live walks.
    """

    other: ToolId
    weight: float
    imported: int
    live: int
    strength: float
    mark: Mark | None
    availability: float | None


@dataclass(frozen=True, slots=True)
class Beside:
    """The heaviest of each, best first, with how many there are in all."""

    after: Sequence[Walk]
    afters: int
    before: Sequence[Walk]
    befores: int
    feeds_in: Sequence[FeedLink]
    feed_ins: int
    feeds_out: Sequence[FeedLink]
    feed_outs: int
    substitutes: Sequence[SubstituteLink]


async def beside(container: Container, tool: ToolId, limit: int) -> Beside:
    """At most ``limit`` of each; of what has no document only the end of a request."""
    found, feeds_out = await asyncio.gather(
        container.graph.load_neighbourhoods([tool]), container.graph.get_feeds_out(tool)
    )
    here = found.get(tool)
    if here is None:
        return Beside((), 0, (), 0, (), 0, (), 0, ())
    after = _out(here, container.weights)
    before, befores = await _before(container, here.into, limit)
    return Beside(
        after=after[:limit],
        afters=len(after),
        before=before,
        befores=befores,
        feeds_in=here.feeds[:limit],
        feed_ins=len(here.feeds),
        feeds_out=feeds_out[:limit],
        feed_outs=len(feeds_out),
        substitutes=here.substitutes[:limit],
    )


def _out(here: ToolNeighbourhood, weights: WeightParameters) -> list[Walk]:
    return _heaviest(
        Walk(one.target, one.weight, *_counts(one.edge), one.availability)
        for one in compute_transition_weights(here.out, weights, to_timestamp())
        if one.resolved or one.target == FINISH
    )


async def _before(container: Container, into: Sequence[Edge], limit: int) -> tuple[list[Walk], int]:
    """The weight of each is a share among all that leave its source, so that only of the most walked the sources are read."""
    most = sorted(into, key=lambda one: (one.mark is None, -(one.imported + one.live), one.source))[:limit]
    around = await container.graph.load_neighbourhoods([one.source for one in most])
    found = [_into(edge, around[edge.source].out, container.weights) for edge in most if edge.source in around]
    return _heaviest(found), len(into)


def _into(edge: Edge, out: Sequence[Neighbour], weights: WeightParameters) -> Walk:
    shares = {one.target: one.weight for one in compute_transition_weights(out, weights, to_timestamp())}
    return Walk(edge.source, shares.get(edge.target, 0.0), *_counts(edge), None)


def _counts(edge: Edge) -> tuple[int, int, float, Mark | None]:
    return edge.imported, edge.live, edge.strength, edge.mark


def _heaviest(walks: Iterable[Walk]) -> list[Walk]:
    """What is marked stays in sight, whatever it weighs."""
    return sorted(walks, key=lambda one: (one.mark is None, -one.weight, one.other))
