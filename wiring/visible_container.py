"""Container for somebody who may not see some tools: nothing that it searches, recalls or shows names them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.compression.field_selection import FieldChoices
from agent.programs.program_types import Sandbox
from domain.memory import MemorySearch, RecalledMemory
from domain.tool import ToolId
from graph.dataflow import FlowStore
from graph.visibility import filter_flows, filter_graph
from retriever.experience import ToolExperience
from retriever.index import Embedder, VectorIndex
from retriever.index_views import restrict_lexical_reader, restrict_vector_index
from retriever.lexical import LexicalReader
from wiring.container import Container

if TYPE_CHECKING:
    from agent.execution.mcp import McpSessions
    from wiring.models import SharedModel


def hide_tools(container: Container, hidden: frozenset[ToolId]) -> Container:
    """Return the container without these tools; the container itself where there are none.

    It is as open as the other, and closed with it.
    """
    return _VisibleContainer(container, hidden) if hidden else container


class _VisibleContainer(Container):
    """Shares all that the full container has opened, and opens the rest there."""

    def __init__(self, container: Container, hidden: frozenset[ToolId]) -> None:
        # All attributes are shared, lazy objects included, so that nothing is opened twice.
        vars(self).update(vars(container))
        self._full_container = container
        self.hidden = hidden
        self.graph = filter_graph(container.graph, hidden)

    async def make_ready(self) -> None:
        await self._full_container.make_ready()

    async def get_search_indexes(self) -> tuple[Embedder, VectorIndex, LexicalReader]:
        embedder, index, words = await self._full_container.get_search_indexes()
        return embedder, restrict_vector_index(index, self.hidden), restrict_lexical_reader(words, self.hidden)

    async def list_searched_tools(self) -> Sequence[ToolId]:
        return [tool for tool in await self._full_container.list_searched_tools() if tool not in self.hidden]

    async def create_experience(self, embedder: Embedder | None = None) -> ToolExperience:
        from wiring.reranker import StoreExperience

        memories = _VisibleMemories(await self.memories_or_unavailable(), self.hidden)
        return StoreExperience(self.graph, memories, embedder or await self.embedder())

    async def flows(self) -> FlowStore:
        return filter_flows(await self._full_container.flows(), self.hidden)

    def mcp_sessions(self) -> "McpSessions":
        return self._full_container.mcp_sessions()

    def field_choices(self) -> FieldChoices:
        return self._full_container.field_choices()

    def sandbox(self) -> Sandbox:
        return self._full_container.sandbox()

    def shared_model(self, name: str) -> "SharedModel":
        return self._full_container.shared_model(name)


class _VisibleMemories:
    def __init__(self, memories: MemorySearch, hidden: frozenset[ToolId]) -> None:
        self._memories = memories
        self._hidden = hidden

    async def find_similar(
        self, vector: Sequence[float], identity: str, owner: str, limit: int
    ) -> list[RecalledMemory]:
        """Return the similar memories whose paths hold no hidden tool; there may be fewer then."""
        recalled = await self._memories.find_similar(vector, identity, owner, limit)
        return [recalled_memory for recalled_memory in recalled if self._hidden.isdisjoint(recalled_memory.memory.path)]
