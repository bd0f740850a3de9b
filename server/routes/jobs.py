"""Jobs: long work that administrators ask for, looked at and cancelled."""

from typing import Annotated

from fastapi import Query, Request
from pydantic import BaseModel

from server.audit import note
from server.dependencies import CurrentAdmin, CurrentServices
from server.problems import problems
from server.routes.router import operations
from server.routes.texts import RowId, ShortText
from server.storage.jobs import Job
from server.token_scopes import by_token

router = operations("/jobs", tag="jobs", responses=problems(401, 403))


class JobPage(BaseModel):
    """``next``: what to give as ``before`` for older ones; null: there are none."""

    jobs: list[Job]
    next: str | None


@router.get("", summary="Long work that administrators asked for, the newest first")
@by_token("administer")
async def jobs(
    _: CurrentAdmin,
    services: CurrentServices,
    kind: Annotated[list[ShortText] | None, Query(max_length=20, description="Of these kinds; none: all.")] = None,
    before: RowId | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> JobPage:
    found = await services.storage.jobs.list_page(tuple(kind or ()), before or "", limit + 1)
    shown = found[:limit]
    return JobPage(jobs=shown, next=shown[-1].id if len(found) > limit else None)


@router.get("/{job_id}", summary="A job: how far it is, its log, and what came of it", responses=problems(404))
@by_token("administer")
async def job(job_id: RowId, _: CurrentAdmin, services: CurrentServices) -> Job:
    return await services.storage.jobs.get(job_id)


@router.post("/{job_id}/cancel", summary="Cancel a job; what it has done until then stays", responses=problems(404))
@by_token("administer")
async def cancel_job(request: Request, job_id: RowId, _: CurrentAdmin, services: CurrentServices) -> Job:
    """One that goes on ends within moments. One that has ended stays as it is."""
    found = await services.jobs.cancel(job_id)
    note(request, kind=found.kind)
    return found
