"""The HTTP client of all calls: guarded connections, no cookies, no redirects, nothing from the environment."""

import ssl
from collections.abc import Callable, Mapping
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

from agent.execution.http.guard import Guard
from agent.execution.http.pinned_transport import PinnedTransport

Around = Callable[[httpx.AsyncBaseTransport], httpx.AsyncBaseTransport]


def guarded_client(
    guard: Guard, *, timeout: httpx.Timeout, headers: Mapping[str, str], around: Around = lambda inner: inner
) -> httpx.AsyncClient:
    """Build a client, which the caller closes. ``around`` wraps the guarded transport, to limit responses."""
    return httpx.AsyncClient(
        transport=around(PinnedTransport(guard, tls_context())), timeout=timeout, headers=headers, follow_redirects=False,
        trust_env=False, cookies=_no_cookies(),
    )  # fmt: skip


@cache
def tls_context() -> ssl.SSLContext:
    """Return the TLS context of the process. Creating one takes 40 ms and a MiB, and it holds nothing of any user."""
    return httpx.create_ssl_context(trust_env=False)


def _no_cookies() -> CookieJar:
    """Build a cookie jar that accepts no cookie.

    A call depends on its document and arguments only, never on earlier responses.
    """
    return CookieJar(DefaultCookiePolicy(allowed_domains=()))
