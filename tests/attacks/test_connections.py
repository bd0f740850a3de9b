"""Who opens connections and asks for nothing, or for ever, takes neither the server's time nor its memory from others."""

import socket
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.server_load import resident
from tests.support.server_process import started

HALF_HEAD = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
BODY = b"POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
ELSEWHERE = {"FOOTPATH_TRUSTED_PROXIES": "192.0.2.1"}
"""Loopback is no trusted proxy then, but an address like others."""


@contextmanager
def server(folder: Path, **variables: str) -> Generator[tuple[str, int]]:
    """Its address, and its process's id."""
    with started({"FOOTPATH_SERVER_HOME": str(folder / "home")} | variables, folder) as (address, process):
        yield address, process.pid


def connected(stack: ExitStack, address: str, count: int, sent: bytes) -> list[socket.socket]:
    """So many connections, each with the beginning of a request."""
    host, _, port = address.removeprefix("http://").partition(":")
    opened = [stack.enter_context(socket.create_connection((host, int(port)), timeout=10)) for _ in range(count)]
    for one in opened:
        send(one, sent)
    return opened


def send(one: socket.socket, data: bytes) -> None:
    """What the other end does not take any more is lost."""
    try:
        one.sendall(data)
    except ConnectionError:
        return


def received(one: socket.socket) -> bytes:
    """All that comes until the other end closes. ``TimeoutError``: it does not."""
    found = b""
    try:
        while data := one.recv(65_536):
            found += data
    except ConnectionError:
        pass
    return found


def healthy(address: str) -> bool:
    return httpx.get(f"{address}/health", trust_env=False, timeout=10).status_code == 200


def test_half_heads_are_closed_in_time_and_told_of_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with server(tmp_path, FOOTPATH_HEAD_SECONDS="1") as (address, _), ExitStack() as stack:
        opened = connected(stack, address, 40, HALF_HEAD)
        for _ in range(4):
            assert healthy(address)
            time.sleep(0.4)
            for one in opened:  # a byte now and then buys no time
                send(one, b"x")
        assert [received(one) for one in opened] == [b""] * 40
    told = [line for line in capfd.readouterr().err.splitlines() if "connections are closed" in line]
    assert len(told) == 1
    assert "127.0.0.1 sent no whole request in 1 seconds" in told[0]


def test_half_heads_after_an_answer_are_closed_too(tmp_path: Path) -> None:
    whole = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with server(tmp_path, FOOTPATH_HEAD_SECONDS="1") as (address, _), ExitStack() as stack:
        opened = connected(stack, address, 3, whole)
        for one in opened:
            assert one.recv(65_536).startswith(b"HTTP/1.1 200")
            send(one, HALF_HEAD)
        for one in opened:
            received(one)  # to its end, which comes


def test_half_bodies_end_in_time_and_hold_little(tmp_path: Path) -> None:
    slow = {"FOOTPATH_BODY_SECONDS": "3", "FOOTPATH_BODY_MEMORY": "8000000"}
    with server(tmp_path, **slow) as (address, pid), ExitStack() as stack:
        assert healthy(address)
        before = resident(pid)
        opened = connected(stack, address, 80, BODY + b" " * 900_000)
        assert healthy(address)
        assert resident(pid, "VmHWM") - before < 30, "MiB; all of them would be 69"
        answers = [received(one) for one in opened]
    assert {answer[:12] for answer in answers} <= {b"HTTP/1.1 408", b"HTTP/1.1 503", b""}
    assert sum(answer.startswith(b"HTTP/1.1 408") for answer in answers) >= 1
    assert b'"code":"too_slow"' in b"".join(answers)


def test_what_is_too_large_is_not_read_for_ever(tmp_path: Path) -> None:
    large = BODY.replace(b"1000000", b"9000000000")
    with server(tmp_path, FOOTPATH_HEAD_SECONDS="1") as (address, _), ExitStack() as stack:
        (one,) = connected(stack, address, 1, large)
        assert one.recv(65_536).startswith(b"HTTP/1.1 413")
        for _ in range(6):
            time.sleep(0.3)
            send(one, b"x")
        received(one)  # to its end, which comes


def test_too_many_connections_make_room_for_who_asks(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with server(tmp_path, FOOTPATH_CONNECTIONS="20") as (address, _), ExitStack() as stack:
        opened = connected(stack, address, 60, HALF_HEAD)
        assert healthy(address)
        for one in opened[:40]:
            assert received(one) == b"", "the oldest of those that wait make room"
    assert capfd.readouterr().err.count("the most that there may be") == 1


def test_one_address_has_so_many(tmp_path: Path) -> None:
    with server(tmp_path, FOOTPATH_ADDRESS_CONNECTIONS="5", **ELSEWHERE) as (address, _), ExitStack() as stack:
        begun = connected(stack, address, 5, BODY)
        time.sleep(0.3)  # they have requests under way by now, which are not broken off for others
        refused = connected(stack, address, 3, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert {received(one)[:12] for one in refused} <= {b"HTTP/1.1 503", b""}
        for one in begun:
            one.close()
        time.sleep(0.3)
        assert healthy(address)


def test_a_trusted_proxy_has_as_many_as_it_needs(tmp_path: Path) -> None:
    with server(tmp_path, FOOTPATH_ADDRESS_CONNECTIONS="5") as (address, _), ExitStack() as stack:
        connected(stack, address, 12, BODY)
        assert healthy(address)
