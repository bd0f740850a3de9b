"""Variants of a graph to compare it with: without edges, with shuffled ends, or without evidence of calls."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Literal

from domain.tool import FINISH, ToolId
from graph.facts import Edge, Neighbour, ToolFacts
from graph.links import FeedLink, LinkedGraph, SubstituteLink, ToolNeighbourhood
from graph.store import NeighbourhoodReader

Ends = tuple[ToolId, ToolId]

SWAPS_PER_EDGE = 10
"""Swaps per edge; after this many, no trace of the original pairing is left (Milo et al. 2003)."""


def rewire_edges(edges: Sequence[Edge], seed: int) -> list[Edge]:
    """Return the edges with shuffled targets.

    A count stays with its source, so that the weights out of a tool are the same numbers on other targets.
    """
    targets = rewire_targets([(edge.source, edge.target) for edge in edges], seed)
    return [replace(e, target=target, mark=None) for e, target in zip(edges, targets, strict=True)]


def rewire_feeds(feeds: Iterable[FeedLink], seed: int) -> list[FeedLink]:
    """Return the feeds with shuffled targets.

    Parameters and scores stay with the tool that is fed, fields with the tool that feeds: a tool that fed another by two fields feeds the
    new one by these, in turn.
    """
    feeds_by_ends: dict[Ends, list[FeedLink]] = {}
    for feed in feeds:
        feeds_by_ends.setdefault((feed.source, feed.target), []).append(feed)
    pairs = sorted(feeds_by_ends)
    targets = rewire_targets(pairs, seed)
    feeds_by_target: dict[ToolId, list[list[FeedLink]]] = {}
    for pair in pairs:
        feeds_by_target.setdefault(pair[1], []).append(feeds_by_ends[pair])
    new_feeds: list[FeedLink] = []
    for pair, target in zip(pairs, targets, strict=True):
        target_feeds = feeds_by_target[target].pop(0)
        fields = cycle([feed.field for feed in feeds_by_ends[pair]])
        new_feeds += [FeedLink(pair[0], target, next(fields), feed.parameter, feed.score) for feed in target_feeds]
    return new_feeds


def rewire_substitutes(substitutes: Iterable[SubstituteLink], seed: int) -> list[SubstituteLink]:
    """Return the substitutes with shuffled pairs; scores stay with the tool that is replaced.

    Which parameters take which values is unknown for random pairs, so it is left out.
    """
    pairs = sorted(substitutes, key=lambda one: (one.one, one.other))
    others = rewire_targets([(one.one, one.other) for one in pairs], seed)
    return [SubstituteLink(one.one, other, one.score) for one, other in zip(pairs, others, strict=True)]


def rewire_targets(ends: Sequence[Ends], seed: int) -> list[ToolId]:
    """Return a new target for each source, in order, by degree-preserving swaps between pairs of edges.

    The result has no loop and no edge twice, unless ``ends`` has.
    """
    chance = random.Random(seed)
    targets = [target for _, target in ends]
    existing = set(ends)
    for _ in range(SWAPS_PER_EDGE * len(ends)):
        first, second = chance.randrange(len(ends)), chance.randrange(len(ends))
        new_first, new_second = (ends[first][0], targets[second]), (ends[second][0], targets[first])
        # A swap must make neither an edge that exists nor a loop.
        if (
            new_first in existing
            or new_second in existing
            or new_first[0] == new_first[1]
            or new_second[0] == new_second[1]
        ):
            continue
        existing -= {(ends[first][0], targets[first]), (ends[second][0], targets[second])}
        existing |= {new_first, new_second}
        targets[first], targets[second] = targets[second], targets[first]
    return targets


Edges = Literal["real", "none", "shuffled", "coupling"]
"""Edges of a variant: the real ones; none; transitions and links with shuffled ends; links alone."""


class RewiredLinks:
    """Links of tools other than those of their store; ``kept_shares`` is the share, by kind, that the store has too."""

    def __init__(
        self,
        feeds: Iterable[FeedLink] = (),
        substitutes: Iterable[SubstituteLink] = (),
        kept_shares: Mapping[str, float] | None = None,
    ) -> None:
        self.kept_shares = kept_shares or {}
        self._feeds: dict[ToolId, list[FeedLink]] = {}
        self._substitutes: dict[ToolId, list[SubstituteLink]] = {}
        for feed in sorted(feeds, key=lambda one: (-one.score, one.source, one.parameter, one.field)):
            self._feeds.setdefault(feed.target, []).append(feed)
        for pair in sorted(substitutes, key=lambda one: (-one.score, one.other)):
            self._substitutes.setdefault(pair.one, []).append(pair)

    def get_feeds(self, tool: ToolId) -> list[FeedLink]:
        """Return the feeds that fill a tool's parameters, best first."""
        return self._feeds.get(tool, [])

    def get_substitutes(self, tool: ToolId) -> list[SubstituteLink]:
        """Return the tools that do a tool's job, best first."""
        return self._substitutes.get(tool, [])


NO_LINKS = RewiredLinks()
_BATCH_SIZE = 500


class RewiredGraph:
    """A graph store's documents and facts with other edges; read only.

    With ``links`` None, the links are those of the store. ``kept_shares`` is the share of shuffled edges, by kind, that the store has too: large
    where few tools have many edges.
    """

    def __init__(
        self,
        store: LinkedGraph,
        edges: Iterable[Edge] = (),
        facts: Mapping[ToolId, ToolFacts] | None = None,
        links: RewiredLinks | None = NO_LINKS,
        kept_shares: Mapping[str, float] | None = None,
    ) -> None:
        self.kept_shares = {**(kept_shares or {}), **(links.kept_shares if links else {})}
        self._store = store
        self._facts = facts or {}
        self._links = links
        self._out: dict[ToolId, list[Edge]] = {}
        self._into: dict[ToolId, list[Edge]] = {}
        for edge in sorted(edges, key=_get_ends):
            self._out.setdefault(edge.source, []).append(edge)
            self._into.setdefault(edge.target, []).append(edge)

    async def load_neighbourhoods(self, tools: Iterable[ToolId]) -> dict[ToolId, ToolNeighbourhood]:
        """Return the neighbourhoods of the store, with the other edges and links."""
        neighbourhoods = await self._store.load_neighbourhoods(tools)
        targets = {edge.target for tool in neighbourhoods for edge in self._out.get(tool, [])}
        documents = await self._store.get_tools(targets) if targets else {}
        return {
            tool: replace(
                found,
                out=[
                    Neighbour(edge, self._facts.get(edge.target, ToolFacts()), edge.target in documents)
                    for edge in self._out.get(tool, [])
                ],
                into=self._into.get(tool, []),
                feeds=found.feeds if self._links is None else self._links.get_feeds(tool),
                substitutes=found.substitutes if self._links is None else self._links.get_substitutes(tool),
            )
            for tool, found in neighbourhoods.items()
        }

    async def find_adjacent_edges(self, tools: Iterable[ToolId]) -> list[Edge]:
        """Return all other edges out of or into one of these tools, each once, ordered by its ends."""
        edges_by_ends = {
            _get_ends(edge): edge for tool in tools for edge in (*self._out.get(tool, ()), *self._into.get(tool, ()))
        }
        return [edges_by_ends[ends] for ends in sorted(edges_by_ends)]


async def build_variant(store: LinkedGraph, edges: Edges) -> LinkedGraph | RewiredGraph:
    """Build the graph with those edges."""
    match edges:
        case "real":
            return store
        case "none":
            return await remove_edges(store)
        case "coupling":
            return RewiredGraph(store, links=None)
        case "shuffled":
            return await shuffle_edges(store, links=await shuffle_links(store))


async def remove_edges(store: LinkedGraph) -> RewiredGraph:
    """Return the graph without any edge."""
    return RewiredGraph(store)


async def shuffle_edges(store: LinkedGraph, seed: int = 7, links: RewiredLinks = NO_LINKS) -> RewiredGraph:
    """Return the graph with random edges.

    Every tool keeps how many edges go out of it and into it, and the order of their counts.
    """
    edges = [edge async for edge in store.stream_edges()]
    facts = {tool: found async for tool, found in store.stream_nodes()}
    new_edges = rewire_edges(edges, seed)
    return RewiredGraph(
        store,
        new_edges,
        facts,
        links,
        _compute_kept_share("transitions", map(_get_ends, edges), map(_get_ends, new_edges)),
    )


async def shuffle_links(store: LinkedGraph, seed: int = 7) -> RewiredLinks:
    """Return random links: every tool keeps how many tools it feeds, is fed by and has as substitutes."""
    tools = [document.id async for document in store.stream_documents()]
    feeds: list[FeedLink] = []
    substitutes: list[SubstituteLink] = []
    for start in range(0, len(tools), _BATCH_SIZE):
        for neighbourhood in (await store.load_neighbourhoods(tools[start : start + _BATCH_SIZE])).values():
            feeds += neighbourhood.feeds
            substitutes += neighbourhood.substitutes
    new_feeds, new_substitutes = rewire_feeds(feeds, seed), rewire_substitutes(substitutes, seed)
    kept_shares = {
        **_compute_kept_share(
            "feeds",
            ((neighbourhood.source, neighbourhood.target) for neighbourhood in feeds),
            ((neighbourhood.source, neighbourhood.target) for neighbourhood in new_feeds),
        ),
        **_compute_kept_share(
            "substitutes",
            ((neighbourhood.one, neighbourhood.other) for neighbourhood in substitutes),
            ((neighbourhood.one, neighbourhood.other) for neighbourhood in new_substitutes),
        ),
    }
    return RewiredLinks(new_feeds, new_substitutes, kept_shares)


class WithoutCallEvidence:
    """A graph in which every tool is untested.

    That a tool was ever called would reveal that it is asked for.
    """

    def __init__(self, graph: NeighbourhoodReader) -> None:
        self._graph = graph

    async def load_neighbourhoods(self, tools: Iterable[ToolId]) -> dict[ToolId, ToolNeighbourhood]:
        """Return the neighbourhoods of the graph without any facts."""
        return {
            tool: replace(known, facts=ToolFacts(), out=[replace(way, facts=ToolFacts()) for way in known.out])
            for tool, known in (await self._graph.load_neighbourhoods(tools)).items()
        }


def _get_ends(edge: Edge) -> Ends:
    return edge.source, edge.target


def _compute_kept_share(kind: str, real: Iterable[Ends], new_pairs: Iterable[Ends]) -> dict[str, float]:
    """Return the share of random pairs that are real, if there are any; pairs with the end of a path do not count."""
    pairs = {pair for pair in new_pairs if pair[1] != FINISH}
    return {kind: len(pairs & set(real)) / len(pairs)} if pairs else {}
