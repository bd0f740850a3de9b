"""Who asks through a proxy counts as who they are: ``X-Forwarded-For`` and ``-Proto`` of proxies that are named, and of nobody else."""

from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from domain.client_addresses import TrustedProxies


class Forwarding:
    """Around all of the application. ``proxies``: once the application has started."""

    def __init__(self, app: ASGIApp, proxies: Callable[[], TrustedProxies]) -> None:
        self._app = app
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope.get("client"):
            scope = self._told(scope)
        await self._app(scope, receive, send)

    def _told(self, scope: Scope) -> Scope:
        headers, (peer, port) = Headers(scope=scope), scope["client"]
        proxies = self._proxies()
        if not proxies.is_trusted(peer):
            return scope
        client = proxies.find_client(peer, headers.getlist("x-forwarded-for"))
        scheme = headers.get("x-forwarded-proto", "").strip().lower()
        told = {"scheme": scheme} if scheme in ("http", "https") else {}
        return {**scope, **told, "client": (client, port if client == peer else 0)}
