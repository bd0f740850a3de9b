"""What one run has read about tools: documents, availability, relevance and neighbours, each read once."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from agent.frontier import Path
from agent.secrets import Secrets
from agent.secrets_env import EnvironmentSecrets
from agent.supplied import with_supplied
from agent.support import plain, supported, vocabulary
from agent.whether import told_only_whether, wants_value
from domain.memory import Recalled
from domain.tool import ToolDoc, ToolId
from graph.flows import FlowStore, with_flows
from graph.store import GraphReads
from graph.weights import UNTESTED, Weighted, WeightParameters, availability, transition_weights


class FoundTool(Protocol):
    """A tool that the retriever found; ``score`` in [0, 1]."""

    @property
    def id(self) -> ToolId: ...

    @property
    def score(self) -> float: ...


class ToolFinder(Protocol):
    """The part of the retriever that a walk needs."""

    async def start_tools(
        self, request: str, limit: int, where: Mapping[str, str] | None = None
    ) -> Sequence[FoundTool]:
        """The tools nearest to a text, best first."""
        ...

    async def relevance(self, texts: Sequence[str], ids: Sequence[ToolId]) -> Mapping[ToolId, tuple[float, ...]]:
        """Each text against each tool, in [0, 1]; tools that are not indexed are left out."""
        ...


class Evidence:
    """A run's own view of the stores. Made for one run and dropped with it. Documents are shown without what the caller supplies."""

    def __init__(
        self,
        clauses: tuple[str, ...],
        store: GraphReads,
        search: ToolFinder,
        weights: WeightParameters,
        secrets: Secrets | None = None,
        flows: FlowStore | None = None,
    ) -> None:
        self.clauses = clauses
        self.recalled: tuple[Recalled, ...] = ()
        self._store = store
        self._search = search
        self._weights = weights
        self._flows = flows
        self._secrets = secrets or EnvironmentSecrets({})
        self._docs: dict[ToolId, ToolDoc] = {}
        self._availability: dict[ToolId, float | None] = {}
        self._failing: set[ToolId] = set()
        self._relevance: dict[ToolId, tuple[float, ...]] = {}
        self._neighbours: dict[ToolId, list[Weighted]] = {}
        self._found: dict[tuple[str, int], tuple[FoundTool, ...]] = {}

    async def read(self, ids: Iterable[ToolId]) -> None:
        """Read what is not known yet of these tools, in three reads at most."""
        unknown = [tool for tool in dict.fromkeys(ids) if tool not in self._relevance]
        if not unknown:
            return
        taken = await self._flows.into(unknown) if self._flows else {}
        for tool, doc in (await self._store.get_tools(unknown)).items():
            self._docs[tool] = with_flows(await with_supplied(doc, self._secrets), taken.get(tool, ()))
        facts = await self._store.facts(unknown)
        self._failing |= {tool for tool, known in facts.items() if known.reliability < 0}
        plain_clauses = tuple(plain(clause) for clause in self.clauses)
        whole = await self._search.relevance(self.clauses, unknown)
        stripped = await self._search.relevance(plain_clauses, unknown) if plain_clauses != self.clauses else whole
        nothing = (0.0,) * len(self.clauses)
        for tool in unknown:
            self._availability[tool] = availability(facts[tool], self._weights) if tool in facts else None
            similar = zip(whole.get(tool, nothing), stripped.get(tool, nothing), strict=True)
            self._relevance[tool] = self._judged(tool, [(one + other) / 2 for one, other in similar])

    def _judged(self, tool: ToolId, similar: Sequence[float]) -> tuple[float, ...]:
        if tool not in self._docs:
            return (0.0,) * len(self.clauses)
        doc = self._docs[tool]
        known, values = vocabulary(doc), vocabulary(doc) - told_only_whether(doc)
        return tuple(
            supported(value, clause, values if wants_value(clause) else known)
            for value, clause in zip(similar, self.clauses, strict=True)
        )

    async def present(self, ids: Iterable[ToolId]) -> set[ToolId]:
        """Which of these tools have a document."""
        wanted = set(ids)
        return set(await self._store.get_tools(wanted)) if wanted else set()

    def has(self, tool: ToolId) -> bool:
        """Whether a tool that was read has a document."""
        return tool in self._docs

    def doc(self, tool: ToolId) -> ToolDoc:
        """The document of a tool that was read."""
        return self._docs[tool]

    @property
    def all(self) -> tuple[ToolDoc, ...]:
        """The documents of every tool that was read."""
        return tuple(self._docs.values())

    def docs(self, path: Path) -> tuple[ToolDoc, ...]:
        """The documents of a path that was read."""
        return tuple(self._docs[tool] for tool in path)

    def availability(self, tool: ToolId) -> float | None:
        """The availability of a tool that was read; None: untested."""
        return self._availability[tool]

    def rank_availability(self, tool: ToolId) -> float:
        """The availability by which a tool that was read is ranked: the untested count as ½."""
        known = self._availability[tool]
        return UNTESTED if known is None else known

    def failing(self, tool: ToolId) -> bool:
        """Whether the live calls of a tool that was read failed of late more than they succeeded."""
        return tool in self._failing

    def relevance(self, tool: ToolId) -> tuple[float, ...]:
        """A tool's relevance, one value per clause, each in [0, 1]."""
        return self._relevance[tool]

    async def neighbours(self, tool: ToolId) -> list[Weighted]:
        """All out-edges of a tool with their weights."""
        if tool not in self._neighbours:
            edges = await self._store.out_edges(tool)
            self._neighbours[tool] = transition_weights(edges, self._weights)
        return self._neighbours[tool]

    async def predecessors(self, tool: ToolId, most: int) -> list[tuple[ToolId, float]]:
        """The tools most often walked just before this one, each with its share of the walks into it."""
        edges = [(edge.source, edge.imported + edge.live) for edge in await self._store.in_edges(tool)]
        total = sum(count for _, count in edges) or 1
        return [(source, count / total) for source, count in sorted(edges, key=lambda e: (-e[1], e[0]))[:most]]

    async def find(self, text: str, limit: int) -> tuple[FoundTool, ...]:
        """What the retriever finds for a text."""
        if (text, limit) not in self._found:
            self._found[text, limit] = tuple(await self._search.start_tools(text, limit))
        return self._found[text, limit]
