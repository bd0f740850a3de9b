"""Whether the server lives, and whether it can work."""

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from server.dependencies import CurrentServices
from server.problems import problems
from server.readiness import check_ready

router = APIRouter(tags=["health"])


class Live(BaseModel):
    status: Literal["ok"] = "ok"


class Ready(BaseModel):
    status: Literal["ready"] = "ready"


@router.get("/health", summary="Whether the process answers")
async def live() -> Live:
    return Live()


@router.get(
    "/health/ready",
    summary="Whether it can serve: database and store are there, and there is room on the disk",
    responses=problems(503),
)
async def ready(services: CurrentServices) -> Ready:
    await check_ready(services)
    return Ready()
