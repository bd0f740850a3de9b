"""View of a graph without the tools that its reader may not see.

Reads leave out the hidden tools with their edges and links. Writes go to the graph unchanged.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from domain.tool import ToolDoc, ToolId
from graph.dataflow import FlowStore, KnownFlow
from graph.facts import Edge, Neighbour, ToolFacts, ToolLesson
from graph.links import FeedLink, LinkedGraph, LinkState, SubstituteLink, ToolNeighbourhood


def filter_graph(graph: LinkedGraph, hidden: frozenset[ToolId]) -> LinkedGraph:
    """Return the graph without the hidden tools; the graph itself if there are none."""
    return cast("LinkedGraph", _VisibleGraph(graph, hidden)) if hidden else graph


def filter_flows(flows: FlowStore, hidden: frozenset[ToolId]) -> FlowStore:
    """Return the data flows of recorded calls without the hidden tools; the store itself if there are none."""
    return cast("FlowStore", _VisibleFlows(flows, hidden)) if hidden else flows


class _VisibleGraph:
    """Graph without its hidden tools. A method that is not defined here is the graph's own."""

    def __init__(self, graph: LinkedGraph, hidden: frozenset[ToolId]) -> None:
        self._graph = graph
        self._hidden = hidden

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)

    def _filter_ids(self, tools: Iterable[ToolId]) -> list[ToolId]:
        return [tool for tool in tools if tool not in self._hidden]

    async def get_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        return await self._graph.get_tools(self._filter_ids(ids))

    async def get_removed_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        return await self._graph.get_removed_tools(self._filter_ids(ids))

    async def stream_documents(self) -> AsyncIterator[ToolDoc]:
        async for document in self._graph.stream_documents():
            if document.id not in self._hidden:
                yield document

    async def find_function(self, function: str) -> list[ToolId]:
        return self._filter_ids(await self._graph.find_function(function))

    async def get_facts(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolFacts]:
        return await self._graph.get_facts(self._filter_ids(ids))

    async def get_out_edges(self, tool: ToolId) -> list[Neighbour]:
        return (
            _filter_neighbours(await self._graph.get_out_edges(tool), self._hidden) if tool not in self._hidden else []
        )

    async def get_in_edges(self, tool: ToolId) -> list[Edge]:
        return _filter_edges(await self._graph.get_in_edges(tool), self._hidden)

    async def find_adjacent_edges(self, tools: Iterable[ToolId]) -> list[Edge]:
        return _filter_edges(await self._graph.find_adjacent_edges(self._filter_ids(tools)), self._hidden)

    async def load_neighbourhoods(self, tools: Iterable[ToolId]) -> dict[ToolId, ToolNeighbourhood]:
        neighbourhoods = await self._graph.load_neighbourhoods(self._filter_ids(tools))
        return {tool: _filter_neighbourhood(known, self._hidden) for tool, known in neighbourhoods.items()}

    async def stream_nodes(self) -> AsyncIterator[tuple[ToolId, ToolFacts]]:
        async for tool, facts in self._graph.stream_nodes():
            if tool not in self._hidden:
                yield tool, facts

    async def stream_edges(self) -> AsyncIterator[Edge]:
        async for edge in self._graph.stream_edges():
            if self._hidden.isdisjoint((edge.source, edge.target)):
                yield edge

    async def get_lessons(self, tool: ToolId) -> list[ToolLesson]:
        return [] if tool in self._hidden else await self._graph.get_lessons(tool)

    async def stream_lessons(self) -> AsyncIterator[tuple[ToolId, ToolLesson]]:
        async for tool, lesson in self._graph.stream_lessons():
            if tool not in self._hidden:
                yield tool, lesson

    async def get_link_states(self) -> dict[ToolId, LinkState]:
        states = await self._graph.get_link_states()
        return {tool: state for tool, state in states.items() if tool not in self._hidden}

    async def find_linked_tools(self, tools: Iterable[ToolId]) -> set[ToolId]:
        return await self._graph.find_linked_tools(self._filter_ids(tools)) - self._hidden

    async def get_feeds_out(self, tool: ToolId) -> list[FeedLink]:
        return _filter_feeds(await self._graph.get_feeds_out(tool), self._hidden)

    async def get_feeds_into(self, tool: ToolId) -> list[FeedLink]:
        return _filter_feeds(await self._graph.get_feeds_into(tool), self._hidden)

    async def get_substitutes(self, tool: ToolId) -> list[SubstituteLink]:
        return _filter_substitutes(await self._graph.get_substitutes(tool), self._hidden)


FILTERED_READS = frozenset(name for name in vars(_VisibleGraph) if not name.startswith("_"))
"""Names of the methods that the view filters: all reads whose results contain tool ids."""


class _VisibleFlows:
    """Flow store without hidden tools. A method that is not defined here is the store's own."""

    def __init__(self, flows: FlowStore, hidden: frozenset[ToolId]) -> None:
        self._flows = flows
        self._hidden = hidden

    def __getattr__(self, name: str) -> Any:
        return getattr(self._flows, name)

    async def find_flows_into(self, tools: Iterable[ToolId]) -> Mapping[ToolId, Sequence[KnownFlow]]:
        flows = await self._flows.find_flows_into([tool for tool in tools if tool not in self._hidden])
        return {tool: [one for one in known if one.source not in self._hidden] for tool, known in flows.items()}


def _filter_neighbourhood(neighbourhood: ToolNeighbourhood, hidden: frozenset[ToolId]) -> ToolNeighbourhood:
    return replace(
        neighbourhood,
        out=_filter_neighbours(neighbourhood.out, hidden),
        into=_filter_edges(neighbourhood.into, hidden),
        feeds=_filter_feeds(neighbourhood.feeds, hidden),
        substitutes=_filter_substitutes(neighbourhood.substitutes, hidden),
    )


def _filter_neighbours(neighbours: Iterable[Neighbour], hidden: frozenset[ToolId]) -> list[Neighbour]:
    return [way for way in neighbours if way.edge.target not in hidden]


def _filter_edges(edges: Iterable[Edge], hidden: frozenset[ToolId]) -> list[Edge]:
    return [edge for edge in edges if hidden.isdisjoint((edge.source, edge.target))]


def _filter_feeds(feeds: Iterable[FeedLink], hidden: frozenset[ToolId]) -> list[FeedLink]:
    return [feed for feed in feeds if hidden.isdisjoint((feed.source, feed.target))]


def _filter_substitutes(pairs: Iterable[SubstituteLink], hidden: frozenset[ToolId]) -> list[SubstituteLink]:
    return [pair for pair in pairs if hidden.isdisjoint((pair.one, pair.other))]
