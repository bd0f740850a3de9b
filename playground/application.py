"""The playground's application: all services behind one address, described in one OpenAPI document."""

from collections.abc import Iterator, Sequence

from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute

from playground import control
from playground.answered import AnswersKept
from playground.apis import (
    agenda,
    books,
    borrowell,
    calendar_days,
    cambio,
    carecompass,
    countries,
    courant,
    courier_mail,
    deskhive,
    farefinder,
    festa,
    firmbook,
    lingua,
    mapfolk,
    market,
    marquee,
    matchday,
    medilex,
    meteo,
    orders,
    pantry,
    parcels,
    paygrade,
    pigeon,
    places,
    rates,
    rates_pro,
    reelbase,
    roomly,
    scholar,
    shop,
    skygate,
    skyline,
    tablefor,
    tasks,
    tickerline,
    units,
    wordhoard,
    workboard,
    zones,
)
from playground.apis.service import Service
from playground.failures import Fault
from playground.state import attach

DEFAULT_PORT = 8765
SERVICES: Sequence[Service] = (
    places.SERVICE,
    skyline.SERVICE,
    meteo.SERVICE,
    rates.SERVICE,
    rates_pro.SERVICE,
    scholar.SERVICE,
    books.SERVICE,
    calendar_days.SERVICE,
    units.SERVICE,
    countries.SERVICE,
    zones.SERVICE,
    mapfolk.SERVICE,
    cambio.SERVICE,
    festa.SERVICE,
    firmbook.SERVICE,
    market.SERVICE,
    tickerline.SERVICE,
    shop.SERVICE,
    orders.SERVICE,
    parcels.SERVICE,
    agenda.SERVICE,
    tasks.SERVICE,
    pigeon.SERVICE,
    courier_mail.SERVICE,
    lingua.SERVICE,
    wordhoard.SERVICE,
    courant.SERVICE,
    deskhive.SERVICE,
    borrowell.SERVICE,
    skygate.SERVICE,
    farefinder.SERVICE,
    roomly.SERVICE,
    reelbase.SERVICE,
    marquee.SERVICE,
    matchday.SERVICE,
    pantry.SERVICE,
    tablefor.SERVICE,
    carecompass.SERVICE,
    medilex.SERVICE,
    workboard.SERVICE,
    paygrade.SERVICE,
)
"""In the order of the OpenAPI document."""


def create_app(address: str = f"http://127.0.0.1:{DEFAULT_PORT}", *, meteo_in_service: bool = False) -> FastAPI:
    """The application.

    ``address`` is what its OpenAPI document gives as its server. ``meteo_in_service``: Meteo Classic still works, as it
    did when most of the sample trajectories were recorded.
    """
    app = FastAPI(
        title="Footpath Playground",
        version="2.0.0",
        description="Small deterministic APIs over fictional worlds, to plan and run multi-step calls against.",
        servers=[{"url": address}],
    )
    app.state.meteo_in_service = meteo_in_service
    app.state.failures = failures()
    app.state.operations = frozenset(str(route.operation_id) for _, route in routes())
    attach(app)
    for service, route in routes():
        told = {"x-toolset": service.name, "x-toolset-description": service.description}
        route.openapi_extra = {**(route.openapi_extra or {}), **told}
    for service in SERVICES:
        app.include_router(service.router, dependencies=[Depends(control.refuse_broken)])
    app.include_router(control.router)
    app.add_middleware(AnswersKept)
    return app


def routes() -> Iterator[tuple[Service, APIRoute]]:
    """Every operation with the service that it belongs to, in order."""
    for service in SERVICES:
        for route in service.router.routes:
            if isinstance(route, APIRoute):
                yield service, route


def failures() -> dict[str, list[str]]:
    """The kinds of failure by the operations that declare any."""
    declared: dict[str, list[str]] = {}
    for _, route in routes():
        faults = [one.dependency for one in route.dependencies if isinstance(one.dependency, Fault)]
        kinds = [failure.kind for fault in faults for failure in fault.failures]
        if kinds:
            declared[str(route.operation_id)] = list(kinds)
    return declared
