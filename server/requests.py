"""What every request goes through: it gets an id, is counted, and leaves a line in the log with its route, without what stood in its path and query."""

import logging
import re
import time
from collections.abc import Callable, Mapping
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.watching import secrecy
from server.watching.logs import REQUEST_ID
from server.watching.tracing import Tracing

_log = logging.getLogger("server.access")
_SANE = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_HEADER = "X-Request-ID"
UNMATCHED = "unmatched"
Answered = Callable[[str, str, int, float], None]
"""Told of each answer: route, method, status, seconds."""


def path_template(scope: Scope) -> str:
    """Return the path of a request as its route declares it: what stands in a path, such as the secret of a link, is for no log."""
    return getattr(scope.get("route"), "path_format", None) or UNMATCHED


class Requests:
    """Around all of the application. ``routes``: the template of each endpoint; ``traces``: once the application has started."""

    def __init__(
        self, app: ASGIApp, routes: Mapping[object, str], answered: Answered, traces: Callable[[], Tracing]
    ) -> None:
        self._app = app
        self._routes = routes
        self._answered = answered
        self._traces = traces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get(_HEADER, "")
        request_id = given if _SANE.fullmatch(given) else uuid4().hex
        token = REQUEST_ID.set(request_id)
        secrecy.begin()
        answer = _Answer(send, request_id, private=scope["path"].startswith(("/api/", "/mcp")))
        try:
            with self._traces().request(scope["method"], headers) as ended:
                try:
                    await self._app(scope, receive, answer.send)
                finally:
                    ended(self._tell(scope, answer), answer.status)
        except Exception:
            # It is in the log, with the id (server/problems.py); who serves would write all of it once more. Where the answer has no
            # end, who serves closes the connection.
            if not answer.started:
                raise
        finally:
            REQUEST_ID.reset(token)

    def _tell(self, scope: Scope, answer: "_Answer") -> str:
        route = self._routes.get(scope.get("endpoint"), UNMATCHED)
        self._answered(route, scope["method"], answer.status, answer.seconds)
        client = scope["client"][0] if scope.get("client") else "-"
        seconds = f"{time.perf_counter() - answer.began:.3f}"
        path = path_template(scope) if route == UNMATCHED else route
        _log.info("%s %s %s %s s %s", scope["method"], path, answer.status, seconds, client)
        return route


class _Answer:
    """Passes an answer on. ``seconds``: to its end; to its first byte where it is a stream. ``started``: its status was sent.

    ``private``: it is one person's, and may hold tokens: nobody on its way is to keep it.
    """

    def __init__(self, send: Send, request_id: str, *, private: bool) -> None:
        self._send = send
        self._request_id = request_id
        self._private = private
        self._stream = False
        self.began = time.perf_counter()
        self.status = 499  # who asked has gone before there was an answer
        self.seconds = 0.0
        self.started = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.started = message["status"], True
            headers = MutableHeaders(scope=message)
            headers[_HEADER] = self._request_id
            if self._private:
                headers.setdefault("Cache-Control", "no-store")
            self._stream = headers.get("content-type", "").startswith("text/event-stream")
            self.seconds = time.perf_counter() - self.began
        await self._send(message)
        if not self._stream:
            self.seconds = time.perf_counter() - self.began
