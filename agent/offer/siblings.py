"""Candidates for undoing a tool's call, found by searching for what would undo it."""

from collections.abc import Sequence

from agent.execution.wording import title_of
from agent.offer.tool_facts import ToolFinder
from domain.tool import ToolDoc
from graph.store import GraphStore

_LOOKED_AT = 24


class SearchedSiblings:
    """Search among a store's tools by their documents."""

    def __init__(self, store: GraphStore, search: ToolFinder) -> None:
        self._store = store
        self._search = search

    async def near(self, tool: ToolDoc) -> Sequence[ToolDoc]:
        """Return the tools that are nearest to what would undo a call of this one, best first."""
        wanted = f"{tool.toolset} cancel, delete or remove: {title_of(tool)}"
        (found,) = await self._search.start_tools_of([wanted], _LOOKED_AT)
        docs = await self._store.get_tools(one.id for one in found)
        return [docs[one.id] for one in found if one.id in docs]
