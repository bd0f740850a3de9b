"""The guards around every test work: no host but loopback, no blocked event loop, no settings from outside."""

import asyncio
import os
import socket
import sqlite3
import sys
from contextlib import closing
from types import ModuleType

import pytest
from blockbuster import BlockingError
from pytest_socket import SocketConnectBlockedError

from tests.support.stream_server import serve_connections

ELSEWHERE = ("192.0.2.1", 9)  # TEST-NET-1 (RFC 5737): no machine has it

pytestmark = pytest.mark.filterwarnings("ignore:A test tried to use socket:UserWarning")


async def test_loopback_works_through_asyncio() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())

    async with serve_connections(echo) as port:
        reader, writer = await asyncio.open_connection("localhost", port)
        writer.write(b"here\n")
        assert await reader.readline() == b"here\n"
        writer.close()
        await writer.wait_closed()


async def test_asyncio_reaches_no_other_host() -> None:
    with pytest.raises(SocketConnectBlockedError):
        await asyncio.wait_for(asyncio.open_connection(*ELSEWHERE), 5)


def test_a_plain_socket_reaches_no_other_host() -> None:
    with pytest.raises(SocketConnectBlockedError):
        socket.create_connection(ELSEWHERE, timeout=5)


def test_no_way_around_connect() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain:
        with pytest.raises(SocketConnectBlockedError):
            plain.connect_ex(ELSEWHERE)
        with pytest.raises(SocketConnectBlockedError):
            plain.sendto(b"", ELSEWHERE)


def test_no_name_is_looked_up() -> None:
    with pytest.raises(SocketConnectBlockedError):
        socket.getaddrinfo("example.com", 80)
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("nowhere.invalid", 80)


def test_socket_pairs_work() -> None:
    left, right = socket.socketpair()
    with left, right:
        left.sendall(b"x")
        assert right.recv(1) == b"x"


async def test_a_package_of_ours_cannot_block_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard judges by the file a frame comes from, so a module is made that claims to lie in ``graph``."""
    import graph

    blocking = ModuleType("graph.blocking")
    source = (
        "import sqlite3, contextlib\ndef read():\n    with contextlib.closing(sqlite3.connect(':memory:')) as c:\n"
        "        return c.execute('select 1').fetchone()\n"
    )
    exec(compile(source, f"{graph.__path__[0]}/blocking.py", "exec"), vars(blocking))
    monkeypatch.setitem(sys.modules, "graph.blocking", blocking)
    with pytest.raises(BlockingError):
        blocking.read()
    assert await asyncio.to_thread(blocking.read) == (1,)
    with closing(sqlite3.connect(":memory:")) as elsewhere:
        assert elsewhere.execute("select 1").fetchone() == (1,)


def test_settings_from_outside_are_gone() -> None:
    assert [name for name in os.environ if name.startswith("FOOTPATH_")] == []
