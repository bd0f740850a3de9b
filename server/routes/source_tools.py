"""The tools of a source: what is said of them, what the gate found out, and whether they are offered."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Annotated, NoReturn

from fastapi import Path

from domain.errors import NotFoundError
from domain.tool import ToolId
from domain.tool_source import Corrections
from server.dependencies import CurrentAuthor, CurrentServices
from server.problems import problems
from server.routes.router import operations
from server.routes.sources_bodies import (
    AdmitBody,
    CorrectionsBody,
    QuarantineBody,
    ShownSource,
    SourceTool,
    shown_source,
    shown_tool,
)
from server.routes.texts import RowId, ToolName
from server.routes.tools import meant
from server.services import Services
from server.storage.source_records import StoredTool
from server.token_scopes import by_token

router = operations("/sources/{source_id}", tag="sources", responses=problems(401, 403, 404))
ToolPath = Annotated[ToolName, Path(description="The tool's id, category/toolset/api.")]


@router.get("/tools", summary="A source's tools, with what the gate found out")
@by_token("read")
async def source_tools(source_id: RowId, user: CurrentAuthor, services: CurrentServices) -> list[SourceTool]:
    found = await services.sources.get(source_id, user)
    return _shown(await services.storage.sources.list_tools(found.id), source_id, services)


@router.get("/tools/{tool:path}", summary="One of a source's tools")
@by_token("read")
async def source_tool(source_id: RowId, tool: ToolPath, user: CurrentAuthor, services: CurrentServices) -> SourceTool:
    found = await services.sources.get(source_id, user)
    kept = await services.sources.tool(found.id, await _known(source_id, tool, services))
    return shown_tool(kept, source_id, services.agents.follower.links.partly)


@router.patch("/tools/{tool:path}", summary="Say something in place of a tool's document", responses=problems(409))
async def correct_tool(
    source_id: RowId, tool: ToolPath, body: CorrectionsBody, user: CurrentAuthor, services: CurrentServices
) -> SourceTool:
    """What is admitted goes live so at once; a tool that is now said to only read has to be checked again."""
    await services.sources.get(source_id, user)
    said = Corrections.model_validate(body.model_dump(exclude={"reason"}))
    known = await _known(source_id, tool, services)
    kept = await services.sources.correct(source_id, known, said, user, body.reason)
    return shown_tool(kept, source_id, services.agents.follower.links.partly)


@router.post("/admit", summary="Offer tools that passed the gate", responses=problems(409))
@by_token("administer")
async def admit(source_id: RowId, body: AdmitBody, user: CurrentAuthor, services: CurrentServices) -> list[SourceTool]:
    await services.sources.get(source_id, user)
    done = await services.sources.admit(source_id, await known_of(source_id, body.tools, services), user, body.despite)
    return _shown(done, source_id, services)


@router.post("/quarantine", summary="Keep tools out, with a reason", responses=problems(409))
@by_token("administer")
async def quarantine(
    source_id: RowId, body: QuarantineBody, user: CurrentAuthor, services: CurrentServices
) -> list[SourceTool]:
    await services.sources.get(source_id, user)
    named = await known_of(source_id, body.tools, services)
    done = await services.sources.quarantine(source_id, named, user, body.reason)
    return _shown(done, source_id, services)


@router.post("/undo", summary="Undo the latest admission, quarantine, correction or reading", responses=problems(409))
@by_token("administer")
async def undo(source_id: RowId, user: CurrentAuthor, services: CurrentServices) -> list[SourceTool]:
    """A tool comes back into the offer only as a document that was admitted before."""
    return _shown(await services.sources.undo(source_id, user), source_id, services)


@router.post("/changes/seen", summary="The changes of a source's tools have been looked at")
@by_token("administer")
async def changes_seen(source_id: RowId, user: CurrentAuthor, services: CurrentServices) -> ShownSource:
    done = await services.sources.looked(source_id, user)
    return shown_source(done, (await services.storage.sources.count_tools([source_id]))[source_id])


async def _known(source_id: str, tool: str, services: Services) -> ToolId:
    for one in meant(tool):
        if await services.storage.sources.get_tool(source_id, one) is not None:
            return one
    return (await known_of(source_id, [tool], services))[0]


async def known_of(source_id: str, names: Sequence[str], services: Services) -> list[ToolId]:
    """The tools of a source that its user names. ``NotFoundError`` tells of near ones."""
    there = [one.tool for one in await services.storage.sources.list_tools(source_id)] if names else []
    ids = set(there)
    return [next((one for one in meant(name) if one in ids), None) or _near(name, there) for name in names]


def _near(name: str, there: Sequence[ToolId]) -> NoReturn:
    near = get_close_matches(name, there, n=3)
    told = f"; near ones: {', '.join(near)}" if near else ""
    raise NotFoundError(f"this source has no tool {name[:200]}{told}")


def _shown(found: list[StoredTool], source_id: str, services: Services) -> list[SourceTool]:
    return [shown_tool(one, source_id, services.agents.follower.links.partly) for one in found]
