"""Serves the application on a port, until it is told to stop."""

import logging
import os
import socket
from collections.abc import Callable

import uvicorn

from domain.errors import UnavailableError
from server.app import create_app
from server.watching.logs import set_up
from wiring.settings import Settings

_SECONDS_TO_END = 10
"""What is being answered when the server is told to stop may take that long still."""


def serve(settings: Settings, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM. ``announce`` is called with the address once requests are answered. Port 0: any.

    Raises:
        UnavailableError: the port is taken or the address not of this machine; or the database is not there.
    """
    set_up(settings, os.environ)
    failures: list[Exception] = []
    with _listener(host, port) as listener:
        address = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        app = create_app(settings, failed=failures.append)
        config = uvicorn.Config(
            app,
            log_level=logging.CRITICAL,  # until it is up: why it cannot start is raised below, not logged
            log_config=None,
            access_log=False,  # the application writes its own, without what stands in queries
            lifespan="on",
            timeout_graceful_shutdown=_SECONDS_TO_END,
            proxy_headers=False,  # the application reads them itself: every line of them, and addresses alone
            server_header=False,
        )
        try:
            _Announced(config, lambda: announce(address), lambda: app.state.services.board.close()).run(
                sockets=[listener]
            )
        except SystemExit:
            if not failures:
                raise
            raise failures[0] from None


class _Announced(uvicorn.Server):
    """A server that says when it is up, and when it is to stop: who follows a run would keep it from that."""

    def __init__(self, config: uvicorn.Config, up: Callable[[], None], stopping: Callable[[], None]) -> None:
        super().__init__(config)
        self._up = up
        self._stopping = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
            self._up()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stopping()
        await super().shutdown(sockets)


def _listener(host: str, port: int) -> socket.socket:
    """Bound, not listening: who connects before the application is up is refused rather than left waiting."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named, since asyncio turns Nagle's algorithm off only then; left on, each event waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = error.strerror if isinstance(error, OSError) else "no such port"
        raise UnavailableError(
            f"cannot serve on {host}, port {port} ({reason}); choose others: --host, --port"
        ) from error
    return listener
