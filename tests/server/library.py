"""The part of the matrix that is about the tool library and the tool graph."""

from collections.abc import Mapping

from domain.tool import ToolDoc, make_tool_id
from tests.server.access import Access, for_admins
from tests.support.server_world import World, with_store

A_MARK = {"kind": "tool", "mark": "ban", "reason": "It is gone."}


async def a_store(world: World) -> Mapping[str, str]:
    await with_store(world)
    return {}


async def a_tool(world: World) -> Mapping[str, str]:
    """One that all may see."""
    await with_store(world)
    doc = ToolDoc(
        id=make_tool_id("a", "b", "c"), category="a", toolset="b", api="c", function="c", url="http://127.0.0.1/c"
    )
    await (await world.services.agents.get_container()).graph.put_tools([doc])
    return {"tool": doc.id}


async def two_tools(world: World) -> Mapping[str, str]:
    """That all may see."""
    found = await a_tool(world)
    doc = ToolDoc(
        id=make_tool_id("a", "b", "d"), category="a", toolset="b", api="d", function="d", url="http://127.0.0.1/d"
    )
    await (await world.services.agents.get_container()).graph.put_tools([doc])
    return {**found, "other": doc.id}


LIBRARY = {
    ("GET", "/api/v1/tools"): Access(401, 200, 200, 200, 200, None, a_store),
    ("GET", "/api/v1/tools/categories"): Access(401, 200, 200, 200, 200, None, a_store),
    ("GET", "/api/v1/tools/{tool}/about"): Access(401, 200, 200, 200, 200, None, a_tool),
    ("GET", "/api/v1/tools/{tool}/neighbours"): Access(401, 200, 200, 200, 200, None, a_tool),
    ("GET", "/api/v1/tools/{tool}/recorded"): Access(401, 200, 200, 200, 200, None, a_tool),
    # Its address is none that calls may go to, which the call that is kept says.
    ("POST", "/api/v1/tools/{tool}/try"): Access(401, 200, 200, 200, 200, {"arguments": {}}, a_tool),
    ("GET", "/api/v1/tools/{tool}/tried"): Access(401, 200, 200, 200, 200, None, a_tool),
    ("GET", "/api/v1/graph"): Access(401, 200, 200, 200, 200, None, a_store),
    ("GET", "/api/v1/tools/{tool}/around"): Access(401, 200, 200, 200, 200, None, a_tool),
    ("GET", "/api/v1/tools/{tool}/entities"): Access(401, 200, 200, 200, 200, None, a_tool),
    # Without a target there is nothing to tell.
    ("GET", "/api/v1/tools/{tool}/edge"): Access(401, 422, 422, 422, 422, None, a_tool),
    ("GET", "/api/v1/tools/{tool}/paths"): Access(401, 422, 422, 422, 422, None, a_tool),
    ("GET", "/api/v1/tools/{tool}/marks"): for_admins(200, a_tool),
    ("GET", "/api/v1/tools/{tool}/marks-to"): Access(401, 403, 403, 403, 422, None, a_tool),
    ("PUT", "/api/v1/tools/{tool}/marks"): for_admins(200, a_tool, A_MARK),
}
