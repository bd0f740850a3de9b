"""What is sent, before anything is made of it: of a bounded size, and JSON that can be kept and given back as it came.

What is looked at here is looked at on the loop that answers everybody, so the work is bounded as well as the size.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import cast

import orjson
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from domain.errors import UsageError
from server.problems import Fault, answer

MOST = 1_000_000
"""Bytes of a body."""
MOST_OF_FILE = 1_500_000
"""Of one that gives a file with a question: a MiB in base64."""
_FILES = re.compile(r"/api/v1/conversations/[^/]+/files")
MOST_VALUES = 10_000
"""Values and names of a body, those within others counted: each costs time wherever it is looked at."""
MOST_LEVELS = 64
"""Of values within values."""
_WITHOUT = frozenset({"GET", "HEAD", "OPTIONS"})
STREAMED = frozenset({("POST", "/api/v1/data/uploads"), ("POST", "/api/v1/sources/documents")})
"""Operations that read their body piece by piece, once they know who sends it, bound it themselves, and make nothing of it."""
_SMALL = 65_536
"""Bytes of a body that anyone may send at any time: only what goes beyond counts as held."""


async def pieces(request: Request) -> AsyncGenerator[bytes]:
    """A body of :data:`STREAMED`, as it comes. ``UsageError`` where it is cut off."""
    try:
        async for piece in request.stream():
            yield piece
    except ClientDisconnect as error:
        raise UsageError("it was cut off; send it again") from error


def length(request: Request) -> int | None:
    """How long it is said to be, if that is said."""
    told = request.headers.get("content-length", "")
    return int(told) if told.isdecimal() else None


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """``seconds``: for a whole body; ``held``: bytes of bodies that are being received at one time, a quarter of them from one address."""

    seconds: float = 30.0
    held: int = 64_000_000


class Bodies:
    """Around the operations. Too much is answered with 413 and not read to its end; what takes too long, with 408; what is no JSON, holds
    what no text can (half of a surrogate pair, NUL) or no number is (NaN, Infinity), or is of too many values or levels, with 422; what has
    two lengths, with 400. Where too much is being received already, the answer is 503.
    """

    def __init__(self, app: ASGIApp, body_limits: Callable[[], BodyLimits] = BodyLimits) -> None:
        self._app = app
        self._limits = body_limits
        self._held: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _ambiguous(scope):
            detail = (
                "Transfer-Encoding came beside Content-Length, or with HTTP/1.0; send one length, as HTTP/1.1 has it"
            )
            refused = answer(HTTPStatus.BAD_REQUEST, "ambiguous_length", detail, headers={"Connection": "close"})
            await refused(scope, receive, send)
            return
        if scope["type"] != "http" or scope["method"] in _WITHOUT or (scope["method"], scope["path"]) in STREAMED:
            await self._app(scope, receive, send)
            return
        try:
            body = await self._body(scope, receive)
        except ConnectionError:
            return  # who sent it has gone
        except _RefusedError as refused:
            await refused.answer(scope, receive, send)
            return
        if wrong := _wrong(body):
            faults = [Fault(place="body", message=wrong)]
            await answer(422, "invalid_request", f"body: {wrong}", faults)(scope, receive, send)
        else:
            await self._app(scope, _again(body, receive), send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """All of it. Raises ``_RefusedError``; ``ConnectionError`` where the connection is gone."""
        told = Headers(scope=scope).get("content-length", "")
        most = MOST_OF_FILE if _FILES.fullmatch(scope["path"]) else MOST
        if told.isdecimal() and int(told) > most:
            raise _too_large(most)
        limits, client = self._limits(), scope["client"][0] if scope.get("client") else ""
        share = _Share(self._held, client, limits.held)
        try:
            async with asyncio.timeout(limits.seconds):
                return await _read(receive, share, most)
        except TimeoutError:
            detail = f"the body did not come within {limits.seconds:g} seconds; send it faster, or less"
            raise _RefusedError(HTTPStatus.REQUEST_TIMEOUT, "too_slow", detail, _CLOSE) from None
        finally:
            share.give_back()


_CLOSE = {"Connection": "close"}
"""What is still on its way is not waited for."""


class _RefusedError(Exception):
    """What is being sent is not taken; ``answer`` says why."""

    def __init__(self, status: HTTPStatus, code: str, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.answer = answer(status, code, detail, headers=headers)


def _too_large(most: int) -> _RefusedError:
    detail = f"the body has more than {most:,} bytes; send less"
    return _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", detail)


class _Share:
    """What one body has of the bytes that may be held at one time."""

    def __init__(self, held: Counter[str], client: str, most: int) -> None:
        self._held = held
        self._client = client
        self._most = most
        self._mine = 0

    def take(self, size: int) -> None:
        """``size``: bytes of the body until now. ``_RefusedError``: there is no room for them."""
        more = max(0, size - _SMALL) - self._mine
        if more <= 0:
            return
        of_one = self._held[self._client] + more
        if of_one > self._most // 4 or self._held.total() + more > self._most:
            detail = "too much is being sent just now; try again in a moment"
            raise _RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, "busy", detail, _CLOSE | {"Retry-After": "5"})
        self._held[self._client] = of_one
        self._mine += more

    def give_back(self) -> None:
        """The body is whole, or nobody waits for it."""
        if self._mine:
            self._held[self._client] -= self._mine
            self._held += Counter()  # forgets who has none


def _ambiguous(scope: Scope) -> bool:
    """Whether a proxy in front may see the request end elsewhere, and what follows it as its body, or the other way round."""
    headers = Headers(scope=scope)
    return "transfer-encoding" in headers and ("content-length" in headers or scope["http_version"] == "1.0")


async def _read(receive: Receive, share: _Share, most: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionError
        body += message.get("body", b"")
        if len(body) > most:
            raise _too_large(most)
        if not message.get("more_body", False):
            return bytes(body)
        share.take(len(body))


def _again(body: bytes, receive: Receive) -> Receive:
    """A body that was read, to be read once more."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def give() -> Message:
        return left.pop() if left else await receive()

    return give


def _wrong(body: bytes) -> str:
    """What is wrong with a body; empty where nothing is."""
    if not body:
        return ""
    if _values(body) > MOST_VALUES:
        return f"it holds more than {MOST_VALUES:,} values and names; send fewer"
    try:
        value = cast("object", orjson.loads(body))
    except orjson.JSONDecodeError as error:
        return f"it is no JSON that can be read: {error}"
    return _wrong_within(value)


def _values(body: bytes) -> int:
    """How many values and names a body holds, without reading it: reading is what takes long where they are many."""
    if _marks(body) <= MOST_VALUES:
        return 0  # few, even if none of the marks stands within a text
    without_escapes = body.replace(rb"\\", b"").replace(rb"\"", b"")
    return _marks(b"".join(without_escapes.split(b'"')[::2]))


def _marks(text: bytes) -> int:
    return sum(map(text.count, (b",", b":", b"[", b"{")))


def _wrong_within(value: object) -> str:
    """What is wrong with the values of a body. Level by level: it may be nested a thousand times."""
    left = [value]
    for _ in range(MOST_LEVELS):
        inner: list[object] = []
        for one in left:
            if isinstance(one, str) and "\0" in one:
                return "it holds a NUL character, which no text has"
            if isinstance(one, list):
                inner += cast("list[object]", one)
            elif isinstance(one, dict):
                fields = cast("dict[str, object]", one)
                inner += [*fields, *fields.values()]
        if not inner:
            return ""
        left = inner
    return f"it is nested more than {MOST_LEVELS} levels deep; send it flatter"
