"""A server's data, for administrators: figures, files that are sent, and the store verified."""

from typing import Annotated

from fastapi import Query, Request
from pydantic import BaseModel, Field

from server.audit import note
from server.bodies import length, pieces
from server.data.statistics import Statistics
from server.data.uploads import Upload
from server.data.verifying import VERIFY
from server.dependencies import CurrentAdmin, CurrentServices
from server.problems import problems
from server.routes.router import operations
from server.storage.jobs import Job
from server.token_scopes import by_token

router = operations("/data", tag="data", responses=problems(401, 403))


class VerifyBody(BaseModel):
    mend: bool = Field(default=False, description="Make the indexes equal to the graph's documents.")


@router.get("/statistics", summary="What the server has, in figures")
@by_token("administer")
async def statistics(
    _: CurrentAdmin,
    services: CurrentServices,
    anew: Annotated[bool, Query(description="Count anew, rather than tell what was counted within a minute.")] = False,
) -> Statistics:
    return await services.data.counting.statistics(anew=anew)


@router.post(
    "/verify",
    status_code=202,
    summary="Compare the store's graph with the indexes of its tools, as a job",
    responses=problems(409),
)
@by_token("administer")
async def verify(request: Request, body: VerifyBody, admin: CurrentAdmin, services: CurrentServices) -> Job:
    note(request, mend=body.mend)
    return await services.jobs.add(VERIFY, admin, {"mend": body.mend})


@router.post(
    "/uploads",
    status_code=201,
    summary="Send a file, as the body: to be imported, or a backup",
    responses=problems(400),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
@by_token("administer")
async def upload(
    request: Request,
    _: CurrentAdmin,
    services: CurrentServices,
    name: Annotated[
        str, Query(min_length=1, max_length=200, description="Its name; what it ends in tells how it is read.")
    ],
) -> Upload:
    """It goes to the server's disk as it comes, and is removed when it was used, or after a day."""
    taken = await services.data.uploads.take(name, pieces(request), length(request))
    note(request, file=taken.name, bytes=taken.bytes, digest=taken.digest)
    return taken
