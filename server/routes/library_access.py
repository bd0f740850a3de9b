"""The tool that an operation of the library is about."""

from domain.errors import NotFoundError
from domain.tool import ToolDoc
from server.routes.tools import known_tool, tools
from server.services import Services


async def open_tool(name: str, services: Services) -> ToolDoc:
    """The tool that a path names. ``NotFoundError``: there is none, or none that the caller may know of; ``UnavailableError``: no store."""
    await services.agents.get_container()
    tool = await known_tool(name, services)
    if (doc := (await tools([tool], services) or {}).get(tool)) is None:
        raise NotFoundError(f"there is no tool {name[:200]}")
    return doc
