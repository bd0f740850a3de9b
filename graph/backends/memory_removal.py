"""Documents taken out of the graph in memory, and kept aside."""

from collections.abc import Iterable

from domain.tool import ToolDoc, ToolId
from graph.backends.memory_links import MemoryLinks


class MemoryRemoval(MemoryLinks):
    """The part of a ``GraphStore`` that takes documents away."""

    _documents: dict[ToolId, ToolDoc]
    _removed: dict[ToolId, ToolDoc]

    async def remove_tools(self, tools: Iterable[ToolId]) -> None:
        going = self._documents.keys() & set(tools)
        await self.expect_links({}, await self.linked_to(going) - going)
        self.drop_links(going)
        self._removed.update({tool: self._documents.pop(tool) for tool in going})

    async def removed_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        return {tool: self._removed[tool] for tool in ids if tool in self._removed}
