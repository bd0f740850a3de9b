"""The tool graph as it is explored: from afar, around a tool, and between two tools. Whoever asks sees what they may see."""

from typing import Annotated

from fastapi import Query

from domain.errors import UsageError
from domain.tool import FINISH, ToolId
from domain.tool_source import parse_source_id
from server.dependencies import CurrentServices, CurrentUser
from server.explorer.joins import GraphEdge, edge_between
from server.explorer.overview import GraphOverview, overview
from server.explorer.paths import GraphPaths, paths_between
from server.explorer.picture import GraphPicture
from server.explorer.services import ToolEntities, places_of
from server.explorer.surroundings import Wanted, surroundings
from server.library.listing import Effect
from server.problems import problems
from server.routes.library_access import open_tool
from server.routes.me import ToolPath
from server.routes.router import operations
from server.routes.texts import Plain, ShortText, ToolName
from server.token_scopes import by_token

router = operations("", tag="tools", responses=problems(401, 404))


@router.get("/graph", summary="The tool graph from afar: tool sets, and what joins them")
@by_token("read")
async def graph_overview(
    _user: CurrentUser,
    services: CurrentServices,
    limit: Annotated[int, Query(ge=1, le=60, description="So many tool sets, the most walked first.")] = 24,
) -> GraphOverview:
    container = await services.agents.get_container()
    return await overview(container.graph, await container.list_searched_tools(), limit)


@router.get("/tools/{tool:path}/around", summary="What is around a tool, by weight and by coupling")
@by_token("read")
async def graph_around(  # one for each filter
    tool: ToolPath,
    _user: CurrentUser,
    services: CurrentServices,
    depth: Annotated[int, Query(ge=1, le=3, description="So many edges away from the tool.")] = 1,
    limit: Annotated[int, Query(ge=1, le=80, description="So many tools beside it, the best joined first.")] = 24,
    walks: Annotated[bool, Query(description="By transitions.")] = True,
    feeds: Annotated[bool, Query(description="By what fills parameters.")] = True,
    least: Annotated[float, Query(ge=0, le=1, description="The least weight, and score of a coupling.")] = 0.0,
    toolset: Annotated[ShortText, Query(description="Only tools of this tool set.")] = "",
    effect: Annotated[Effect | None, Query(description="Only tools whose calls do this.")] = None,
) -> GraphPicture:
    """With what it left out. A neighbour that a filter leaves out is not gone through either."""
    doc, container = await open_tool(tool, services), await services.agents.get_container()
    wanted = Wanted(depth, limit, walks, feeds, least, toolset, effect)
    banned = await services.storage.tool_marks.list_banned()
    return await surroundings(container.graph, container.weights, doc.id, wanted, banned)


@router.get("/tools/{tool:path}/edge", summary="What joins one tool to another, in full", responses=problems(400))
@by_token("read")
async def graph_edge(
    tool: ToolPath,
    _user: CurrentUser,
    services: CurrentServices,
    target: Annotated[ToolName, Query(description="Another tool's id, or Finish.")],
    request: Annotated[
        str, Query(max_length=4000, description="How well the tools fit this is told, too."), Plain
    ] = "",
) -> GraphEdge:
    """Why a way that weighs less comes first: runs rank by weight × availability, and choose by how well a tool fits the request."""
    one, container = await open_tool(tool, services), await services.agents.get_container()
    other = FINISH if target == FINISH else (await open_tool(target, services)).id
    _two(one.id, other)
    return await edge_between(container, one.id, other, request)


@router.get("/tools/{tool:path}/paths", summary="The ways from one tool to another", responses=problems(400))
@by_token("read")
async def graph_paths(
    tool: ToolPath,
    _user: CurrentUser,
    services: CurrentServices,
    target: Annotated[ToolName, Query(description="The id of the tool that they lead to.")],
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
) -> GraphPaths:
    """Over at most three edges, by weight × availability, each with its couplings."""
    one, other = await open_tool(tool, services), await open_tool(target, services)
    _two(one.id, other.id)
    container = await services.agents.get_container()
    return await paths_between(container.graph, container.weights, one.id, other.id, limit)


@router.get("/tools/{tool:path}/entities", summary="What the inputs and fields of a tool are of")
@by_token("read")
async def graph_entities(tool: ToolPath, _user: CurrentUser, services: CurrentServices) -> ToolEntities:
    doc, container = await open_tool(tool, services), await services.agents.get_container()
    places, left = await places_of(container, doc)
    return ToolEntities(places=places, left_out=left, of_source=parse_source_id(doc.source))


def _two(one: ToolId, other: ToolId) -> None:
    if one == other:
        raise UsageError("name two tools: an edge or a way leads from one to another")
