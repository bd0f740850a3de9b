"""Searches that ``evaluate.py retrieval`` compares, by the names of its rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent.offer.offer_maker import OfferMaker
from agent.offer.tool_offer import OfferEntry
from agent.programs.signatures import build_signatures
from domain.errors import UsageError
from domain.memory import MemorySearch
from domain.tool import ToolId
from evaluation.graph_variants import Edges, RewiredGraph, WithoutCallEvidence, build_variant
from evaluation.offers import OfferProvider, TokenCounter
from evaluation.retrieval import RetrievalSearch
from evaluation.withheld_memories import NoMemories, WithheldMemories
from graph.store import GraphStore
from retriever.experience import Precedent, TransitionCount
from retriever.index import Embedder
from retriever.search import SearchParameters, ToolSearch
from wiring.container import Container
from wiring.reranker import StoreExperience, TransitionReader


async def build_searches(container: Container, names: Sequence[str] = ()) -> dict[str, RetrievalSearch]:
    """Return the named searches in the order of the names, or all: from the plainest to the one that serves.

    ``bm25`` and ``dense`` are the fused search with the weight of one side alone: sentences count there as well.
    ``reranked`` is the search that serves, with the graph as evidence; it is missing where no re-ranker fits the
    encoder, and then ``fused`` serves.

    Raises:
        UsageError: no search has that name.
        UnavailableError: the store cannot be used.
    """
    served_search = await container.open_search()
    embedder, index, lexical = await container.get_retrieval()
    searches: dict[str, RetrievalSearch] = {
        "bm25": ToolSearch(embedder, index, lexical, SearchParameters(dense_weight=0)),
        "dense": ToolSearch(embedder, index, lexical, SearchParameters(dense_weight=1)),
        "fused": ToolSearch(embedder, index, lexical),
    }
    if served_search.reranks:
        searches["reranked"] = served_search
    elif "reranked" in names:
        remedy = "FOOTPATH_RERANKER_FILE names one that scripts/train_reranker.py taught with it"
        remedy = remedy if container.settings.rerank else "FOOTPATH_RERANK is false"
        raise UsageError(f"no re-ranker is in use with the encoder {embedder.identity}: {remedy}")
    if unknown := [name for name in names if name not in searches]:
        raise UsageError(f"no row is called {', '.join(unknown)}; there are: {', '.join(searches)}")
    return {name: searches[name] for name in names or searches}


@dataclass(frozen=True, slots=True)
class MeasuredOffers:
    """Searches over a store to be measured."""

    offers: OfferProvider
    retrieval: OfferProvider
    """Offers by retrieval alone."""
    tokens: TokenCounter
    experience: "PerRequestExperience"
    """Experience that both searches read; :meth:`PerRequestExperience.begin_request` is called before each request."""
    kept_edges: Mapping[str, float]
    """Share of a rewired graph's edges that the store has as well, by kind."""


async def prepare_measurement(container: Container, edges: Edges, *, precedents: bool) -> MeasuredOffers:
    """Prepare the measurement of a store. ``precedents``: use what served other requests."""
    memories = await container.memories_or_unavailable() if precedents else NoMemories()
    graph = await build_variant(container.graph, edges)
    kept_edges = graph.kept_shares if isinstance(graph, RewiredGraph) else {}
    experience = PerRequestExperience(graph, memories, await container.embedder())
    search = await container.open_search(experience)
    maker = OfferMaker(search, WithoutCallEvidence(graph), search, container.weights)

    async def make_offer(request: str, limit: int) -> Sequence[OfferEntry]:
        return (await maker.offer(request, limit)).tools

    return MeasuredOffers(make_offer, search.find_tools, _create_token_counter(container.graph), experience, kept_edges)


class PerRequestExperience:
    """Experience read anew for each request (:meth:`begin_request`), as by a run, which shares it with no other."""

    def __init__(self, graph: TransitionReader, memories: MemorySearch, embedder: Embedder) -> None:
        self._graph = graph
        self._memories = WithheldMemories(memories)
        self._embedder = embedder
        self._experience = self._create_experience()

    @property
    def met(self) -> set[str]:
        """Return the requests that memory knew."""
        return self._memories.met

    def begin_request(self, request: str) -> None:
        """Begin a request: drop what was read for the one before, and withhold memories of this one."""
        self._memories.exclude_request(request)
        self._experience = self._create_experience()

    def _create_experience(self) -> StoreExperience:
        return StoreExperience(self._graph, self._memories, self._embedder)

    async def find_transitions(self, tools: Iterable[ToolId]) -> Sequence[TransitionCount]:
        """Return every transition out of one of these tools or into one."""
        return await self._experience.find_transitions(tools)

    async def find_precedents(self, request: NDArray[np.float32], limit: int) -> Sequence[Precedent]:
        """Return the requests most like the one with this vector, best first."""
        return await self._experience.find_precedents(request, limit)


def _create_token_counter(graph: GraphStore) -> TokenCounter:

    async def count_tokens(tools: Sequence[ToolId]) -> int:
        docs = await graph.get_tools(tools)
        return sum(signature.tokens for signature in build_signatures([docs[tool] for tool in tools if tool in docs]))

    return count_tokens
