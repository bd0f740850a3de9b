"""Edges and links with shuffled ends: every tool keeps how many it has, which tools they join is random."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import cycle

from domain.tool import ToolId
from graph.facts import Edge
from graph.links import Feed, Substitute

Ends = tuple[ToolId, ToolId]

SWAPS = 10
"""Swaps per edge; after this many, no trace of the original pairing is left (Milo et al. 2003)."""


def rewired(edges: Sequence[Edge], seed: int) -> list[Edge]:
    """Return the edges with shuffled targets.

    A count stays with its source, so that the weights out of a tool are the same numbers on other targets.
    """
    targets = rewired_targets([(edge.source, edge.target) for edge in edges], seed)
    return [replace(e, target=target, mark=None) for e, target in zip(edges, targets, strict=True)]


def rewired_feeds(feeds: Iterable[Feed], seed: int) -> list[Feed]:
    """Return the feeds with shuffled targets.

    Parameters and scores stay with the tool that is fed, fields with the tool that feeds: a tool that fed another by two fields feeds the
    new one by these, in turn.
    """
    joined: dict[Ends, list[Feed]] = {}
    for feed in feeds:
        joined.setdefault((feed.source, feed.target), []).append(feed)
    pairs = sorted(joined)
    targets = rewired_targets(pairs, seed)
    into: dict[ToolId, list[list[Feed]]] = {}
    for pair in pairs:
        into.setdefault(pair[1], []).append(joined[pair])
    found: list[Feed] = []
    for pair, target in zip(pairs, targets, strict=True):
        given = into[target].pop(0)
        fields = cycle([feed.field for feed in joined[pair]])
        found += [Feed(pair[0], target, next(fields), feed.parameter, feed.score) for feed in given]
    return found


def rewired_substitutes(substitutes: Iterable[Substitute], seed: int) -> list[Substitute]:
    """Return the substitutes with shuffled pairs; scores stay with the tool that is replaced.

    Which parameters take which values is unknown for random pairs, so it is left out.
    """
    pairs = sorted(substitutes, key=lambda one: (one.one, one.other))
    others = rewired_targets([(one.one, one.other) for one in pairs], seed)
    return [Substitute(one.one, other, one.score) for one, other in zip(pairs, others, strict=True)]


def rewired_targets(ends: Sequence[Ends], seed: int) -> list[ToolId]:
    """Return a new target for each source, in order, by degree-preserving swaps between pairs of edges.

    The result has no loop and no edge twice, unless ``ends`` has.
    """
    chance = random.Random(seed)
    targets = [target for _, target in ends]
    taken = set(ends)
    for _ in range(SWAPS * len(ends)):
        one, other = chance.randrange(len(ends)), chance.randrange(len(ends))
        here, there = (ends[one][0], targets[other]), (ends[other][0], targets[one])
        # A swap must make neither an edge that exists nor a loop.
        if here in taken or there in taken or here[0] == here[1] or there[0] == there[1]:
            continue
        taken -= {(ends[one][0], targets[one]), (ends[other][0], targets[other])}
        taken |= {here, there}
        targets[one], targets[other] = targets[other], targets[one]
    return targets
