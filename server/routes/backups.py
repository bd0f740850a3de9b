"""Backups of the server, for administrators: made and checked as jobs, given away, removed, and restored at the next start."""

import asyncio
from typing import Annotated

from fastapi import Path, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from domain.errors import NotFoundError, UsageError
from server.audit import note, write
from server.backup import manifest as described
from server.backup import pending
from server.data.archives import size_of, written
from server.data.backing_up import BACKUP, CHECK, TAKE_IN
from server.data.backups import Backup
from server.data.restoring import RESTORE, RestoreState, refused, state
from server.dependencies import CurrentAdmin, CurrentCaller, CurrentServices
from server.problems import problems
from server.routes.router import operations
from server.routes.texts import RowId, ShortText
from server.storage.jobs import Job
from server.token_scopes import by_token

router = operations("/data", tag="data", responses=problems(401, 403))
BackupName = Annotated[str, Path(max_length=64, pattern=r"^[a-z0-9][a-z0-9-]*$")]


class UploadedBackup(BaseModel):
    upload: RowId = Field(description="What the upload was called by.")


class RestoreBody(BaseModel):
    """``confirm``: the name that ``GET /data/restore`` tells, typed by whoever restores."""

    backup: str = Field(max_length=64, pattern=r"^[a-z0-9][a-z0-9-]*$")
    confirm: ShortText


@router.get("/backups", summary="Backups of this server, the newest first")
@by_token("administer")
async def backups(_: CurrentAdmin, services: CurrentServices) -> list[Backup]:
    return await asyncio.to_thread(services.data.backups.all)


@router.post("/backups", status_code=202, summary="Back up all that the server has, as a job", responses=problems(409))
@by_token("administer")
async def back_up(admin: CurrentAdmin, services: CurrentServices) -> Job:
    """Nobody waits, and nothing is stopped. The vault's keys are not in it."""
    return await services.jobs.add(BACKUP, admin, here=True)


@router.post(
    "/backups/uploaded",
    status_code=202,
    summary="Make a backup of a file that was downloaded from a server and uploaded here, as a job",
    responses=problems(404, 409),
)
@by_token("administer")
async def take_in_backup(body: UploadedBackup, admin: CurrentAdmin, services: CurrentServices) -> Job:
    await asyncio.to_thread(services.data.uploads.keep, body.upload)
    return await services.jobs.add(TAKE_IN, admin, {"upload": body.upload}, here=True)


@router.post(
    "/backups/{name}/check",
    status_code=202,
    summary="Hold a backup's files against its digests, as a job",
    responses=problems(404, 409),
)
@by_token("administer")
async def check_backup(name: BackupName, admin: CurrentAdmin, services: CurrentServices) -> Job:
    await asyncio.to_thread(services.data.backups.get, name)
    return await services.jobs.add(CHECK, admin, {"backup": name}, here=True)


@router.get(
    "/backups/{name}/download",
    summary="A backup as one file (tar)",
    responses={**problems(404), 200: {"content": {"application/x-tar": {}}}},
    response_class=StreamingResponse,
)
@by_token("administer")
async def download_backup(
    request: Request, name: BackupName, caller: CurrentCaller, admin: CurrentAdmin, services: CurrentServices
) -> StreamingResponse:
    """It holds what everybody asked and what tools answered, and is in the audit log."""
    found = await asyncio.to_thread(services.data.backups.get, name)
    await write(request, services.storage.audit_log, admin, caller.program)
    folder, names = services.data.backups.place(name), [described.NAME, *found.files]
    size = await asyncio.to_thread(size_of, folder, names)
    headers = {"Content-Length": str(size), "Content-Disposition": f'attachment; filename="footpath-{name}.tar"'}
    return StreamingResponse(written(folder, names), media_type="application/x-tar", headers=headers)


@router.delete(
    "/backups/{name}",
    status_code=204,
    summary="Remove a backup",
    response_class=Response,
    responses=problems(404, 409),
)
@by_token("administer")
async def remove_backup(name: BackupName, _: CurrentAdmin, services: CurrentServices) -> None:
    await asyncio.to_thread(services.data.backups.remove, name)


@router.get("/restore", summary="Whether this server can be restored, and what takes place at the next start")
@by_token("administer")
async def restore_state(_: CurrentAdmin, services: CurrentServices) -> RestoreState:
    return await asyncio.to_thread(state, services.settings)


@router.post(
    "/restore",
    status_code=202,
    summary="Restore a backup beside the server, as a job; it takes the server's place at the next start",
    responses=problems(400, 404, 409),
)
async def restore(request: Request, body: RestoreBody, admin: CurrentAdmin, services: CurrentServices) -> Job:
    """It is checked first, and made while the server goes on. At the next start what is there is set aside, and nothing of it removed."""
    note(request, backup=body.backup)
    if why := refused(services.settings):
        raise UsageError(why)
    await asyncio.to_thread(services.data.backups.get, body.backup)
    if body.confirm != (known := (await asyncio.to_thread(state, services.settings)).confirm):
        raise UsageError(f"type the name of this server's store, {known}, to say that its data is to be replaced")
    return await services.jobs.add(RESTORE, admin, {"backup": body.backup}, here=True)


@router.delete(
    "/restore",
    status_code=204,
    summary="Call off the restore that waits for the next start",
    response_class=Response,
    responses=problems(404),
)
async def call_off_restore(_: CurrentAdmin, services: CurrentServices) -> None:
    if not await asyncio.to_thread(pending.call_off, services.settings.server_home):
        raise NotFoundError("no restore waits for the next start")
