"""HTTP client of all calls, which connects only to addresses that the guard has checked.

It keeps no cookies, follows no redirects and takes nothing from the environment.
"""

import ssl
from collections.abc import Callable, Mapping
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

from agent.execution.http.guard import AddressGuard
from agent.execution.http.pinned_transport import PinnedTransport

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
        trust_env=False, cookies=_build_refusing_jar(),
    )  # fmt: skip


@cache
def get_tls_context() -> ssl.SSLContext:
    """Return the TLS context of the process.

    It is shared because creating one takes 40 ms and a MiB and it holds nothing of any user.
    """
    return httpx.create_ssl_context(trust_env=False)


def _build_refusing_jar() -> CookieJar:
    """Build a cookie jar that accepts no cookie.

    A call depends on its document and arguments only, never on earlier responses.
    """
    return CookieJar(DefaultCookiePolicy(allowed_domains=()))
