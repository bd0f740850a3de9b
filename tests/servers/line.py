"""A line to a server that can be cut, mended and made long: bytes are passed on in order, whatever is spoken over it."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, suppress


class Line:
    """Made by :func:`line` only; lives on a thread of its own, so that tests may wait for anything meanwhile."""

    def __init__(self, port: int, delay: float) -> None:
        self._upstream = port
        self.delay = delay
        """Seconds that each piece is on its way, there and back each."""
        self.round_trips = 0
        """How often a client sent something and waited for the answer, over all connections."""
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
        answered = True

        def sent() -> None:
            nonlocal answered
            self.round_trips += answered
            answered = False

        def received() -> None:
            nonlocal answered
            answered = True

        await asyncio.gather(self._pump(reader, back, sent), self._pump(there, writer, received))
        self._open -= {writer, back}

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: Callable[[], None]) -> None:
        """Pass pieces on, each after the delay; those that follow are on their way meanwhile."""
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        arriving = asyncio.create_task(_arrive(under_way, writer))
        with suppress(OSError):
            while piece := await reader.read(65_536):
                seen()
                under_way.put_nowait((self._loop.time() + self.delay, piece))
        under_way.put_nowait((self._loop.time() + self.delay, b""))
        await arriving

    def run(self) -> None:
        """The thread's work."""
        self._loop.run_forever()
        self._loop.close()

    def stop(self) -> None:
        """Let the thread end."""
        self._loop.call_soon_threadsafe(self._loop.stop)


async def _arrive(under_way: "asyncio.Queue[tuple[float, bytes]]", writer: asyncio.StreamWriter) -> None:
    """Write pieces when they are due, to the empty one."""
    loop = asyncio.get_running_loop()
    with suppress(OSError):
        while True:
            due, piece = await under_way.get()
            if (left := due - loop.time()) > 0:
                await asyncio.sleep(left)
            if not piece:
                break
            writer.write(piece)
            await writer.drain()
    writer.close()


@contextmanager
def line(port: int, delay: float = 0.0) -> Generator[Line]:
    """A line to a port of this machine. ``delay``: seconds that bytes are on their way, there and back each; it may be changed while it is used."""
    made = Line(port, delay)
    thread = threading.Thread(target=made.run, daemon=True)
    thread.start()
    try:
        made.mend()
        yield made
        made.cut()
    finally:
        made.stop()
        thread.join(10)
