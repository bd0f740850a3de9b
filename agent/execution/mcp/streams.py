"""Streams to a server over HTTP: the library's transport over the guarded and bounded one."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx
from mcp.client.streamable_http import streamable_http_client

from agent.execution.http.client import guarded_client
from agent.execution.http.guard import Guard
from agent.execution.mcp.bounded_transport import BoundedTransport
from agent.execution.mcp.connection import Streams
from agent.execution.mcp.endpoint import Endpoint
from agent.execution.mcp.exchange import Exchanges
from agent.execution.mcp.parameters import McpParameters

_REDIRECTS = 3


@asynccontextmanager
async def over_http(
    endpoint: Endpoint, guard: Guard, parameters: McpParameters, exchanges: Exchanges
) -> AsyncGenerator[Streams]:
    """Open the streams to a server at an address for this block."""
    chosen = parameters.http
    client = guarded_client(
        guard,
        timeout=httpx.Timeout(chosen.timeout, connect=chosen.connect_timeout, pool=chosen.connect_timeout),
        headers={"User-Agent": "footpath", "Accept-Encoding": "identity", **endpoint.headers},
        around=lambda inner: BoundedTransport(inner, exchanges, chosen.response_limit),
    )
    client.max_redirects = _REDIRECTS
    async with client, streamable_http_client(endpoint.url, http_client=client) as (heard, told, _):
        yield heard, told
