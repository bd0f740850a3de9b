"""A TCP server of a test's own, written as one function a connection, that leaves nothing open behind it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import TypeVar

from anyio.from_thread import start_blocking_portal

LOOPBACK = "127.0.0.1"
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
T = TypeVar("T")


class _Connections:
    """The connections that a server has accepted and not closed yet, and why handlers failed."""

    def __init__(self, handler: Handler) -> None:
        self.failures: list[BaseException] = []
        self._handler = handler
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Start a handler. Not a coroutine function: asyncio would hide the task, which has to be cancelled."""
        task = asyncio.get_running_loop().create_task(self._handle(reader, writer))
        self._open[task] = writer
        task.add_done_callback(self._end)

    async def close(self) -> None:
        """Cancel all handlers, break their connections off, and wait until the loop has closed the sockets."""
        open_connections = dict(self._open)
        for task in open_connections:
            task.cancel()
        await asyncio.gather(*open_connections, return_exceptions=True)
        for writer in open_connections.values():
            writer.transport.abort()  # unlike close(), it does not wait for a peer that reads nothing
        await asyncio.gather(*(writer.wait_closed() for writer in open_connections.values()), return_exceptions=True)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._handler(reader, writer)
            writer.close()
            await writer.wait_closed()
        except (ConnectionError, asyncio.IncompleteReadError):
            return  # the peer has left

    def _end(self, task: asyncio.Task[None]) -> None:
        """Forget a connection. A task that is cancelled before its first step runs no ``finally``, so it is closed here."""
        self._open.pop(task).transport.abort()
        if not task.cancelled() and (failure := task.exception()):
            self.failures.append(failure)


@asynccontextmanager
async def serve_connections(handler: Handler, port: int = 0, limit: int = 1 << 24) -> AsyncGenerator[int]:
    """Serve on a port of loopback, any free one by default; yields the port.

    A connection is closed when its handler returns, and broken off when the block ends. A peer that leaves ends its handler; any other
    exception of a handler is raised when the block ends.
    """
    connections = _Connections(handler)
    server = await asyncio.start_server(connections.accept, LOOPBACK, port, limit=limit)
    listener = server.sockets[0]
    try:
        yield listener.getsockname()[1]
    finally:
        # A connection that the loop has taken off the listener needs two more passes until accept() gets it. If the server were closed
        # before, Python 3.11 would drop the socket unclosed (Server._attach fails), so no more are taken first.
        asyncio.get_running_loop().remove_reader(listener.fileno())
        for _ in range(3):
            await asyncio.sleep(0)
        server.close()
        await connections.close()
    if connections.failures:
        raise connections.failures[0]


@asynccontextmanager
async def connect_to(port: int) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Connect to a port of loopback; the connection is broken off at the end of the block."""
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def read_request(reader: asyncio.StreamReader) -> bytes:
    """Read one HTTP request: head, blank line and body."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    return head + (await reader.readexactly(length) if length else b"")


@contextmanager
def open_in_thread(opened: AbstractAsyncContextManager[T]) -> Generator[T]:
    """Enter an async context in an event loop of its own thread, for callers that block."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(opened) as value:
        yield value
