"""The one kind of client that calls out: connections by the guard, no cookies, no redirects, nothing from the environment."""

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
    """A new one; who makes it closes it. ``around``: what bounds the answers, outside the guard."""
    return httpx.AsyncClient(
        transport=around(PinnedTransport(guard, tls_context())), timeout=timeout, headers=headers, follow_redirects=False,
        trust_env=False, cookies=_no_cookies(),
    )  # fmt: skip


@cache
def tls_context() -> ssl.SSLContext:
    """One for all executors of the process: it takes 40 ms and a MiB, and knows nothing of anyone's."""
    return httpx.create_ssl_context(trust_env=False)


def _no_cookies() -> CookieJar:
    """A jar that takes none: a call is what its document and its arguments make it, never what a server left behind before it."""
    return CookieJar(DefaultCookiePolicy(allowed_domains=()))
