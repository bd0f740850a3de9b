"""Serves the application on a port, until it is told to stop."""

import asyncio
import logging
import os
import resource
import socket
from collections.abc import Callable
from typing import cast

import uvicorn

from domain.errors import UnavailableError
from server.app import create_app
from server.connections import Bounds, Connections
from server.watching.logs import set_up
from wiring.secret_files import read_secret_files
from wiring.settings import Settings
from wiring.store_folder import StoreFolder

_log = logging.getLogger(__name__)
_OTHER_FILES = 200
"""What is open beside connections of clients: rows, stores, calls of tools."""
_NOBODY_ELSE = 0o077
"""What others may not do with the files that the server makes: anything."""
_SECONDS_TO_END = 10
"""What is being answered when the server is told to stop may take that long still."""


def serve(settings: Settings, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM. ``announce`` is called with the address once requests are answered. Port 0: any.

    Raises:
        UnavailableError: the port is taken or the address not of this machine; or the database is not there.
    """
    set_up(settings, read_secret_files() | os.environ)
    os.umask(_NOBODY_ELSE)
    _make_room(settings.connections)
    failures: list[Exception] = []
    with _listener(host, port) as listener:
        address = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        named = settings.model_copy(
            update={"hosts": f"{settings.hosts},{host}"}
        )  # where it listens on a name, that is its own
        app = create_app(named, failed=failures.append)
        config = uvicorn.Config(
            app,
            http=cast("type[asyncio.Protocol]", Connections(bounds_of(settings)).protocol()),
            log_level=logging.CRITICAL,  # until it is up: why it cannot start is raised below, not logged
            log_config=None,
            access_log=False,  # the application writes its own, without what stands in queries
            lifespan="on",
            ws="none",
            timeout_graceful_shutdown=_SECONDS_TO_END,
            proxy_headers=False,  # the application reads them itself: every line of them, and addresses alone
            server_header=False,
        )

        def up() -> None:
            announce(address)
            _advise(settings)

        try:
            _Announced(config, up, lambda: app.state.services.broker.close()).run(sockets=[listener])
        except SystemExit:
            if not failures:
                raise
            raise failures[0] from None


def bounds_of(settings: Settings) -> Bounds:
    """Those of the settings. Behind trusted proxies all connections are the proxies' own."""
    most, of_one, seconds = settings.connections, settings.address_connections, settings.head_seconds
    return Bounds(most, of_one, seconds, settings.trusted_proxies)


def _advise(settings: Settings) -> None:
    """What whoever starts a server should know of its settings before others use it, told once."""
    if not settings.graph_url and not StoreFolder(settings.store).stamp.exists():
        _log.warning(
            "%s holds no store of tools, so that nothing can be asked yet: build one with scripts/build_graph.py --store, "
            "begin with an empty one by scripts/up.py --store, or name its folder in FOOTPATH_STORE",
            settings.store,
        )
    if settings.registration == "open":
        _log.info(
            "anyone who reaches this server may make an account (FOOTPATH_REGISTRATION=open); for a team set it to invited"
        )


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


def _make_room(connections: int) -> None:
    """As many open files as the connections need, as far as the system lets: each of them is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
        if allowed < wanted:
            _log.warning("%d open files are too few for %d connections: raise `ulimit -n`", allowed, connections)


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
            f"cannot serve on {host}, port {port} ({reason}); choose others: --port, --host"
        ) from error
    return listener
