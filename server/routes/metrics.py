"""The server's figures, for who may see them."""

from ipaddress import ip_address

from fastapi import Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from domain.errors import FootpathError, ForbiddenError, NotFoundError
from server.dependencies import ClientAddress, CurrentServices
from server.problems import problems
from server.routes.router import operations

router = operations("", tag="health", version="")
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "via")


@router.get(
    "/metrics",
    summary="Figures for Prometheus; FOOTPATH_METRICS says who may read them",
    response_class=Response,
    responses={
        200: {
            "description": "All figures, in Prometheus' text format.",
            "content": {"text/plain": {"schema": {"type": "string"}, "example": "footpath_runs_in_hand 2.0\n"}},
        },
        **problems(403, 404),
    },
)
async def metrics(request: Request, address: ClientAddress, services: CurrentServices) -> Response:
    match services.settings.metrics:
        case "off":
            raise NotFoundError("this server tells no figures; FOOTPATH_METRICS=local or open has it do so")
        case "local" if not _local(request, address):
            raise ForbiddenError("only this machine may read the figures; FOOTPATH_METRICS=open changes that")
        case _:
            pass
    try:
        open_runs, lessons = await services.storage.runs.count_open_by_status(), await services.storage.lessons.count()
    except FootpathError:  # counted as an error of the database; the other figures are wanted all the more
        open_runs, lessons = {}, float("nan")
    return Response(services.metrics.text(open_runs, lessons), media_type=CONTENT_TYPE_LATEST)


def _local(request: Request, address: str) -> bool:
    """Asked from this machine itself, rather than through a proxy that runs on it."""
    try:
        return ip_address(address).is_loopback and not any(name in request.headers for name in _FORWARDED)
    except ValueError:
        return False
