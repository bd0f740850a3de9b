"""A tool whose server takes its time, and counts its calls: enough of it for an account to be disabled meanwhile."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from domain.tool import Parameter, ToolDoc, make_tool_id
from tests.support.stream_server import serve_connections


@dataclass
class SlowTool:
    """``calls``: how many have come; ``go``: answers them."""

    doc: ToolDoc
    host: str
    calls: int = 0
    go: asyncio.Event = field(default_factory=asyncio.Event)


@asynccontextmanager
async def slow_tool() -> AsyncGenerator[SlowTool]:
    """At loopback, until the end of the block."""
    made: list[SlowTool] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        made[0].calls += 1
        await made[0].go.wait()
        body = b'{"found": true}'
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + body)

    async with serve_connections(answer) as port:
        host = f"127.0.0.1:{port}"
        doc = ToolDoc(
            id=make_tool_id("places", "search", "find_city"),
            category="places",
            toolset="search",
            api="find_city",
            function="find_city",
            description="Finds a city.",
            url=f"http://{host}/city",
            parameters=(Parameter(name="city", required=True),),
        )
        made.append(SlowTool(doc, host))
        yield made[0]
