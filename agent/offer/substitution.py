"""Tools that do the same as one whose call has failed, or that give what it gave, from the links of the graph."""

from collections.abc import Collection

from agent.offer.tool_facts import Evidence
from domain.tool import ToolId

MOST = 3
SOURCES = 20
"""Tools that may give what a failed one gave, of which most want what is not there."""


async def stand_ins(evidence: Evidence, tool: ToolId | None) -> list[ToolId]:
    """The best substitutes of a tool."""
    found = await evidence.around(tool) if tool is not None else None
    return [one.other for one in found.substitutes[:MOST]] if found else []


async def sources(evidence: Evidence, tool: ToolId, parameters: Collection[str]) -> list[ToolId]:
    """What can fill one of these parameters of a tool, best first."""
    found = await evidence.around(tool)
    feeds = found.feeds if found else ()
    return list(dict.fromkeys(one.source for one in feeds if one.parameter in parameters))[:SOURCES]
