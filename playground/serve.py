"""Serves the playground on a local port, until it is told to stop."""

import contextlib
import errno
import socket
from collections.abc import Callable

import uvicorn

from domain.errors import UnavailableError
from playground.application import create_app
from playground.soay.application import Scenario
from playground.soay.application import create_app as create_scenario
from playground.workshop.application import create_app as create_workshop


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any that is free.

    Raises:
        UnavailableError: the port is taken, or the address is not one of this machine; the message says what to do.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only where the protocol is named; left on, each answer waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        raise UnavailableError(_refusal(host, port, error)) from error
    return listener


def serve(
    host: str,
    port: int,
    announce: Callable[[str], None],
    *,
    meteo_in_service: bool = False,
    workshop: bool = False,
    scenario: Scenario | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM. ``announce`` is called with the address once connections are accepted. ``workshop``, ``scenario``:
    that service rather than the playground's.

    Raises:
        UnavailableError: as :func:`bind`.
    """
    with bind(host, port) as listener:
        address = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        if scenario is not None:
            app = create_scenario(scenario, address)
        else:
            app = create_workshop(address) if workshop else create_app(address, meteo_in_service=meteo_in_service)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
        announce(address)  # the socket listens already: who connects now is served in a moment
        with contextlib.suppress(KeyboardInterrupt):  # uvicorn has shut down by then
            server.run(sockets=[listener])


def _refusal(host: str, port: int, error: OSError | OverflowError) -> str:
    if isinstance(error, OverflowError):
        return f"{port} is no port; give --port a number from 0 to 65535"
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use by another program; stop it, or choose another (0: any that is free): --port 0"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"port {port} needs special rights; choose one above 1023: --port 8765"
    return f"cannot listen on {host}, port {port} ({error.strerror}); try --host 127.0.0.1"
