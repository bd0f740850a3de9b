"""The protocol over streamable HTTP, at ``/mcp``: for whoever has a token of this server. A session belongs to the user who opened it."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import cast
from urllib.parse import urlsplit

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from domain.errors import BusyError, FootpathError, ForbiddenError, UnauthenticatedError
from server.dependencies import Caller
from server.gateway.served import ServedBackend
from server.gateway.serving import Context, gateway_server
from server.problems import told
from server.services import Services
from server.sources.visibility import view_as, viewer

PATH = "/mcp"
_OF_ALL = 500
_OF_ONE = 20
"""Sessions of one user that may be open; of all, as above."""
_IDLE = 15 * 60.0
"""Seconds without a request, after which a session is ended."""
_CALLER = "footpath.caller"
_NO_TOKEN = "this needs a token: send Authorization: Bearer …, with what POST /api/v1/auth/login gives"  # noqa: S105  # no token at all


class GatewaySessions:
    """One process's. Made by :func:`gateway_sessions` only."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._open = Counter[str]()
        server = gateway_server(self._backend, self._counted)
        self.manager = StreamableHTTPSessionManager(
            server, session_idle_timeout=_IDLE, max_sessions=_OF_ALL, max_request_body_size=1_000_000
        )

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. Raises ``UnauthenticatedError``, ``ForbiddenError``, ``BusyError``, ``OverLimitError``."""
        headers = Headers(scope=scope)
        self._check_origin(headers)
        caller = await self._caller(headers)
        view_as(caller.user)  # so that a session that is opened now counts as this user's
        if "mcp-session-id" not in headers and self._open[caller.user.id] >= _OF_ONE:
            raise BusyError(f"{_OF_ONE} of your sessions with clients are open; close one, or wait until it is idle")
        user = AuthenticatedUser(
            AccessToken(token="", client_id=caller.user.id, scopes=[])
        )  # the user is what a session is kept by
        await self.manager.handle_request({**scope, "user": user, _CALLER: caller}, receive, send)

    def _check_origin(self, headers: Headers) -> None:
        """A page in a browser may ask only where it is this server's own (the transport's specification asks for that)."""
        origin = headers.get("origin")
        if origin is None:
            return
        ours = {headers.get("host", "").lower(), urlsplit(self._services.settings.public_address).netloc.lower()}
        if urlsplit(origin).netloc.lower() not in ours - {""}:
            raise ForbiddenError("pages of other origins may not use this server")

    async def _caller(self, headers: Headers) -> Caller:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise UnauthenticatedError(_NO_TOKEN)
        user, session_id, program, scopes = await self._services.storage.tokens.whose(token.strip())
        self._services.limits.rates.take(user.id)
        return Caller(user, session_id, program, scopes)

    async def _backend(self, context: Context) -> ServedBackend:
        caller: Caller = cast("Request", context.request).scope[_CALLER]
        view_as(caller.user)
        container = await self._services.agents.container()
        known = context.session.client_params
        client = known.clientInfo.name if known else ""
        return ServedBackend(self._services, caller, container, context.lifespan_context, client)

    @contextmanager
    def _counted(self) -> Generator[None]:
        user = viewer()
        key = user.id if user else ""
        self._open[key] += 1
        try:
            yield
        finally:
            self._open[key] -= 1
            self._open += Counter()  # without those that have none


@asynccontextmanager
async def gateway_sessions(services: Services) -> AsyncGenerator[GatewaySessions]:
    """Sessions that end with the block. They are held by a task of their own, since their scopes have to be left by the task that entered them."""
    sessions = GatewaySessions(services)
    started, ending = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        async with sessions.manager.run():
            started.set()
            await ending.wait()

    holding = asyncio.create_task(hold())
    await started.wait()
    try:
        yield sessions
    finally:
        ending.set()
        await holding


class Gateway:
    """Around the operations: what is asked at the protocol's path is answered by its sessions. ``sessions``: once the application has started."""

    def __init__(self, app: ASGIApp, sessions: Callable[[], GatewaySessions]) -> None:
        self._app = app
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != PATH:
            await self._app(scope, receive, send)
            return
        scope["endpoint"] = Gateway  # by which it is counted
        try:
            await self._sessions().handle(scope, receive, send)
        except FootpathError as error:
            await told(error)(scope, receive, send)
