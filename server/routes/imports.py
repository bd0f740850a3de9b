"""Imports, for administrators: files that were sent are read, what would come is told, and then it is merged into the open store."""

import asyncio

from fastapi import Request, Response
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field

from domain.errors import NotFoundError, UsageError
from server.audit import note
from server.data.import_preview import Holds
from server.data.importing import IMPORT, READING
from server.dependencies import CurrentAdmin, CurrentServices
from server.problems import problems
from server.routes.router import operations
from server.routes.texts import RowId
from server.storage.jobs import Job
from server.token_scopes import by_token

router = operations("/data/imports", tag="data", responses=problems(401, 403))


class FileToImport(BaseModel):
    """``upload``: what ``POST /data/uploads`` called it. ``holds``: empty for what its name and its first line tell."""

    upload: RowId
    holds: Holds = ""


class NewImport(BaseModel):
    files: list[FileToImport] = Field(min_length=1, max_length=20)
    server: str = Field(
        default="",
        max_length=500,
        pattern=r"^(https?://[!-~]+)?$",
        description="Address that an OpenAPI document's relative servers are relative to.",
    )


class MergeBody(BaseModel):
    """``replace``: documents may make other tools of those that are there. ``unchecked``: also tools that the gate's check of documents keeps out, for a ``reason``.
    ``backup``: all that the server has is backed up before, since there is no other way back.
    """

    replace: bool = False
    unchecked: bool = False
    backup: bool = True
    reason: str = Field(default="", max_length=500)


@router.post(
    "",
    status_code=202,
    summary="Read files that were sent, as a job: it tells what would come",
    responses=problems(404, 409),
)
@by_token("administer")
async def begin_import(request: Request, body: NewImport, admin: CurrentAdmin, services: CurrentServices) -> Job:
    """Nothing is changed by it. The job's result names the import."""
    await services.jobs.check_free(READING)
    files: list[tuple[str, Holds]] = [(one.upload, one.holds) for one in body.files]
    name = await asyncio.to_thread(services.data.imports.add, files, body.server)
    wanted, _ = await asyncio.to_thread(services.data.imports.wanted, name)
    names = [one.name for one in wanted.files]
    note(request, files=[*names])
    return await services.jobs.add(READING, admin, {"import": name, "files": [*names]}, here=True)


@router.post(
    "/{import_id}/merge",
    status_code=202,
    summary="Merge what was read into the open store, as a job; twice equals once",
    responses=problems(400, 404, 409),
)
@by_token("administer")
async def merge_import(
    request: Request, import_id: RowId, body: MergeBody, admin: CurrentAdmin, services: CurrentServices
) -> Job:
    """What comes is offered to everybody at once. Of the gate, the check of documents is made; nothing is called. The job's result names the tools that came, by
    their APIs, and the backup that was made before.
    """
    note(request, replace=body.replace, unchecked=body.unchecked, backup=body.backup)
    if body.unchecked and not body.reason.strip():
        raise UsageError("say why tools come that the admission check of documents keeps out: give a reason")
    await asyncio.to_thread(services.data.imports.read, import_id)
    wanted = {"import": import_id, "replace": body.replace, "unchecked": body.unchecked, "backup": body.backup}
    return await services.jobs.add(IMPORT, admin, {**wanted}, here=True)


@router.get(
    "/{import_id}/report",
    summary="All that is left out, with file, line and reason, and what came",
    response_class=FileResponse,
    responses={**problems(404), 200: {"content": {"application/octet-stream": {}}}},
)
@by_token("administer")
async def import_report(import_id: RowId, _: CurrentAdmin, services: CurrentServices) -> FileResponse:
    report = await asyncio.to_thread(services.data.imports.report, import_id)
    if not await asyncio.to_thread(report.is_file):
        raise NotFoundError("there is no report yet: its files are being read, or could not be")
    return FileResponse(report, media_type="application/octet-stream", filename="import.json")


@router.delete(
    "/{import_id}",
    status_code=204,
    summary="Remove an import's files and report",
    response_class=Response,
    responses=problems(404),
)
@by_token("administer")
async def remove_import(import_id: RowId, _: CurrentAdmin, services: CurrentServices) -> None:
    """What was merged stays."""
    await asyncio.to_thread(services.data.imports.remove, import_id)
