"""Container for somebody who may not see some tools: nothing that it searches, recalls or shows names them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.compression.field_selection import FieldChoices
from agent.programs.protocol import Sandbox
from domain.memory import NearMemories, Recalled
from domain.tool import ToolId
from graph.dataflow import FlowStore
from graph.visible import visible_flows, visible_graph
from retriever.experience import Experience
from retriever.index import Embedder, VectorIndex
from retriever.lexical import Words
from retriever.visible import visible_vectors, visible_words
from wiring.container import Container

if TYPE_CHECKING:
    from agent.execution.mcp import McpSessions
    from wiring.models import SharedModel


def visible(container: Container, hidden: frozenset[ToolId]) -> Container:
    """Return the container without these tools; the container itself where there are none.

    It is as open as the other, and closed with it.
    """
    return _VisibleContainer(container, hidden) if hidden else container


class _VisibleContainer(Container):
    """Shares all that the full container has opened, and opens the rest there."""

    def __init__(self, whole: Container, hidden: frozenset[ToolId]) -> None:
        # All attributes are shared, lazy objects included, so that nothing is opened twice.
        vars(self).update(vars(whole))
        self._whole = whole
        self.hidden = hidden
        self.graph = visible_graph(whole.graph, hidden)

    async def make_ready(self) -> None:
        await self._whole.make_ready()

    async def found_by(self) -> tuple[Embedder, VectorIndex, Words]:
        embedder, index, words = await self._whole.found_by()
        return embedder, visible_vectors(index, self.hidden), visible_words(words, self.hidden)

    async def searched_tools(self) -> Sequence[ToolId]:
        return [tool for tool in await self._whole.searched_tools() if tool not in self.hidden]

    async def experience(self, embedder: Embedder | None = None) -> Experience:
        from wiring.experience import StoreExperience

        memories = _VisibleMemories(await self.memories_in_reach(), self.hidden)
        return StoreExperience(self.graph, memories, embedder or await self.embedder())

    async def flows(self) -> FlowStore:
        return visible_flows(await self._whole.flows(), self.hidden)

    def mcp_sessions(self) -> "McpSessions":
        return self._whole.mcp_sessions()

    def field_choices(self) -> FieldChoices:
        return self._whole.field_choices()

    def sandbox(self) -> Sandbox:
        return self._whole.sandbox()

    def shared_model(self, name: str) -> "SharedModel":
        return self._whole.shared_model(name)


class _VisibleMemories:
    def __init__(self, memories: NearMemories, hidden: frozenset[ToolId]) -> None:
        self._memories = memories
        self._hidden = hidden

    async def near(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[Recalled]:
        """Return the similar memories whose paths hold no hidden tool; there may be fewer then."""
        found = await self._memories.near(vector, identity, owner, limit)
        return [one for one in found if self._hidden.isdisjoint(one.memory.path)]
