"""Variants of a graph to compare it with: without edges, with shuffled ends, or without evidence of calls."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal

from domain.tool import FINISH, ToolId
from evaluation.rewiring import Ends, rewired, rewired_feeds, rewired_substitutes
from graph.facts import Edge, Neighbour, ToolFacts
from graph.links import Feed, LinkedGraph, Neighbourhood, Substitute
from graph.store import GraphReads

Edges = Literal["real", "none", "shuffled", "coupling"]
"""Edges of a variant: the real ones; none; transitions and links with shuffled ends; links alone."""


class Links:
    """Links of tools other than those of their store; ``kept`` is the share, by kind, that the store has too."""

    def __init__(
        self,
        feeds: Iterable[Feed] = (),
        substitutes: Iterable[Substitute] = (),
        kept: Mapping[str, float] | None = None,
    ) -> None:
        self.kept = kept or {}
        self._feeds: dict[ToolId, list[Feed]] = {}
        self._substitutes: dict[ToolId, list[Substitute]] = {}
        for feed in sorted(feeds, key=lambda one: (-one.score, one.source, one.parameter, one.field)):
            self._feeds.setdefault(feed.target, []).append(feed)
        for pair in sorted(substitutes, key=lambda one: (-one.score, one.other)):
            self._substitutes.setdefault(pair.one, []).append(pair)

    def feeds_into(self, tool: ToolId) -> list[Feed]:
        """Return the feeds that fill a tool's parameters, best first."""
        return self._feeds.get(tool, [])

    def substitutes(self, tool: ToolId) -> list[Substitute]:
        """Return the tools that do a tool's job, best first."""
        return self._substitutes.get(tool, [])


NO_LINKS = Links()
_PORTION = 500


class RewiredGraph:
    """A graph store's documents and facts with other edges; read only.

    With ``links`` None, the links are those of the store. ``kept`` is the share of shuffled edges, by kind, that the store has too: large
    where few tools have many edges.
    """

    def __init__(
        self,
        store: LinkedGraph,
        edges: Iterable[Edge] = (),
        facts: Mapping[ToolId, ToolFacts] | None = None,
        links: Links | None = NO_LINKS,
        kept: Mapping[str, float] | None = None,
    ) -> None:
        self.kept = {**(kept or {}), **(links.kept if links else {})}
        self._store = store
        self._facts = facts or {}
        self._links = links
        self._out: dict[ToolId, list[Edge]] = {}
        self._into: dict[ToolId, list[Edge]] = {}
        for edge in sorted(edges, key=_ends):
            self._out.setdefault(edge.source, []).append(edge)
            self._into.setdefault(edge.target, []).append(edge)

    async def around(self, tools: Iterable[ToolId]) -> dict[ToolId, Neighbourhood]:
        """Return the neighbourhoods of the store, with the other edges and links."""
        known = await self._store.around(tools)
        targets = {edge.target for tool in known for edge in self._out.get(tool, [])}
        documents = await self._store.get_tools(targets) if targets else {}
        return {
            tool: replace(
                found,
                out=[
                    Neighbour(edge, self._facts.get(edge.target, ToolFacts()), edge.target in documents)
                    for edge in self._out.get(tool, [])
                ],
                into=self._into.get(tool, []),
                feeds=found.feeds if self._links is None else self._links.feeds_into(tool),
                substitutes=found.substitutes if self._links is None else self._links.substitutes(tool),
            )
            for tool, found in known.items()
        }

    async def edges_beside(self, tools: Iterable[ToolId]) -> list[Edge]:
        """Return all other edges out of or into one of these tools, each once, ordered by its ends."""
        found = {_ends(edge): edge for tool in tools for edge in (*self._out.get(tool, ()), *self._into.get(tool, ()))}
        return [found[ends] for ends in sorted(found)]


async def variant(store: LinkedGraph, edges: Edges) -> LinkedGraph | RewiredGraph:
    """Build the graph with those edges."""
    match edges:
        case "real":
            return store
        case "none":
            return await without_edges(store)
        case "coupling":
            return RewiredGraph(store, links=None)
        case "shuffled":
            return await shuffled(store, links=await shuffled_links(store))


async def without_edges(store: LinkedGraph) -> RewiredGraph:
    """Return the graph without any edge."""
    return RewiredGraph(store)


async def shuffled(store: LinkedGraph, seed: int = 7, links: Links = NO_LINKS) -> RewiredGraph:
    """Return the graph with random edges.

    Every tool keeps how many edges go out of it and into it, and the order of their counts.
    """
    edges = [edge async for edge in store.edges()]
    facts = {tool: found async for tool, found in store.nodes()}
    made = rewired(edges, seed)
    return RewiredGraph(store, made, facts, links, _kept("transitions", map(_ends, edges), map(_ends, made)))


async def shuffled_links(store: LinkedGraph, seed: int = 7) -> Links:
    """Return random links: every tool keeps how many tools it feeds, is fed by and has as substitutes."""
    tools = [document.id async for document in store.documents()]
    feeds: list[Feed] = []
    substitutes: list[Substitute] = []
    for start in range(0, len(tools), _PORTION):
        for one in (await store.around(tools[start : start + _PORTION])).values():
            feeds += one.feeds
            substitutes += one.substitutes
    fed, others = rewired_feeds(feeds, seed), rewired_substitutes(substitutes, seed)
    kept = {
        **_kept("feeds", ((one.source, one.target) for one in feeds), ((one.source, one.target) for one in fed)),
        **_kept("substitutes", ((one.one, one.other) for one in substitutes), ((one.one, one.other) for one in others)),
    }
    return Links(fed, others, kept)


class WithoutCallEvidence:
    """A graph in which every tool is untested.

    That a tool was ever called would reveal that it is asked for.
    """

    def __init__(self, graph: GraphReads) -> None:
        self._graph = graph

    async def around(self, tools: Iterable[ToolId]) -> dict[ToolId, Neighbourhood]:
        """Return the neighbourhoods of the graph without any facts."""
        return {
            tool: replace(known, facts=ToolFacts(), out=[replace(way, facts=ToolFacts()) for way in known.out])
            for tool, known in (await self._graph.around(tools)).items()
        }


def _ends(edge: Edge) -> Ends:
    return edge.source, edge.target


def _kept(kind: str, real: Iterable[Ends], made: Iterable[Ends]) -> dict[str, float]:
    """Return the share of random pairs that are real, if there are any; pairs with the end of a path do not count."""
    pairs = {pair for pair in made if pair[1] != FINISH}
    return {kind: len(pairs & set(real)) / len(pairs)} if pairs else {}
