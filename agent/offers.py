"""Tools on their way to being candidates: with the weight they have at a node, and with who brought them."""

from collections.abc import Iterable, Iterator

from agent.candidate import Origin
from agent.pool import Pool
from domain.tool import ToolId

Offer = tuple[ToolId, float, Origin]
"""A tool, its weight at this node, and where it comes from."""


def origin(tool: ToolId, pool: Pool) -> Origin:
    """Who found a tool that the pool holds."""
    return "start" if tool in pool.found else "graph"


def unweighted(tools: Iterable[ToolId], by: Origin) -> list[Offer]:
    """Tools that no edge leads to from here."""
    return [(tool, 0.0, by) for tool in tools]


def in_turns(queues: Iterable[list[ToolId]], most: int) -> list[ToolId]:
    """The first ``most`` distinct tools, one from each queue in turn."""
    taken: dict[ToolId, None] = {}
    rows: list[Iterator[ToolId]] = [iter(queue) for queue in queues]
    while rows and len(taken) < most:
        for row in list(rows):
            tool = next((tool for tool in row if tool not in taken), None)
            if tool is None:
                rows.remove(row)
            elif len(taken) < most:
                taken[tool] = None
    return list(taken)
