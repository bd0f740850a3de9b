"""Graphs that a real one is compared with: without edges, with its edges' ends dealt out anew, or without what calls tell of its tools."""

import random
from collections.abc import Iterable
from dataclasses import replace

from domain.tool import ToolId
from graph.facts import Edge, Neighbour, ToolFacts
from graph.links import Neighbourhood
from graph.store import GraphReads, GraphStore

SWAPS = 10
"""Swaps per edge; after this many, no trace of the original pairing is left (Milo et al. 2003)."""


class RewiredGraph:
    """A graph store's documents and facts, with other edges. Reads only."""

    def __init__(self, store: GraphStore, edges: Iterable[Edge], facts: dict[ToolId, ToolFacts]) -> None:
        self._store = store
        self._facts = facts
        self._out: dict[ToolId, list[Edge]] = {}
        self._into: dict[ToolId, list[Edge]] = {}
        for edge in sorted(edges, key=lambda e: (e.source, e.target)):
            self._out.setdefault(edge.source, []).append(edge)
            self._into.setdefault(edge.target, []).append(edge)

    async def around(self, tools: Iterable[ToolId]) -> dict[ToolId, Neighbourhood]:
        """As the store has them, with the other edges and no links."""
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
                feeds=(),
                substitutes=(),
            )
            for tool, found in known.items()
        }


async def without_edges(store: GraphStore) -> RewiredGraph:
    """No tool leads anywhere."""
    return RewiredGraph(store, (), {})


async def shuffled(store: GraphStore, seed: int = 7) -> RewiredGraph:
    """Every tool keeps how many edges go out of it and into it, and their counts' order; which tools they join is chance."""
    edges = [edge async for edge in store.edges()]
    facts = {tool: found async for tool, found in store.nodes()}
    return RewiredGraph(store, rewired(edges, seed), facts)


def rewired(edges: list[Edge], seed: int) -> list[Edge]:
    """Degree-preserving swaps of targets between pairs of edges; never a loop, never an edge twice.

    A count stays with its source, so that the weights out of a tool are the same numbers on other targets.
    """
    chance = random.Random(seed)
    targets = [edge.target for edge in edges]
    taken = {(edge.source, edge.target) for edge in edges}
    for _ in range(SWAPS * len(edges)):
        one, other = chance.randrange(len(edges)), chance.randrange(len(edges))
        here, there = (edges[one].source, targets[other]), (edges[other].source, targets[one])
        if here in taken or there in taken or here[0] == here[1] or there[0] == there[1]:
            continue
        taken -= {(edges[one].source, targets[one]), (edges[other].source, targets[other])}
        taken |= {here, there}
        targets[one], targets[other] = targets[other], targets[one]
    return [replace(e, target=target, mark=None) for e, target in zip(edges, targets, strict=True)]


class WithoutCallEvidence:
    """A graph's documents and edges; every tool is untested. That a tool was ever called would tell that it is asked for."""

    def __init__(self, graph: GraphReads) -> None:
        self._graph = graph

    async def around(self, tools: Iterable[ToolId]) -> dict[ToolId, Neighbourhood]:
        """As the graph has them, without any facts."""
        return {
            tool: replace(known, facts=ToolFacts(), out=[replace(way, facts=ToolFacts()) for way in known.out])
            for tool, known in (await self._graph.around(tools)).items()
        }
