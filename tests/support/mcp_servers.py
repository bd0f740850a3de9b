"""Servers of the protocol on loopback for the time of a block, and tools of theirs."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from agent.execution.http import HttpParameters
from agent.execution.mcp import McpParameters, McpSessions
from domain.side_effect import MCP
from domain.tool import Parameter, ToolDoc, make_tool_id


@asynccontextmanager
async def served(app: Any) -> AsyncGenerator[str]:
    """The address of an ASGI application, without a path."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        while not server.started:  # noqa: ASYNC110  uvicorn tells it in no other way
            await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
        listening.close()


@asynccontextmanager
async def sessions(
    *, seconds: float = 20.0, limit: int = 1_048_576, changed: Callable[[str], None] | None = None, **bounds: Any
) -> AsyncGenerator[McpSessions]:
    """Sessions that may reach loopback. ``limit``: bytes of an answer; ``bounds``: of the sessions."""
    http = HttpParameters(timeout=seconds, response_limit=limit, allow_hosts=frozenset({"127.0.0.1", "localhost"}))
    made = McpSessions(McpParameters(http=http, **bounds), on_list_changed=changed)
    try:
        yield made
    finally:
        await made.close()


def tool(url: str, api: str, *parameters: str, **more: Any) -> ToolDoc:
    """A tool of a server; one that only reads is ``side_effect="reads"``."""
    given = tuple(Parameter(name=name, location="body") for name in parameters)
    return ToolDoc(
        id=make_tool_id("harbour", "everything", api), category="harbour", toolset="everything", api=api, function=api, method=MCP, url=url,
        parameters=given, **more,
    )  # fmt: skip
