"""The workshop's application: one OpenAPI document, a ledger of what was changed, and a reset, as the playground has them."""

from fastapi import FastAPI

from playground import control
from playground.state import attach
from playground.workshop import bench, counter

DEFAULT_PORT = 8766


def create_app(address: str = f"http://127.0.0.1:{DEFAULT_PORT}") -> FastAPI:
    """The application. ``address`` is what its OpenAPI document gives as its server."""
    app = FastAPI(
        title="Fermata Back Office",
        version="1.4.0",
        description="Patrons, instruments, dockets and spares of a workshop that mends musical instruments.",
        servers=[{"url": address}],
    )
    attach(app)
    app.include_router(counter.router)
    app.include_router(bench.router)
    app.include_router(control.router)
    return app
