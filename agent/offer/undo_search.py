"""Search for the tools that may undo a tool's call."""

from collections.abc import Sequence

from agent.execution.call_wording import build_tool_title
from agent.offer.tool_evidence import ToolFinder
from domain.tool import ToolDoc
from graph.store import GraphStore

_MAX_HITS = 24
"""Tools that are compared with the one to undo."""


class UndoCandidateSearch:
    """Search among a store's tools by their documents."""

    def __init__(self, store: GraphStore, search: ToolFinder) -> None:
        self._store = store
        self._search = search

    async def find_related(self, tool: ToolDoc) -> Sequence[ToolDoc]:
        """Return the tools that are nearest to what would undo a call of this one, best first."""
        query = f"{tool.toolset} cancel, delete or remove: {build_tool_title(tool)}"
        (hits,) = await self._search.find_tools_for_all([query], _MAX_HITS)
        docs = await self._store.get_tools(hit.id for hit in hits)
        return [docs[hit.id] for hit in hits if hit.id in docs]
