"""The graph as one run sees it: what is around a tool is read once, however many parts of the run ask for it."""

from collections.abc import Iterable
from typing import Self

from domain.tool import ToolId
from graph.around import Around
from graph.store import GraphReads


class ReadOnce:
    """A view of a store, made for one run and dropped with it. What others change meanwhile, the next run sees."""

    def __init__(self, store: GraphReads) -> None:
        self._store = store
        self._known: dict[ToolId, Around | None] = {}

    @classmethod
    def of(cls, store: GraphReads) -> Self:
        """The view of this store: itself, where it is one."""
        return store if isinstance(store, cls) else cls(store)

    async def around(self, tools: Iterable[ToolId]) -> dict[ToolId, Around]:
        """As the store tells it; what is new is read at once."""
        wanted = list(dict.fromkeys(tools))
        new = [tool for tool in wanted if tool not in self._known]
        if new:
            found = await self._store.around(new)
            self._known |= {tool: found.get(tool) for tool in new}
        return {tool: known for tool in wanted if (known := self._known[tool]) is not None}
