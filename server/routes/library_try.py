"""Single calls that a user tries: what they came to, and those of before."""

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field, StringConstraints

from domain.errors import ForbiddenError
from domain.model import JsonObject
from domain.tool import ToolId
from server.dependencies import CurrentCaller, CurrentServices, CurrentUser
from server.library.trying import short_form, sound, tried
from server.problems import problems
from server.routes.library_access import open_tool
from server.routes.me import ToolPath
from server.routes.router import operations
from server.services import Services
from server.storage.tool_library import ToolTry
from server.token_scopes import by_token

router = operations("/tools", tag="tools", responses=problems(401, 404))


class TryBody(BaseModel):
    """``leave``: it may change something. ``key``: names this call; sent again with the same one it is not made again, and what became of it is told."""

    arguments: JsonObject = Field(default_factory=JsonObject)
    leave: bool = False
    key: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{8,100}$")] | None = Field(
        default=None, description="Made up by the caller, anew for each call; a UUID, say."
    )


class ToolTryAnswer(ToolTry):
    """``short``: what a model would be shown in place of the answer, where that is long. An answer is kept up to 20,000 characters of its ``whole``."""

    short: str


@router.post("/{tool:path}/try", summary="Call a tool once, with your own keys", responses=problems(400, 403, 409))
@by_token("ask")
async def try_tool(tool: ToolPath, body: TryBody, caller: CurrentCaller, services: CurrentServices) -> ToolTryAnswer:
    """Arguments are checked, the address is guarded, and the call is written down before it is made, as those of runs are. One that may change something is made
    with ``leave`` alone, which no program's token may give, and once. How it ended is told in ``outcome`` and ``note``. Where ``finished_at`` is null it is under way, or nobody knows how it ended.
    """
    if body.leave and not caller.may_approve:
        raise ForbiddenError(
            "no program's token may give leave for a change: try it on the page, logged in with name and password"
        )
    user = caller.user
    doc = await open_tool(tool, services)
    await _not_banned(doc.id, services)
    values = await sound(doc, body.arguments, leave=body.leave)
    kept = await tried(doc, values, user.id, services.agents, services.storage.tool_tries, body.key)
    found = await services.storage.tool_tries.get(user.id, kept)
    if found is None:
        raise ForbiddenError("your account was removed meanwhile")
    return ToolTryAnswer(**found.model_dump(), short=await short_form(doc, found.response))


@router.get("/{tool:path}/tried", summary="The calls of a tool that you have tried, the last first")
@by_token("read")
async def tried_calls(
    tool: ToolPath, user: CurrentUser, services: CurrentServices, limit: Annotated[int, Query(ge=1, le=50)] = 10
) -> list[ToolTry]:
    doc = await open_tool(tool, services)
    return await services.storage.tool_tries.list_latest(user.id, doc.id, limit)


async def _not_banned(tool: ToolId, services: Services) -> None:
    if tool in await services.storage.tool_marks.list_banned():
        reason = next(
            (one.reason for one in await services.storage.tool_marks.list_for_tool(tool) if one.kind == "tool"), ""
        )
        raise ForbiddenError(f"an administrator has banned this tool: {reason}")
