"""HTTP client of all calls, which connects only to addresses that the guard has checked.

It keeps no cookies, follows no redirects and takes nothing from the environment.
"""

import ssl
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import cast

import httpcore
import httpx

from agent.execution.http.guard import AddressGuard

_SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]


def _create_network_backend() -> httpcore.AsyncNetworkBackend:
    return cast(httpcore.AsyncNetworkBackend, httpcore.AnyIOBackend())


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """Network backend that connects only to addresses that the guard has checked.

    TLS is still negotiated for the host name, which httpcore takes from the URL.
    """

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard
        self._inner = _create_network_backend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 the signature is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[_SocketOption] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        try:
            addresses = await self._guard.resolve_addresses(host, port)
        except OSError as error:
            raise httpcore.ConnectError(f"{host} could not be resolved: {error}") from error
        last_error: Exception | None = None
        for address in addresses:
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                last_error = error
        raise last_error or httpcore.ConnectError(f"{host} has no address")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 the signature is httpcore's
        socket_options: Iterable[_SocketOption] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise httpcore.ConnectError(f"unix sockets are never called ({path}, {timeout}, {socket_options})")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


class PinnedTransport(httpx.AsyncHTTPTransport):
    """Transport of httpx over a pool of guarded connections, without settings from the environment."""

    def __init__(self, guard: AddressGuard, tls: ssl.SSLContext) -> None:
        super().__init__(verify=tls, trust_env=False)
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=50,
            max_keepalive_connections=10,
            keepalive_expiry=5.0,
            network_backend=PinnedBackend(guard),
        )


TransportWrapper = Callable[[httpx.AsyncBaseTransport], httpx.AsyncBaseTransport]


def build_guarded_client(
    guard: AddressGuard,
    *,
    timeout: httpx.Timeout,
    headers: Mapping[str, str],
    wrap: TransportWrapper = lambda inner: inner,
) -> httpx.AsyncClient:
    """Build a client, which the caller closes; ``wrap`` may wrap the guarded transport, to limit responses."""
    return httpx.AsyncClient(
        transport=wrap(PinnedTransport(guard, get_tls_context())), timeout=timeout, headers=headers, follow_redirects=False,
        trust_env=False, cookies=_build_refusing_cookie_jar(),
    )  # fmt: skip


@cache
def get_tls_context() -> ssl.SSLContext:
    """Return the TLS context of the process.

    It is shared because creating one takes 40 ms and a MiB and it holds nothing of any user.
    """
    return httpx.create_ssl_context(trust_env=False)


def _build_refusing_cookie_jar() -> CookieJar:
    """Build a cookie jar that accepts no cookie.

    A call depends on its document and arguments only, never on earlier responses.
    """
    return CookieJar(DefaultCookiePolicy(allowed_domains=()))
