"""ASGI applications on loopback, each in a thread of its own: a browser's driver keeps the test's own thread."""

import socket
from collections.abc import Generator
from contextlib import contextmanager
from threading import Thread
from time import sleep
from typing import Any

import uvicorn


@contextmanager
def serving(app: Any, listening: socket.socket | None = None) -> Generator[str]:
    """Its address, without a path. ``listening``: a socket that is bound already, so that the address is known before."""
    bound = listening or free_socket()
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    thread = Thread(target=server.run, args=([bound],), daemon=True)
    thread.start()
    try:
        while not server.started and thread.is_alive():
            sleep(0.01)
        assert server.started
        yield address_of(bound)
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        bound.close()


def free_socket() -> socket.socket:
    """Bound to any port that is free."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    return bound


def address_of(bound: socket.socket) -> str:
    """As a URL without a path."""
    return f"http://127.0.0.1:{bound.getsockname()[1]}"
