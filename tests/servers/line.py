"""A line to a server that can be cut and mended: bytes are passed on as they come, whatever is spoken over it."""

import asyncio
import threading
from collections.abc import Coroutine, Generator
from contextlib import contextmanager, suppress


class Line:
    """Made by :func:`line` only; lives on a thread of its own, so that tests may wait for anything meanwhile."""

    def __init__(self, port: int) -> None:
        self._upstream = port
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self.port = 0
        self.opened = 0
        """Connections that were taken, all in all."""

    def cut(self) -> None:
        """Break every connection; new ones are refused."""
        self._do(self._cut())

    def mend(self) -> None:
        """Take connections again, at the same port."""
        self._do(self._mend())

    def _do(self, work: Coroutine[None, None, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _cut(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for writer in list(self._open):
            writer.transport.abort()

    async def _mend(self) -> None:
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        there, back = await asyncio.open_connection("127.0.0.1", self._upstream)
        self._open |= {writer, back}
        await asyncio.gather(_pump(reader, back), _pump(there, writer))
        self._open -= {writer, back}

    def run(self) -> None:
        """The thread's work."""
        self._loop.run_forever()
        self._loop.close()

    def stop(self) -> None:
        """Let the thread end."""
        self._loop.call_soon_threadsafe(self._loop.stop)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()
    writer.close()


@contextmanager
def line(port: int) -> Generator[Line]:
    """A line to a port of this machine."""
    made = Line(port)
    thread = threading.Thread(target=made.run, daemon=True)
    thread.start()
    try:
        made.mend()
        yield made
        made.cut()
    finally:
        made.stop()
        thread.join(10)
