"""Which tools of the library a caller may know of: the one place that its operations ask."""

from domain.errors import NotFoundError
from domain.tool import ToolDoc, ToolId
from server.routes.tools import known_tool, tools
from server.services import Services
from server.storage.users import User


async def hidden_from(user: User, services: Services) -> frozenset[ToolId]:
    """The tools that this user may not know of."""
    whole = await services.agents.whole()
    return await services.agents.visibility.hidden_tools(user, whole.graph.get_tools)


async def open_tool(name: str, user: User, services: Services) -> ToolDoc:
    """The tool that a path names. ``NotFoundError``: there is none, or none that the caller may know of; ``UnavailableError``: no store."""
    await services.agents.container()
    tool = await known_tool(name, services)
    doc = (await tools([tool], services) or {}).get(tool)
    if doc is None or tool in await hidden_from(user, services):
        raise NotFoundError(f"there is no tool {name[:200]}")
    return doc
