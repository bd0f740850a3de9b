"""Substitutes from the graph's links: tools that do the same as a failed one, or that give what it gave."""

from collections.abc import Collection

from agent.offer.tool_facts import Evidence
from domain.tool import ToolId

MOST = 3
"""Substitutes of one tool."""
SOURCES = 20
"""Tools that may give what a failed one gave; most of them need inputs that are missing."""


async def stand_ins(evidence: Evidence, tool: ToolId | None) -> list[ToolId]:
    """Return the best substitutes of a tool."""
    found = await evidence.around(tool) if tool is not None else None
    return [one.other for one in found.substitutes[:MOST]] if found else []


async def sources(evidence: Evidence, tool: ToolId, parameters: Collection[str]) -> list[ToolId]:
    """Return the tools that can fill one of these parameters of a tool, best first."""
    found = await evidence.around(tool)
    feeds = found.feeds if found else ()
    return list(dict.fromkeys(one.source for one in feeds if one.parameter in parameters))[:SOURCES]
