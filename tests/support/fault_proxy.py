"""A proxy in front of a server that spoils what comes back, at the level of bytes; what it lets through really happens."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.support.stream_server import connect_to, read_request, serve_connections

FIFTY_MB = 50 * 1024 * 1024
_PIECE = b"x" * 65_536


@dataclass(slots=True)
class Exchange:
    """One request on its way. ``number`` counts the requests since the fault was chosen, from 1."""

    number: int
    request: bytes
    upstream: str
    client: asyncio.StreamWriter

    async def forward(self) -> bytes:
        """Pass the request on; the whole response, as bytes. From here on, whatever it does has been done."""
        host, _, port = self.upstream.removeprefix("http://").partition(":")
        head, blank, body = self.request.partition(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith((b"connection:", b"host:"))]
        async with connect_to(int(port)) as (reader, writer):
            writer.write(b"\r\n".join([*lines, f"host: {host}:{port}".encode(), b"connection: close"]) + blank + body)
            return await reader.read()

    async def send(self, raw: bytes, *, pause: float = 0.0) -> None:
        """Give the client bytes, and time to take them."""
        self.client.write(raw)
        await self.client.drain()
        await asyncio.sleep(pause)

    async def answer(self, status: str, body: bytes = b'{"detail": "told by the proxy"}', **headers: str) -> None:
        """Give the client a response of the proxy's own."""
        named = {"content-type": "application/json", "content-length": str(len(body)), "connection": "close"}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
        await self.send(f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body)

    def reset(self) -> None:
        """Break the connection off without a farewell."""
        self.client.transport.abort()


Fault = Callable[[Exchange], Awaitable[None]]


async def passing(exchange: Exchange) -> None:
    """No fault."""
    await exchange.send(await exchange.forward())


class Proxy:
    """``fault`` is what happens to every request from now on."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.address = ""
        self._fault: Fault = passing
        self._number = 0

    def choose(self, fault: Fault) -> None:
        """Have this fault from the next request on."""
        self._fault, self._number = fault, 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: one request and what becomes of it."""
        request = await read_request(reader)
        self._number += 1
        await self._fault(Exchange(self._number, request, self.upstream, writer))


@asynccontextmanager
async def proxying(upstream: str) -> AsyncGenerator[Proxy]:
    """A proxy in front of ``http://host:port``, on a free port of loopback."""
    proxy = Proxy(upstream)
    async with serve_connections(proxy.serve) as port:
        proxy.address = f"http://127.0.0.1:{port}"
        yield proxy


def parts(response: bytes) -> tuple[bytes, bytes]:
    """Head, with its blank line, and body."""
    head, blank, body = response.partition(b"\r\n\r\n")
    return head + blank, body


async def flood(exchange: Exchange, head: bytes, size: int) -> None:
    """A body of ``size`` bytes, as far as the client takes it."""
    await exchange.send(head)
    for _ in range(size // len(_PIECE)):
        await exchange.send(_PIECE)
