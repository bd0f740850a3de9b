"""The tools that requests name, as far as this server has them."""

from collections.abc import Iterable, Mapping

from domain.errors import NotFoundError, StoreUnreachableError, UnavailableError
from domain.plan import PlanDocument
from domain.tool import ToolDoc, ToolId, make_tool_id
from graph.tool_description import find_similar_ids
from server.services import Services


async def tools(ids: Iterable[ToolId], services: Services) -> Mapping[ToolId, ToolDoc] | None:
    """The documents of those that are there; None where this server has no tools yet."""
    try:
        container = await services.agents.get_container()
    except StoreUnreachableError:
        raise
    except UnavailableError:
        return None
    return await container.graph.get_tools(ids)


async def tools_of(document: PlanDocument, services: Services) -> Mapping[ToolId, ToolDoc] | None:
    """Those that a document names, as :func:`tools`."""
    return await tools({step.tool for step in document.steps}, services)


async def known_tool(name: str, services: Services) -> ToolId:
    """The tool that a path names; what it names where this server has no tools yet. ``NotFoundError`` tells of near ones."""
    ids = meant(name)
    found = await tools(ids, services)
    if found is None:
        return ids[0]
    if (one := next((one for one in ids if one in found), None)) is not None:
        return one
    near = await find_similar_ids((await services.agents.get_container()).graph, name)
    told = f"; near ones: {', '.join(near)}" if near else ""
    raise NotFoundError(f"there is no tool {name[:200]}: give its id, category/toolset/api{told}")


def meant(name: str) -> list[ToolId]:
    """The ids that a name may stand for: its own escapes are part of an id, and may have been read as those of the path, or left out by who wrote it."""
    parts = name.split("/", 2)
    return list(dict.fromkeys([ToolId(name), *([make_tool_id(*parts)] if len(parts) == 3 else [])]))
