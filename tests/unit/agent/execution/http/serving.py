"""A scripted server on a real loopback socket: each connection is answered by the next piece of the script."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

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
    served, tasks = Served(), set[asyncio.Task[None]]()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            tasks.add(task)
        try:
            served.requests.append(await _request(reader))
            await _piece(script, len(served.requests))(writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _piece(script: Sequence[Answer], number: int) -> Answer:
    return script[min(number, len(script)) - 1]


async def _request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    return head + (await reader.readexactly(length) if length else b"")
