"""What administrators say of a tool and of the edges out of it, and why."""

from datetime import datetime
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field, StringConstraints

from domain.tool import FINISH, ToolId
from graph.facts import Mark
from server.dependencies import CurrentAdmin, CurrentServices
from server.library.marking import Marking, mark
from server.problems import problems
from server.routes.library_access import open_tool
from server.routes.me import ToolPath
from server.routes.router import operations
from server.routes.texts import Plain, ToolName
from server.routes.tools import known_tool
from server.services import Services
from server.storage.tool_library import MarkKind, MarkWord, NewToolMark, ToolMark
from server.token_scopes import by_token

router = operations("/tools", tag="tools", responses=problems(401, 403, 404))

_SOURCES = 200
Reason = Annotated[
    str,
    StringConstraints(min_length=3, max_length=400, strip_whitespace=True),
    Field(description="Why; everybody who may mark can read it."),
    Plain,
]


Place = Annotated[str, StringConstraints(max_length=500, strip_whitespace=True), Plain]


class MarkBody(BaseModel):
    """``kind``: ``edge``, out of this tool to the ``target`` (a tool, or Finish): pin, mute or ban. ``tool``: the tool wherever it would be taken: mute, which mutes
    the edges into it, or ban: it is offered to no run. ``effect``: whether calling it ``reads`` or ``changes``. ``entity``: what the ``place``, one of its parameters or a field by its
    path, is of: set. ``feed``: whether ``field`` of what ``target`` answers fills its parameter ``place``: add or forbid. ``runs``: forget what runs have said of it.
    ``clear`` takes back what was said; of ``runs`` it puts back what was forgotten.
    """

    kind: MarkKind
    target: Place = ""
    mark: MarkWord
    place: Place = ""
    field: Place = ""
    entity: Annotated[str, StringConstraints(max_length=100, strip_whitespace=True), Plain] = ""
    reason: Reason


class EdgeMark(BaseModel):
    """An edge out of the tool that has a mark. ``reason`` and ``by`` are empty where a command set it."""

    target: ToolId
    mark: Mark
    reason: str
    by: str
    at: datetime | None


class ToolMarksShown(BaseModel):
    """``tool``: the mark of the tool itself, empty without one, with its reason. ``history``: what was said last, the newest first; with a tool that
    was muted the first 200 of those whose edges to it were.
    """

    tool: str
    reason: str
    edges: list[EdgeMark]
    history: list[ToolMark]


@router.get("/{tool:path}/marks", summary="What administrators have said of a tool, and why")
@by_token("administer")
async def tool_marks(tool: ToolPath, _user: CurrentAdmin, services: CurrentServices) -> ToolMarksShown:
    return await _shown((await open_tool(tool, services)).id, services)


@router.put(
    "/{tool:path}/marks", summary="Pin, mute or ban an edge or a tool, with a reason", responses=problems(400, 409)
)
async def mark_tool(tool: ToolPath, body: MarkBody, user: CurrentAdmin, services: CurrentServices) -> ToolMarksShown:
    """It counts from the next run on. Couplings are computed anew before this is answered; of a very large store some wait for the next build."""
    doc = await open_tool(tool, services)
    target = body.target if body.target in ("", FINISH) else await known_tool(body.target, services)
    said = NewToolMark.model_validate(body.model_dump() | {"tool": doc.id, "target": target})
    at = Marking(await services.agents.get_full_container(), services.storage.tool_marks, services.sources, user)
    await mark(said, doc, at)
    return await _shown(doc.id, services)


@router.get("/{tool:path}/marks-to", summary="What administrators have said of what joins a tool to another, and why")
@by_token("administer")
async def marks_between(
    tool: ToolPath,
    _user: CurrentAdmin,
    services: CurrentServices,
    target: Annotated[ToolName, Query(description="The other tool's id, or Finish.")],
) -> list[ToolMark]:
    """Of the edge to the other, and of what this one feeds there; the newest first."""
    doc = await open_tool(tool, services)
    other = FINISH if target == FINISH else await known_tool(target, services)
    return await services.storage.tool_marks.list_between(doc.id, other)


async def _shown(tool: ToolId, services: Services) -> ToolMarksShown:
    history = await services.storage.tool_marks.list_for_tool(tool)
    edges = await (await services.agents.get_container()).graph.get_out_edges(tool)
    own = next((one for one in history if one.kind == "tool"), None)
    said = {one.target: one for one in reversed(history) if one.kind == "edge"}
    return ToolMarksShown(
        tool=own.mark if own and own.mark != "clear" else "",
        reason=own.reason if own and own.mark != "clear" else "",
        edges=[
            _edge(one.edge.target, one.edge.mark, said.get(one.edge.target))
            for one in edges
            if one.edge.mark is not None
        ],
        history=[one.model_copy(update={"sources": one.sources[:_SOURCES]}) for one in history],
    )


def _edge(target: ToolId, marked: Mark, said: ToolMark | None) -> EdgeMark:
    known = said if said and said.mark == marked else None
    return EdgeMark(
        target=target,
        mark=marked,
        reason=known.reason if known else "",
        by=known.by if known else "",
        at=known.at if known else None,
    )
