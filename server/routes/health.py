"""Whether the server lives, and whether it can work."""

from typing import Literal

from pydantic import BaseModel

from domain.errors import UnavailableError
from server.dependencies import CurrentServices
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
)
async def ready(services: CurrentServices) -> Ready:
    if missing := await services.readiness.missing():
        raise UnavailableError(f"not ready: {missing}")
    return Ready(checks=dict.fromkeys(services.readiness.names, "ok"))
