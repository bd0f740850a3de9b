"""A scripted server on a real loopback socket: each connection is answered by the next piece of the script."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.support.stream_server import read_request, serve_connections

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Served:
    port: int = 0
    requests: list[bytes] = field(default_factory=list[bytes])
    sent: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def reply(status: str = "200 OK", body: bytes = b'{"ok": true}', **headers: str) -> Answer:
    """A whole response; header names with underscores for dashes."""
    named = {"content_type": "application/json", "content_length": str(len(body)), **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in named.items() if value != "")

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {status}\r\n{lines}connection: close\r\n\r\n".encode() + body)

    return answer


async def reset(writer: asyncio.StreamWriter) -> None:
    """Close without an answer."""
    writer.transport.abort()


async def silence(writer: asyncio.StreamWriter) -> None:
    """Never answer; ends when the client leaves."""
    await writer.drain()
    await asyncio.sleep(30)


@asynccontextmanager
async def serving(*script: Answer) -> AsyncGenerator[Served, None]:
    """Serve the script; its last piece answers all further requests."""
    served = Served()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.requests.append(await read_request(reader))
        await script[min(len(served.requests), len(script)) - 1](writer)

    async with serve_connections(handle) as served.port:
        yield served
