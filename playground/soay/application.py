"""The three services: one OpenAPI document each, served only when asked for."""

from typing import Literal

from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute

from playground import control
from playground.apis.service import Service
from playground.soay import books, scholar, works
from playground.state import attach

Scenario = Literal["scholar", "works", "books"]
SCENARIOS: dict[Scenario, Service] = {
    "scholar": scholar.SERVICE,
    "works": works.SERVICE,
    "books": books.SERVICE,
}
DEFAULT_PORT = 8767


def create_app(scenario: Scenario, address: str = f"http://127.0.0.1:{DEFAULT_PORT}") -> FastAPI:
    """The application. ``address`` is what its OpenAPI document gives as its server."""
    service = SCENARIOS[scenario]
    app = FastAPI(title=service.name, version="1.0.0", description=service.description, servers=[{"url": address}])
    app.state.failures = {}
    app.state.operations = frozenset(
        str(route.operation_id) for route in service.router.routes if isinstance(route, APIRoute)
    )
    attach(app)
    app.include_router(service.router, dependencies=[Depends(control.refuse_broken)])
    app.include_router(control.router)
    return app
