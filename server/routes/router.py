"""A module's operations, declared as they are served: building them anew for each application takes longer than most requests."""

from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute

from server.problems import problems

VERSION = "/api/v1"
EVERYWHERE = problems(408, 413, 421, 422, 429, 503)
"""What any operation may answer with."""


def operations(
    prefix: str, *, tag: str, responses: dict[int | str, dict[str, Any]] | None = None, version: str = VERSION
) -> APIRouter:
    """An empty router below the version's path. ``responses``: problems of all its operations, beside those of any."""
    return APIRouter(
        prefix=version + prefix,
        tags=[tag],
        responses=EVERYWHERE | (responses or {}),
        generate_unique_id_function=_operation_id,
    )


def _operation_id(route: APIRoute) -> str:
    return route.name
