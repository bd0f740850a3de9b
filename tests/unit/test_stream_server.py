"""Servers of tests leave no socket, transport or task behind, whatever state their connections are in at the end."""

import asyncio
import gc
import socket
import threading
from collections.abc import Collection
from contextlib import closing

import pytest

from tests.support.stream_server import Handler, connect_to, open_in_thread, serve_connections

pytestmark = pytest.mark.filterwarnings("error::ResourceWarning")


async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(300)


async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Write more than the sockets between server and peer take, and return."""
    writer.write(b"x" * (1 << 25))


async def answer_and_hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(await reader.readline())
    await asyncio.sleep(300)


async def pass_on_to_nobody(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    async with connect_to(1):
        raise AssertionError("nobody listens on port 1")


def assert_nothing_open(*ports: int) -> None:
    """Fail where what is left of servers is garbage that was not closed: pytest raises the warnings of the collection."""
    gc.collect()
    left = [found for found in gc.get_objects() if isinstance(found, socket.socket) and _is_server_side(found, ports)]
    assert left == []


def _is_server_side(found: socket.socket, ports: Collection[int]) -> bool:
    return found.fileno() >= 0 and found.family == socket.AF_INET and found.getsockname()[1] in ports


def ending(handler: Handler, passes: int) -> int:
    """Connect, let the server's loop go on for so many passes, and end the server and its loop; the server's port."""

    async def end() -> int:
        async with serve_connections(handler) as port:
            with closing(socket.create_connection(("127.0.0.1", port))) as peer:
                peer.send(b"hello\n")
                for _ in range(passes):
                    await asyncio.sleep(0)
                return port

    return asyncio.run(end())


@pytest.mark.parametrize("handler", [hang, flood, answer_and_hang, pass_on_to_nobody])
def test_no_connection_is_left_open(handler: Handler) -> None:
    assert_nothing_open(*[ending(handler, passes) for passes in (*range(6), 50)])  # one look at all: it takes seconds


async def test_an_answer_is_sent_whole_before_the_connection_is_closed() -> None:
    async with serve_connections(flood) as port, connect_to(port) as (reader, _):
        assert len(await reader.read(-1)) == 1 << 25


async def test_a_failure_of_a_handler_fails_the_test_but_a_peer_that_leaves_does_not() -> None:
    async def fail(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(1)
        raise ValueError("a bug of the server")

    async with serve_connections(fail) as port, connect_to(port):
        pass

    async def meet_the_bug() -> None:
        async with serve_connections(fail) as port, connect_to(port) as (reader, writer):
            writer.write(b"x")
            assert await reader.read() == b""

    with pytest.raises(ValueError, match="a bug of the server"):
        await meet_the_bug()


def test_a_server_in_a_thread_ends_with_its_thread() -> None:
    before = set(threading.enumerate())
    with open_in_thread(serve_connections(hang)) as port:
        with socket.create_connection(("127.0.0.1", port)) as peer:
            peer.send(b"hello\n")
        (thread,) = set(threading.enumerate()) - before
    assert not thread.is_alive()
    assert_nothing_open(port)
