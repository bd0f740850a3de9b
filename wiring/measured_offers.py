"""The offers that `evaluate.py offers` measures: what a store's tools are offered by, with or without its edges and its precedents."""

from collections.abc import Sequence
from dataclasses import dataclass

from domain.tool import ToolId
from evaluation.graph_variants import Edges, variant
from evaluation.offers import Offers, Tokens
from evaluation.other_requests import NoMemories, OtherRequests
from graph.store import GraphStore
from wiring.container import Container
from wiring.experience import StoreExperience


@dataclass(frozen=True, slots=True)
class Measurable:
    """``offers`` and ``retrieval`` read the same edges and memories. ``remembered``: to be told of each request before it is asked."""

    offers: Offers
    retrieval: Offers
    tokens: Tokens
    remembered: OtherRequests


async def measurable(container: Container, edges: Edges, *, precedents: bool) -> Measurable:
    """What is measured of a store. ``precedents``: whether what served other requests counts."""
    memories = OtherRequests(await container.memories_in_reach() if precedents else NoMemories())
    graph = await variant(container.graph, edges)
    identity = container.embedder().identity
    search = await container.search(StoreExperience(graph, memories, identity))
    return Measurable(search.start_tools, search.start_tools, _tokens(container.graph), memories)


def _tokens(graph: GraphStore) -> Tokens:
    async def tokens(tools: Sequence[ToolId]) -> int:
        found = await graph.get_tools(tools)
        return sum(len(found[tool].function) for tool in tools if tool in found) // 4

    return tokens
