"""Requests that a proxy in front may read otherwise than the server: nothing is smuggled behind them, and nobody is sent elsewhere."""

import socket
from collections.abc import Generator
from urllib.parse import urlsplit

import pytest

from tests.support.server_process import ROOT, started

SMUGGLED = b"GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[str, int]]:
    folder = tmp_path_factory.mktemp("server")
    variables = {
        "FOOTPATH_SERVER_HOME": str(folder / "home"),
        "FOOTPATH_HOSTS": "x,evil.example",
        "PYTHONPATH": str(ROOT),
    }
    with started(variables, folder) as (url, _):
        parts = urlsplit(url)
        yield str(parts.hostname), int(parts.port or 0)


def answered(address: tuple[str, int], sent: bytes, timeout: float = 3) -> tuple[bytes, bool]:
    """All that came back, and whether the server closed the connection."""
    with socket.create_connection(address, timeout=timeout) as connection:
        connection.sendall(sent)
        found = b""
        try:
            while piece := connection.recv(65_536):
                found += piece
        except TimeoutError:
            return found, False
        except ConnectionResetError:
            return found, True
        return found, True


@pytest.mark.parametrize(
    "head",
    [
        b"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 44\r\n" + CHUNKED,
        b"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\n" + CHUNKED + b"Content-Length: 44\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: 44\r\n" + CHUNKED,
        b"POST /api/v1/auth/login HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n" + CHUNKED,
    ],
    ids=["length first", "chunks first", "without a body", "chunks in HTTP/1.0"],
)
def test_of_two_lengths_neither_is_believed(address: tuple[str, int], head: bytes) -> None:
    """RFC 9112, 6.1: who takes one, while a proxy took the other, answers the smuggled request to somebody else."""
    found, closed = answered(address, head + b"\r\n0\r\n\r\n" + SMUGGLED)
    assert found.startswith(b"HTTP/1.1 400 ")
    assert b"ambiguous_length" in found
    assert b"ready" not in found
    assert closed


def test_nothing_follows_what_was_for_another_name(address: tuple[str, int]) -> None:
    """Where a request of a stranger's name ends is not looked at, so what comes after it is none."""
    head = b"POST /api/v1/auth/login HTTP/1.1\r\nHost: other\r\nContent-Length: 44\r\n" + CHUNKED
    found, closed = answered(address, head + b"\r\n0\r\n\r\n" + SMUGGLED)
    assert found.startswith(b"HTTP/1.1 421 ")
    assert found.count(b"HTTP/1.1 ") == 1
    assert closed


def test_one_length_is_believed(address: tuple[str, int]) -> None:
    body = b'{"name": "nobody", "password": "not the right one"}'
    head = b"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
    plain, _ = answered(address, head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    chunked, _ = answered(address, head + CHUNKED + b"\r\n%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n")
    assert b"wrong_password" in plain
    assert b"wrong_password" in chunked


def test_a_path_with_one_slash_more_leads_nowhere(address: tuple[str, int]) -> None:
    """A redirect would name whatever host the request names."""
    found, _ = answered(address, b"GET /api/v1/me/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
    assert found.startswith(b"HTTP/1.1 404 ")
    assert b"evil.example" not in found


def test_there_are_no_websockets(address: tuple[str, int]) -> None:
    """An upgrade is not made, and the request is like any other: counted, logged and answered."""
    upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eHh4eHh4eHh4eHh4eHh4eA==\r\n"
    found, _ = answered(address, b"GET /health HTTP/1.1\r\nHost: x\r\n" + upgrade + b"\r\n", timeout=1)
    assert found.startswith(b"HTTP/1.1 200 ")
    assert b"x-request-id" in found
