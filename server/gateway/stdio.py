"""The protocol over standard input and output, for one person: how a client on this machine starts Footpath."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from io import TextIOWrapper
from pathlib import Path

import anyio
from mcp.server.stdio import stdio_server

from server.gateway.embedded import EmbeddedBackend
from server.gateway.serving import Context, gateway_server
from wiring.container import open_container


async def serve_stdio(store: Path | None = None, policy: str = "", *, yes: bool = False) -> None:
    """Serve a store until the client closes our input. ``policy``: who plans what is asked, by default a model where the settings name one;
    ``yes``: changes are allowed without asking.

    Raises:
        UnavailableError: no store is there, or it cannot be used. UsageError: there is no such policy.
    """
    async with open_container(store=store) as container, _only_messages() as stdout:
        if policy:
            container.create_policy(policy)
        backend = EmbeddedBackend(container, policy, yes)

        async def backend_of(_: Context) -> EmbeddedBackend:
            return backend

        server = gateway_server(backend_of)
        async with stdio_server(stdout=stdout) as (read, write):
            await server.run(read, write, server.create_initialization_options())
        await backend.followed.settled()


@asynccontextmanager
async def _only_messages() -> AsyncGenerator[anyio.AsyncFile[str]]:
    """Our standard output for messages alone: whatever else this process writes there goes to standard error."""
    sys.stdout.flush()
    own = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        with os.fdopen(own, "wb", closefd=False) as raw:
            yield anyio.wrap_file(TextIOWrapper(raw, encoding="utf-8", write_through=True))
    finally:
        os.dup2(own, sys.stdout.fileno())
        os.close(own)
