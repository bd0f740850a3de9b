"""A store's tools as plain MCP tools, one for each operation, over standard input and output: what Footpath's few tools are measured against."""

import asyncio
import logging
import sys
from pathlib import Path
from typing import Any

import _environment as _environment  # first: it tells where the packages are missing
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, TextContent, Tool

from agent.execution.executor import CallResult
from agent.execution.validation import build_arguments_schema
from domain.tool import ToolDoc
from wiring.container import Container, open_container


async def plain_server(container: Container) -> Server[Any, Any]:
    """Lists every tool with all that its document says of it, and makes the calls as a run would."""
    docs = {doc.function: doc async for doc in container.graph.stream_documents()}
    executor = await container.open_executor("http")
    server: Server[Any, Any] = Server("plain")

    async def tools() -> list[Tool]:
        return [Tool(name=name, description=doc.description, inputSchema=input_of(doc)) for name, doc in docs.items()]

    async def call(name: str, arguments: dict[str, Any]) -> CallToolResult:
        return _told(await executor.call(docs[name], arguments))

    server.list_tools()(tools)
    server.call_tool()(call)  # arguments are held against the schema first
    return server


def input_of(doc: ToolDoc) -> dict[str, Any]:
    """The schema of a tool's arguments, with what its document says of each."""
    schema: dict[str, Any] = {**build_arguments_schema(doc)}
    described = {one.name: one.description for one in doc.parameters if one.description}
    schema["properties"] = {
        name: ({"description": described[name]} if name in described else {}) | given
        for name, given in schema["properties"].items()
    }
    return schema


def _told(result: CallResult) -> CallToolResult:
    status = "" if result.http_status is None else f"HTTP {result.http_status}: "
    text = result.body if result.outcome == "ok" else f"{status}{result.body or result.note}"
    return CallToolResult(content=[TextContent(type="text", text=text)], isError=result.outcome != "ok")


async def _serve(store: Path) -> None:
    async with open_container(store=store) as container:
        server = await plain_server(container)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    asyncio.run(_serve(Path(sys.argv[1])))
