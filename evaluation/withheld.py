"""A graph without what calls tell of its tools: recorded calls were largely made for the very requests that are measured."""

from collections.abc import Iterable
from dataclasses import replace

from domain.tool import ToolDoc, ToolId
from graph.facts import Edge, Neighbour, ToolFacts
from graph.store import GraphReads


class CallsWithheld:
    """A graph's documents and edges; every tool is untested. That a tool was ever called would tell that it is asked for."""

    def __init__(self, graph: GraphReads) -> None:
        self._graph = graph

    async def get_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        """As the graph has them."""
        return await self._graph.get_tools(ids)

    async def facts(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolFacts]:
        """None of them."""
        return dict.fromkeys(await self._graph.facts(ids), ToolFacts())

    async def out_edges(self, tool: ToolId) -> list[Neighbour]:
        """As the graph has them, without the facts of their targets."""
        return [replace(way, facts=ToolFacts()) for way in await self._graph.out_edges(tool)]

    async def in_edges(self, tool: ToolId) -> list[Edge]:
        """As the graph has them."""
        return await self._graph.in_edges(tool)
