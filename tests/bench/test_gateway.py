"""A thousand tools from three sources behind Footpath as an MCP server, asked by the official client over standard input and output: start, memory,
finds and calls; and what stands in the client's context against the same tools as plain MCP tools. The ratio is what the test holds to.
"""

import json
import os
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import Tool
from starlette.types import Receive, Scope, Send

from agent.execution.secret_store import EnvironmentSecrets
from agent.execution.validation import build_arguments_schema
from agent.text import estimate_tokens
from domain.tool import ToolDoc
from graph.importers.mcp import McpSource
from retriever.indexing import index_tools
from server.gateway.tools import INSTRUCTIONS, listed
from tests.support.mcp_clients import result, text
from tests.support.mcp_servers import served
from tests.support.source_tree import ROOT
from wiring.container import Container, open_container
from wiring.links import ignore_progress, link
from wiring.mcp_listing import list_mcp_server
from wiring.settings import Settings
from wiring.store_build import BuildOptions, build

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]
SOURCES = {
    "shop": (
        "order",
        "invoice",
        "customer",
        "product",
        "basket",
        "refund",
        "voucher",
        "shipment",
        "supplier",
        "review",
    ),
    "town": ("permit", "park", "library", "tram", "school", "museum", "pool", "market", "bridge", "street"),
    "ward": ("patient", "nurse", "bed", "ticket", "visit"),
}
VIEWS = ("list", "history", "summary", "status", "owner", "cost", "place", "schedule", "comments", "alerts")
ASPECTS = ("today", "weekly", "archived", "shared")
ASKED = 200


def views(source: str) -> list[tuple[str, str, str]]:
    return list(product(SOURCES[source], VIEWS, ASPECTS))


def document(source: str, url: str) -> dict[str, Any]:
    """An OpenAPI document of 400 operations that read."""
    where = {"name": "id", "in": "query", "required": True, "schema": {"type": "string"}, "description": "Which one."}
    limit = {
        "name": "limit",
        "in": "query",
        "schema": {"type": "integer", "default": 20},
        "description": "How many, at most.",
    }
    fields = {"id": {"type": "string"}, "count": {"type": "integer"}}
    answer = {
        "description": "ok",
        "content": {"application/json": {"schema": {"type": "object", "properties": fields}}},
    }
    paths = {
        f"/{source}/{noun}/{view}/{aspect}": {
            "get": {
                "operationId": f"{noun}_{view}_{aspect}",
                "summary": f"The {aspect} {view} of one {noun} of the {source}, by its id, with how many entries it has.",
                "parameters": [where, limit],
                "responses": {"200": answer},
            }
        }
        for noun, view, aspect in views(source)
    }
    return {"openapi": "3.1.0", "info": {"title": source, "version": "1"}, "servers": [{"url": url}], "paths": paths}


@asynccontextmanager
async def apis() -> AsyncGenerator[str]:
    """Both REST services, and at ``/mcp`` a server of 200 tools, on one port."""
    server: Server[Any, Any] = Server("ward")
    takes = {
        "type": "object",
        "properties": {"id": {"type": "string", "description": "Which one."}},
        "required": ["id"],
    }

    async def tools() -> list[Tool]:
        about = "The {2} {1} of one {0} of the ward, by its id, with how many entries it has."
        return [Tool(name="_".join(one), description=about.format(*one), inputSchema=takes) for one in views("ward")]

    async def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"id": arguments["id"], "count": len(name)}

    server.list_tools()(tools)
    server.call_tool()(call)
    sessions, rest = StreamableHTTPSessionManager(server), FastAPI()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        await (sessions.handle_request if scope["path"] == "/mcp" else rest)(scope, receive, send)

    @rest.get("/{path:path}")
    async def read(path: str) -> dict[str, Any]:
        return {"id": path, "count": len(path)}

    async with sessions.run(), served(app) as url:
        yield url


def unseen_progress(stage: str, done: int, total: int | None) -> None:
    """Nobody watches."""


async def stored(folder: Path, url: str, settings: Settings) -> list[ToolDoc]:
    """The store, made; its tools."""
    for source in ("shop", "town"):
        (folder / f"{source}.json").write_text(json.dumps(document(source, url)))
    files = (folder / "shop.json", folder / "town.json")
    await build(BuildOptions(tools=files, store=folder / "store"), unseen_progress, settings)
    async with open_container(settings, folder / "store") as container:
        await add_server(container, url)
        return [one async for one in container.graph.stream_documents()]


async def add_server(container: Container, url: str) -> None:
    """The tools of the MCP server, of which an author has confirmed that they only read."""
    found = await list_mcp_server(container, McpSource(f"{url}/mcp", "ward", "ward"), EnvironmentSecrets({}), "")
    await container.graph.put_tools([one.model_copy(update={"marked": "reads"}) for one in found.docs])
    await index_tools(container.graph.stream_documents(), *await container.get_retrieval())
    await link(container, ignore_progress, embedded=True)


def plain(docs: list[ToolDoc]) -> str:
    """The same tools as a client is told of plain MCP tools."""
    told = [
        Tool(name=one.function, description=one.description, inputSchema=build_arguments_schema(one)) for one in docs
    ]
    return json.dumps([one.model_dump(mode="json", exclude_none=True) for one in told])


async def spent(work: Callable[[int], Awaitable[object]]) -> str:
    """Milliseconds, p50 and p99."""
    times: list[float] = []
    for number in range(ASKED):
        start = time.perf_counter()
        await work(number)
        times.append(1e3 * (time.perf_counter() - start))
    return f"p50 {np.percentile(times, 50):.0f} ms, p99 {np.percentile(times, 99):.0f} ms"


def memory(child_of: int) -> int:
    """Megabytes that the one process that we have started holds."""
    children = Path(f"/proc/{child_of}/task/{child_of}/children").read_text().split()
    held = [
        Path(f"/proc/{one}/status").read_text()
        for one in children
        if "mcp_server" in Path(f"/proc/{one}/cmdline").read_text()
    ]
    return max(int(one.split("VmRSS:")[1].split()[0]) for one in held) // 1024


async def test_a_thousand_tools_of_three_sources(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with apis() as url:
        host = url.removeprefix("http://")
        settings = Settings(allow_hosts=host)  # pyright: ignore[reportArgumentType]  # read as of the environment
        docs = await stored(tmp_path, url, settings)
        command = [str(ROOT / "scripts" / "mcp_server.py"), "--store", str(tmp_path / "store"), "--policy", "offline"]
        started = StdioServerParameters(command=sys.executable, args=command, env={"FOOTPATH_ALLOW_HOSTS": host})
        all_views = [(source, *one) for source in SOURCES for one in views(source)]
        figures: dict[str, str] = {"tools": str(len(docs))}
        begun = time.perf_counter()
        async with stdio_client(started) as streams, ClientSession(*streams) as session:
            await session.initialize()
            figures["start, to the first answer"] = f"{time.perf_counter() - begun:.1f} s"
            figures["memory at the start"] = f"{memory(os.getpid())} MB"
            found_tokens: list[int] = []
            right: list[bool] = []

            async def find(number: int) -> None:
                source, noun, view, aspect = all_views[(number * 37) % len(all_views)]
                answer = await session.call_tool(
                    "find_tools", {"request": f"What is the {aspect} {view} of {noun} {number} of the {source}?"}
                )
                found_tokens.append(estimate_tokens(text(answer)))
                names = [one["function"] for one in result(answer)["tools"]]
                right.append(f"{noun}_{view}_{aspect}" in names)

            async def call(number: int) -> None:
                _, *names = all_views[(number * 37) % len(all_views)]
                answer = await session.call_tool(
                    "call_tool", {"tool": "_".join(names), "arguments": {"id": f"x{number}"}}
                )
                assert not answer.isError, text(answer)

            await find(0)
            figures["first find, with the encoder read"] = f"{time.perf_counter() - begun:.1f} s after the start"
            figures["find"] = await spent(find)
            figures["call"] = await spent(call)
            figures["memory at the end"] = f"{memory(os.getpid())} MB"
        own = estimate_tokens(
            json.dumps([one.model_dump(mode="json", exclude_none=True) for one in listed()]) + INSTRUCTIONS
        )
        every = estimate_tokens(plain(docs))
        figures["the tool that was asked for among eight"] = f"{sum(right)} of {len(right)}"
        figures["tokens of the client's context"] = (
            f"{own}, and {np.median(found_tokens):.0f} a find; as plain tools {every}"
        )
    with capsys.disabled():
        print("\n" + "\n".join(f"{name}: {figure}" for name, figure in figures.items()))
    assert len(docs) == 1000
    assert own + np.median(found_tokens) < every / 20
