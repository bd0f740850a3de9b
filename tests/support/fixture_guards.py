"""The guards that the fixtures of ``conftest`` put around every test."""

import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
from blockbuster import BlockBuster
from pytest_socket import SocketConnectBlockedError

LOOPBACK = ("127.0.0.1", "::1", "localhost")
OUR_PACKAGES = ("domain", "graph", "retriever", "agent", "offline", "evaluation", "wiring", "server", "playground")


def _is_loopback(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    return name is None or name == "" or name in LOOPBACK or (isinstance(name, str) and name.startswith("127."))


def guarded_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse what pytest-socket lets through: look-ups of names, datagrams, ``connect_ex``.

    Names that cannot exist (``*.invalid``, RFC 2606) fail as they do everywhere, without asking a name server; an
    address is no name and needs no look-up.
    """

    def guard(name: str) -> None:
        true = getattr(socket.socket, name)

        def guarded(self: socket.socket, *args: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(host := args[-1][0]):
                raise SocketConnectBlockedError(list(LOOPBACK), str(host))
            return true(self, *args)

        monkeypatch.setattr(socket.socket, name, guarded)

    # The address is the last argument of both: sendto takes flags before it.
    guard("connect_ex")
    guard("sendto")
    monkeypatch.setattr(socket, "getaddrinfo", _guarded_lookup(socket.getaddrinfo))


def _guarded_lookup(true: Callable[..., Any]) -> Callable[..., Any]:
    def getaddrinfo(host: object, *args: Any, **named: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if isinstance(name, str) and not _is_loopback(name) and not _is_address(name):
            if name.rstrip(".").endswith(".invalid"):
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            raise SocketConnectBlockedError(list(LOOPBACK), name)
        return true(host, *args, **named)

    return getaddrinfo


def _is_address(name: str) -> bool:
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, name.partition("%")[0])
        except OSError:
            continue
        return True
    return False


@contextmanager
def guarded_event_loop() -> Generator[None]:
    """Blocking calls (files, SQLite, sockets, locks, sleep) from our packages raise while an event loop runs."""
    guard = _make_loop_guard()
    # Looking at a path is a matter of microseconds, and many libraries do it on import.
    guarded = [found for name, found in guard.functions.items() if name not in _UNGUARDED]
    try:
        for found in guarded:
            found.activate()
        yield
    finally:
        for found in guarded:
            found.deactivate()


_UNGUARDED = ("os.stat", "os.getcwd", "os.path.abspath", "os.access")


@cache
def _make_loop_guard() -> BlockBuster:
    """Wrap the blocking functions once for a test process: making the wrappers for each test takes seconds in all.

    ``connect`` is wrapped with pytest-socket's guard inside, which is the same for every test: none has hosts of its own.
    """
    return BlockBuster(list(OUR_PACKAGES))
