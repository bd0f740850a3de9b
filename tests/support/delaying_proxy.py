"""A TCP proxy that puts a distance before a server, and counts the round trips of what goes through it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager

from tests.support.stream_server import connect_to, open_in_thread, serve_connections

_PREFACE = b"PRI * HTTP/2.0"
"""What an HTTP/2 connection, and so a gRPC channel, begins with."""
_HEADERS = 1
"""Type of the HTTP/2 frame that begins a request."""


class Delay:
    """The traffic through one proxy. ``seconds`` and the count may be changed at any time."""

    def __init__(self, port: int, seconds: float) -> None:
        self.seconds = seconds
        """One way; a round trip takes twice as long."""
        self.requests: list[bytes] = []
        """The beginning of what the client sent in each round trip, connecting and signing in among them."""
        self.port = 0
        """Where the proxy listens, on 127.0.0.1."""
        self._upstream = port

    def reset(self) -> None:
        """Count from here on."""
        self.requests.clear()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection until either end closes it."""
        await asyncio.sleep(2 * self.seconds)  # connecting is a round trip, too, which loopback answers at once
        self.requests.append(b"connect")
        count = _Counter(self.requests)
        async with connect_to(self._upstream) as (server_reader, server_writer):
            await asyncio.gather(
                self._pass_on(reader, server_writer, count.sent), self._pass_on(server_reader, writer, count.answered)
            )

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: Callable[[bytes], None]
    ) -> None:
        """Write each piece when it is due. Pieces overlap on their way, as packets do: a long answer is not late by its length."""
        due = asyncio.Queue[tuple[float, bytes]]()
        loop = asyncio.get_running_loop()

        async def write() -> None:
            while True:
                at, piece = await due.get()
                await asyncio.sleep(max(0.0, at - loop.time()))
                if not piece:
                    return
                writer.write(piece)
                await writer.drain()

        writing = asyncio.create_task(write())
        try:
            piece = b"?"
            while piece:
                try:
                    piece = await reader.read(65_536)
                except ConnectionError:
                    piece = b""  # a reset is an end, too: reading again raises at once, for ever
                seen(piece)
                due.put_nowait((loop.time() + self.seconds, piece))
            await writing
        except ConnectionError:
            pass
        finally:
            writing.cancel()
            writer.close()


class _Counter:
    """Tells round trips of one connection apart."""

    def __init__(self, requests: list[bytes]) -> None:
        self._requests = requests
        self._waits = True
        self._frames: bytearray | None = None

    def sent(self, piece: bytes) -> None:
        """Count what a client sent after an answer; over HTTP/2, where answers overlap, each request."""
        if self._frames is None and piece.startswith(_PREFACE):
            self._frames = bytearray()
            piece = piece[24:]
        if self._frames is not None:
            self._count_frames(piece)
        elif self._waits and piece:
            self._requests.append(piece[:400])
            self._waits = False

    def answered(self, piece: bytes) -> None:
        """What is sent from now on is another round trip."""
        self._waits = self._waits or bool(piece)

    def _count_frames(self, piece: bytes) -> None:
        frames = self._frames or bytearray()
        frames += piece
        while len(frames) >= 9 and len(frames) >= 9 + int.from_bytes(frames[:3]):
            length = 9 + int.from_bytes(frames[:3])
            if frames[3] == _HEADERS:
                self._requests.append(bytes(frames[9:length]))
            del frames[:length]
        self._frames = frames


@contextmanager
def delayed(port: int, seconds: float = 0.0) -> Generator[Delay]:
    """A proxy before a port of 127.0.0.1, in a thread of its own: whoever is measured does not slow it."""

    @asynccontextmanager
    async def serve() -> AsyncGenerator[Delay]:
        delay = Delay(port, seconds)
        async with serve_connections(delay.carry) as delay.port:
            yield delay

    with open_in_thread(serve()) as delay:
        yield delay
