"""Evidence about tools that one run has read: documents, availability, relevance and neighbours, each read once."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, Self

from agent.execution.secret_store import EnvironmentSecrets, SecretStore
from agent.execution.supplied_values import CachedSecretNames, apply_supplied_values, describe_missing_secrets
from agent.request_reader import PlainReader, RequestReader
from agent.search.state import Path
from domain.memory import RecalledMemory
from domain.tool import ToolDoc, ToolId
from graph.dataflow import FlowStore, KnownFlow, add_flows
from graph.links import ToolNeighbourhood, attach_feeds
from graph.store import NeighbourhoodReader
from graph.weights import (
    UNTESTED_AVAILABILITY,
    WeightedEdge,
    WeightParameters,
    compute_availability,
    compute_transition_weights,
    is_failing,
)


class RetrievedTool(Protocol):
    """A tool that the retriever found. ``score`` is in [0, 1]."""

    @property
    def id(self) -> ToolId: ...

    @property
    def score(self) -> float: ...


class ToolFinder(Protocol):
    """The part of the retriever that a search needs."""

    async def find_tools_for_all(self, requests: Sequence[str], limit: int) -> Sequence[Sequence[RetrievedTool]]:
        """Return for each text the tools nearest to it, best first."""
        ...

    async def score_relevance(self, texts: Sequence[str], ids: Sequence[ToolId]) -> Mapping[ToolId, tuple[float, ...]]:
        """Return the relevance of each tool to each text, in [0, 1]; tools that are not indexed are left out."""
        ...

    async def count_tools(self) -> int:
        """Return the number of tools."""
        ...


class ToolEvidence:
    """One run's view of the stores, made for it and dropped with it.

    Documents are shown without the parameters that the caller supplies.
    """

    def __init__(
        self,
        clauses: tuple[str, ...],
        store: NeighbourhoodReader,
        search: ToolFinder,
        weights: WeightParameters,
        secrets: SecretStore | None = None,
        flows: FlowStore | None = None,
        reader: RequestReader | None = None,
    ) -> None:
        self.clauses = clauses
        self.reader = reader or PlainReader()
        self.recalled: tuple[RecalledMemory, ...] = ()
        self._graph = CachedGraphReads.wrap(store)
        self._search = search
        self._weights = weights
        self._flows = flows
        self._secrets = CachedSecretNames(secrets or EnvironmentSecrets({}))
        self._docs: dict[ToolId, ToolDoc] = {}
        self._advice: dict[ToolId, tuple[str, ...]] = {}
        self._availability: dict[ToolId, float | None] = {}
        self._failing: set[ToolId] = set()
        self._relevance: dict[ToolId, tuple[float, ...]] = {}
        self._neighbours: dict[ToolId, list[WeightedEdge]] = {}
        self._found: dict[tuple[str, int], tuple[RetrievedTool, ...]] = {}

    async def read(self, ids: Iterable[ToolId]) -> None:
        """Read these tools unless they are known: one read of each store, concurrently."""
        unknown = [tool for tool in dict.fromkeys(ids) if tool not in self._relevance]
        if not unknown:
            return
        plain_clauses = tuple(self.reader.normalize_part(clause) for clause in self.clauses)
        around, flows, clause_relevance, plain_relevance = await asyncio.gather(
            self._graph.load_neighbourhoods(unknown),
            self._load_flows(unknown),
            self._search.score_relevance(self.clauses, unknown),
            self._search.score_relevance(plain_clauses, unknown) if plain_clauses != self.clauses else _load_nothing(),
        )
        for tool, neighbourhood in around.items():
            if neighbourhood.document is not None:
                self._advice[tool] = await describe_missing_secrets(neighbourhood.document, self._secrets)
                document = add_flows(
                    await apply_supplied_values(neighbourhood.document, self._secrets), flows.get(tool, ())
                )
                self._docs[tool] = attach_feeds(document, neighbourhood.feeds)
        self._failing |= {
            tool for tool, neighbourhood in around.items() if is_failing(neighbourhood.facts, self._weights)
        }
        nothing = (0.0,) * len(self.clauses)
        for tool in unknown:
            self._availability[tool] = (
                compute_availability(around[tool].facts, self._weights) if tool in around else None
            )
            similar = zip(
                clause_relevance.get(tool, nothing),
                (plain_relevance or clause_relevance).get(tool, nothing),
                strict=True,
            )
            # The mean over two wordings of each clause: the user's own, and the one that a document would use.
            self._relevance[tool] = self._judge_relevance(tool, [(value + other) / 2 for value, other in similar])

    async def _load_flows(self, tools: Sequence[ToolId]) -> Mapping[ToolId, Sequence[KnownFlow]]:
        """Return the known data flows into these tools."""
        return await self._flows.find_flows_into(tools) if self._flows else {}

    def _judge_relevance(self, tool: ToolId, similar: Sequence[float]) -> tuple[float, ...]:
        """Return a tool's relevance per clause, as the request's reader judges it; 0 without a document."""
        if tool not in self._docs:
            return (0.0,) * len(self.clauses)
        doc, pairs = self._docs[tool], zip(similar, self.clauses, strict=True)
        return tuple(self.reader.score_relevance(value, clause, doc) for value, clause in pairs)

    async def find_documented(self, ids: Iterable[ToolId]) -> set[ToolId]:
        """Return which of these tools have a document."""
        return {
            tool
            for tool, neighbourhood in (await self._graph.load_neighbourhoods(ids)).items()
            if neighbourhood.document is not None
        }

    def has(self, tool: ToolId) -> bool:
        """Return whether a tool that was read has a document."""
        return tool in self._docs

    def doc(self, tool: ToolId) -> ToolDoc:
        """Return the document of a tool that was read."""
        return self._docs[tool]

    def advice(self, tool: ToolId) -> tuple[str, ...]:
        """Return how to provide the secrets that a tool lacks, one sentence each."""
        return self._advice.get(tool, ())

    @property
    def all_docs(self) -> tuple[ToolDoc, ...]:
        """The documents of every tool that was read."""
        return tuple(self._docs.values())

    def docs(self, path: Path) -> tuple[ToolDoc, ...]:
        """Return the documents of a path that was read."""
        return tuple(self._docs[tool] for tool in path)

    def availability(self, tool: ToolId) -> float | None:
        """Return the availability of a tool that was read; None if it is untested."""
        return self._availability[tool]

    def rank_availability(self, tool: ToolId) -> float:
        """Return the availability by which a tool that was read is ranked; untested tools count as 1/2."""
        available = self._availability[tool]
        return UNTESTED_AVAILABILITY if available is None else available

    def is_failing(self, tool: ToolId) -> bool:
        """Return whether the recent live calls of a tool that was read failed more often than they succeeded."""
        return tool in self._failing

    def relevance(self, tool: ToolId) -> tuple[float, ...]:
        """Return a tool's relevance, one value per clause, each in [0, 1]."""
        return self._relevance[tool]

    async def find_neighbourhood(self, tool: ToolId) -> ToolNeighbourhood | None:
        """Return what joins a tool to others; None if it is not in the graph."""
        return (await self._graph.load_neighbourhoods([tool])).get(tool)

    async def neighbours(self, tool: ToolId) -> list[WeightedEdge]:
        """Return all out-edges of a tool with their weights."""
        if tool not in self._neighbours:
            neighbourhood = await self.find_neighbourhood(tool)
            self._neighbours[tool] = (
                compute_transition_weights(neighbourhood.out, self._weights) if neighbourhood else []
            )
        return self._neighbours[tool]

    async def find_predecessors(self, tool: ToolId, limit: int) -> list[tuple[ToolId, float]]:
        """Return the tools most often called just before this one, each with its share of the walks into it."""
        neighbourhood = await self.find_neighbourhood(tool)
        edges = [(edge.source, edge.imported + edge.live) for edge in (neighbourhood.into if neighbourhood else ())]
        total = sum(count for _, count in edges) or 1
        return [(source, count / total) for source, count in sorted(edges, key=lambda e: (-e[1], e[0]))[:limit]]

    async def look_up(self, texts: Iterable[str], limit: int) -> None:
        """Search for tools for these texts, all at once; :meth:`find` then returns the hits."""
        new = [text for text in dict.fromkeys(texts) if (text, limit) not in self._found]
        if new:
            results = await self._search.find_tools_for_all(new, limit)
            self._found |= {(text, limit): tuple(hits) for text, hits in zip(new, results, strict=True)}

    async def find(self, text: str, limit: int) -> tuple[RetrievedTool, ...]:
        """Return the retriever's hits for a text."""
        await self.look_up([text], limit)
        return self._found[text, limit]


async def _load_nothing() -> Mapping[ToolId, tuple[float, ...]]:
    """Return no relevance, in place of a second search."""
    return {}


class CachedGraphReads:
    """Caching view of a graph store, made for one run; changes by others are seen by the next run."""

    def __init__(self, store: NeighbourhoodReader) -> None:
        self._store = store
        self._known: dict[ToolId, ToolNeighbourhood | None] = {}

    @classmethod
    def wrap(cls, store: NeighbourhoodReader) -> Self:
        """Return a view of this store; the store itself if it is one already."""
        return store if isinstance(store, cls) else cls(store)

    async def load_neighbourhoods(self, tools: Iterable[ToolId]) -> dict[ToolId, ToolNeighbourhood]:
        """Return the store's neighbourhoods; new ones are read in one go."""
        requested = list(dict.fromkeys(tools))
        new = [tool for tool in requested if tool not in self._known]
        if new:
            neighbourhoods = await self._store.load_neighbourhoods(new)
            self._known |= {tool: neighbourhoods.get(tool) for tool in new}
        return {tool: neighbourhood for tool in requested if (neighbourhood := self._known[tool]) is not None}
