"""The protocol over streamable HTTP, at ``/mcp``: for whoever has a token of this server. A session belongs to the user who opened it."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from domain.errors import BusyError, FootpathError, ForbiddenError, UnauthenticatedError
from server.dependencies import Caller
from server.gateway.served import ServedBackend
from server.gateway.serving import Context, gateway_server
from server.problems import told
from server.services import Services
from server.sources.visibility import view_as

_log = logging.getLogger(__name__)
PATH = "/mcp"
SESSIONS = 500
"""Sessions that may be open at a time."""
USER_SESSIONS = 20
"""Of these, sessions of one user."""
_IDLE = 15 * 60.0
"""Seconds without a request, after which a session is ended."""
_CALLER = "footpath.caller"
_NO_TOKEN = "this needs a token: send Authorization: Bearer …, with what POST /api/v1/auth/login gives"  # noqa: S105  # no token at all


@dataclass(eq=False, slots=True)
class _OpenSession:
    """A session of a client."""

    user_id: str
    id: str = ""
    """Known once the request that opens it is answered."""
    used: float = 0.0
    """When the last request came, on the loop's clock."""
    answering: int = 0
    """Requests that are being answered. The stream that a client listens on is none: it stays open as long as a session is idle."""


_opening = ContextVar[_OpenSession | None]("_opening", default=None)


class GatewaySessions:
    """One process's. Made by :func:`gateway_sessions` only."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._open = set[_OpenSession]()
        self._making_room = asyncio.Lock()
        server = gateway_server(self._backend, self._counted)
        self.manager = StreamableHTTPSessionManager(
            server, session_idle_timeout=_IDLE, max_sessions=SESSIONS, max_request_body_size=1_000_000
        )

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. Raises ``UnauthenticatedError``, ``ForbiddenError``, ``BusyError``, ``OverLimitError``."""
        headers = Headers(scope=scope)
        self._check_origin(headers)
        caller = await self._caller(headers)
        view_as(caller.user)  # so that a session that is opened now counts as this user's
        scope = {**scope, "user": _kept_by(caller.user.id), _CALLER: caller}
        if session_id := headers.get("mcp-session-id"):
            session = next((one for one in self._open if one.id == session_id and one.user_id == caller.user.id), None)
        else:
            await self._make_room(caller.user.id)
            session = _OpenSession(caller.user.id)
            _opening.set(session)
        if session is None:
            await self.manager.handle_request(scope, receive, send)
            return

        async def send_and_note(message: Message) -> None:
            if message["type"] == "http.response.start" and not session.id:
                session.id = Headers(raw=message["headers"]).get("mcp-session-id", "")
            await send(message)

        counts = scope["method"] != "GET"
        session.used = asyncio.get_running_loop().time()
        session.answering += counts
        try:
            await self.manager.handle_request(scope, receive, send_and_note)
        finally:
            session.answering -= counts
            session.used = asyncio.get_running_loop().time()

    async def _make_room(self, user_id: str) -> None:
        """See that this user can open a session. Where no more can be open, who has the most loses one: the one that is idle longest, else the oldest.

        Raises:
            BusyError: the user has as many as one may, or nobody has more.
        """
        own = sum(one.user_id == user_id for one in self._open)
        if own >= USER_SESSIONS:
            raise BusyError(
                f"{USER_SESSIONS} of your sessions with clients are open; close one, or wait until it is idle"
            )
        async with self._making_room:
            if len(self._open) < SESSIONS:
                return
            counts = Counter(one.user_id for one in self._open)
            most, count = counts.most_common(1)[0]
            theirs = [one for one in self._open if one.user_id == most and one.id]
            if count <= own + 1 or not theirs:
                raise BusyError(
                    f"{SESSIONS} sessions with clients are open, which is as many as can be; try again later"
                )
            chosen = min(theirs, key=lambda one: (one.answering > 0, one.used))
            self._open.discard(chosen)
            _log.warning("%d sessions are open: one of %s, who has %d, was ended", SESSIONS, most, count)
            await self._end(chosen)

    async def _end(self, session: _OpenSession) -> None:
        """End a session as its client would, by DELETE."""
        headers = [(b"mcp-session-id", session.id.encode()), (b"accept", b"application/json, text/event-stream")]
        scope: Scope = {
            "type": "http", "http_version": "1.1", "method": "DELETE", "scheme": "http", "path": PATH, "raw_path": PATH.encode(), "root_path": "",
            "query_string": b"", "headers": headers, "user": _kept_by(session.user_id),
        }  # fmt: skip

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            del message

        await self.manager.handle_request(scope, receive, send)

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
        user, session_id, program, scopes = await self._services.storage.tokens.authenticate(token.strip())
        self._services.limits.rates.take(user.id)
        return Caller(user, session_id, program, scopes)

    async def _backend(self, context: Context) -> ServedBackend:
        caller: Caller = cast("Request", context.request).scope[_CALLER]
        view_as(caller.user)
        container = await self._services.agents.get_container()
        known = context.session.client_params
        client = known.clientInfo.name if known else ""
        return ServedBackend(self._services, caller, container, context.lifespan_context, client)

    @contextmanager
    def _counted(self) -> Generator[None]:
        session = _opening.get() or _OpenSession("")
        self._open.add(session)
        try:
            yield
        finally:
            self._open.discard(session)


def _kept_by(user_id: str) -> AuthenticatedUser:
    """What the protocol's manager keeps a session by."""
    return AuthenticatedUser(AccessToken(token="", client_id=user_id, scopes=[]))


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
