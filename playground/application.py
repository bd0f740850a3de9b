"""The playground's application: all services behind one address, described in one OpenAPI document."""

from collections.abc import Sequence

from fastapi import FastAPI
from fastapi.routing import APIRoute

from playground.apis import (
    books,
    calendar_days,
    countries,
    meteo,
    places,
    rates,
    rates_pro,
    scholar,
    skyline,
    units,
    zones,
)
from playground.apis.service import Service

DEFAULT_PORT = 8765
SERVICES: Sequence[Service] = tuple(
    module.SERVICE
    for module in (
        places, skyline, meteo, rates, rates_pro, scholar, books, calendar_days, units, countries, zones
    )
)  # fmt: skip


def create_app(address: str = f"http://127.0.0.1:{DEFAULT_PORT}", *, meteo_in_service: bool = False) -> FastAPI:
    """The application.

    ``address`` is what its OpenAPI document gives as its server. ``meteo_in_service``: Meteo Classic still works, as it
    did when most of the sample trajectories were recorded.
    """
    app = FastAPI(
        title="Footpath Playground",
        version="1.0.0",
        description="Small deterministic APIs over fictional worlds, to plan and run multi-step calls against.",
        servers=[{"url": address}],
    )
    app.state.meteo_in_service = meteo_in_service
    for service in SERVICES:
        for route in service.router.routes:
            if isinstance(route, APIRoute):
                route.openapi_extra = {"x-toolset": service.name, "x-toolset-description": service.description}
        app.include_router(service.router)
    app.add_api_route("/health", _health, include_in_schema=False)
    return app


async def _health() -> dict[str, str]:
    return {"status": "ok"}
