"""Whether the server lives, and whether it can work."""

from typing import Literal

from fastapi import Depends
from pydantic import BaseModel

from server.dependencies import CurrentServices, note_role
from server.problems import problems
from server.routes.router import operations

router = operations("", tag="health", version="")


class Live(BaseModel):
    status: Literal["ok"] = "ok"


class Ready(BaseModel):
    """``checks``: what was looked at, by name."""

    status: Literal["ready"] = "ready"
    checks: dict[str, Literal["ok"]]


@router.get("/health", summary="Whether the process answers")
async def live() -> Live:
    return Live()


@router.get(
    "/health/ready",
    summary="Whether it can serve: database, store, graph and vectors are there, and there is room on the disk",
    responses=problems(503),
    dependencies=[Depends(note_role)],
)
async def ready(services: CurrentServices) -> Ready:
    """Anyone is told which part is not there; administrators and the log are told why."""
    await services.readiness.check()
    return Ready(checks=dict.fromkeys(services.readiness.names, "ok"))
