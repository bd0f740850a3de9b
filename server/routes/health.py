"""Whether the server lives, and whether it can work."""

from typing import Literal

from fastapi import Depends
from pydantic import BaseModel

from domain.errors import UnavailableError
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
    if faults := await services.readiness.faults():
        error = UnavailableError("not ready: " + "; ".join(f"{name}: {faults[name]}" for name in sorted(faults)))
        error.part = ", ".join(sorted(faults))
        raise error
    return Ready(checks=dict.fromkeys(services.readiness.names, "ok"))
