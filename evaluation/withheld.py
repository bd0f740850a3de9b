"""A graph without what calls tell of its tools: recorded calls were largely made for the very requests that are measured."""

from collections.abc import Iterable
from dataclasses import replace

from domain.tool import ToolId
from graph.facts import ToolFacts
from graph.links import Neighbourhood
from graph.store import GraphReads


class CallsWithheld:
    """A graph's documents and edges; every tool is untested. That a tool was ever called would tell that it is asked for."""

    def __init__(self, graph: GraphReads) -> None:
        self._graph = graph

    async def around(self, tools: Iterable[ToolId]) -> dict[ToolId, Neighbourhood]:
        """As the graph has them, without any facts."""
        return {
            tool: replace(known, facts=ToolFacts(), out=[replace(way, facts=ToolFacts()) for way in known.out])
            for tool, known in (await self._graph.around(tools)).items()
        }
