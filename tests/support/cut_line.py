"""A line to a server that can be cut and mended: bytes are passed on as they come, whatever is spoken over it."""

import asyncio
from collections.abc import Generator
from contextlib import AsyncExitStack, contextmanager, suppress

from anyio.from_thread import BlockingPortal, start_blocking_portal

from tests.support.stream_server import connect_to, serve_connections


class Line:
    """Made by :func:`line` only; lives on a thread of its own, so that tests may wait for anything meanwhile."""

    def __init__(self, port: int, portal: BlockingPortal) -> None:
        self._upstream = port
        self._portal = portal
        self._server = AsyncExitStack()
        self.port = 0
        self.opened = 0
        """Connections that were taken, all in all."""

    def cut(self) -> None:
        """Break every connection; new ones are refused."""
        self._portal.call(self._server.aclose)

    def mend(self) -> None:
        """Take connections again, at the same port."""
        self.port = self._portal.call(self._server.enter_async_context, serve_connections(self._pass_on, self.port))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        async with connect_to(self._upstream) as (there, back):
            await asyncio.gather(_pump(reader, back), _pump(there, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()
    writer.close()


@contextmanager
def line(port: int) -> Generator[Line]:
    """A line to a port of this machine."""
    with start_blocking_portal() as portal:
        made = Line(port, portal)
        made.mend()
        try:
            yield made
        finally:
            made.cut()
