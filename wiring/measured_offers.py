"""Offers as ``evaluate.py offers`` measures them, with or without the store's edges and precedents."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent.offer.maker import OfferMaker
from agent.offer.offer import OfferedTool
from agent.programs.signatures import signatures
from domain.memory import NearMemories
from domain.tool import ToolId
from evaluation.graph_variants import Edges, RewiredGraph, WithoutCallEvidence, variant
from evaluation.offers import Offers, Tokens
from evaluation.other_requests import NoMemories, OtherRequests
from graph.store import GraphStore
from retriever.experience import Precedent, Walked
from retriever.index import Embedder
from wiring.container import Container
from wiring.experience import StoreExperience, Transitions


@dataclass(frozen=True, slots=True)
class Measurable:
    """Searches over a store to be measured."""

    offers: Offers
    retrieval: Offers
    """Offers by retrieval alone."""
    tokens: Tokens
    asked: "AskedAnew"
    """Experience that both searches read; it is told of each request before."""
    kept: Mapping[str, float]
    """Share of a rewired graph's edges that the store has as well, by kind."""


async def measurable(container: Container, edges: Edges, *, precedents: bool) -> Measurable:
    """Prepare the measurement of a store. ``precedents``: use what served other requests."""
    memories = await container.memories_in_reach() if precedents else NoMemories()
    graph = await variant(container.graph, edges)
    kept = graph.kept if isinstance(graph, RewiredGraph) else {}
    asked = AskedAnew(graph, memories, await container.embedder())
    search = await container.search(asked)
    maker = OfferMaker(search, WithoutCallEvidence(graph), search, container.weights)

    async def offers(request: str, limit: int) -> Sequence[OfferedTool]:
        return (await maker.offer(request, limit)).tools

    return Measurable(offers, search.start_tools, _tokens(container.graph), asked, kept)


class AskedAnew:
    """Experience read anew for each request (:meth:`ask`), as by a run, which shares it with no other."""

    def __init__(self, graph: Transitions, memories: NearMemories, embedder: Embedder) -> None:
        self._graph = graph
        self._memories = OtherRequests(memories)
        self._embedder = embedder
        self._own = self._anew()

    @property
    def met(self) -> set[str]:
        """Return the requests that memory knew."""
        return self._memories.met

    def ask(self, request: str) -> None:
        """Begin a request, and forget all that is known of it."""
        self._memories.ask(request)
        self._own = self._anew()

    def _anew(self) -> StoreExperience:
        return StoreExperience(self._graph, self._memories, self._embedder)

    async def beside(self, tools: Iterable[ToolId]) -> Sequence[Walked]:
        """Return every transition out of one of these tools or into one."""
        return await self._own.beside(tools)

    async def precedents(self, request: NDArray[np.float32], limit: int) -> Sequence[Precedent]:
        """Return the requests most like the one with this vector, best first."""
        return await self._own.precedents(request, limit)


def _tokens(graph: GraphStore) -> Tokens:

    async def tokens(tools: Sequence[ToolId]) -> int:
        found = await graph.get_tools(tools)
        return sum(one.tokens for one in signatures([found[tool] for tool in tools if tool in found]))

    return tokens
