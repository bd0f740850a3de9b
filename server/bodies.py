"""What is sent, before anything is made of it: of a bounded size, and JSON that can be kept and given back as it came.

What is looked at here is looked at on the loop that answers everybody, so the work is bounded as well as the size.
"""

from http import HTTPStatus
from typing import cast

import orjson
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.problems import Fault, answer

MOST = 1_000_000
"""Bytes of a body."""
MOST_VALUES = 10_000
"""Values and names of a body, those within others counted: each costs time wherever it is looked at."""
MOST_LEVELS = 64
"""Of values within values."""
_WITHOUT = frozenset({"GET", "HEAD", "OPTIONS"})


class Bodies:
    """Around the operations. Too much is answered with 413 and not read to its end; what is no JSON, holds what no text can
    (half of a surrogate pair, NUL) or no number is (NaN, Infinity), or is of too many values or levels, with 422.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in _WITHOUT:
            await self._app(scope, receive, send)
            return
        told = Headers(scope=scope).get("content-length", "")
        too_large = told.isdecimal() and int(told) > MOST
        body = b"" if too_large else await _read(receive)
        if body is None:
            return  # who sent it has gone
        if too_large or len(body) > MOST:
            detail = f"the body has more than {MOST:,} bytes; send less"
            await answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", detail)(scope, receive, send)
        elif wrong := _wrong(body):
            faults = [Fault(place="body", message=wrong)]
            await answer(422, "invalid_request", f"body: {wrong}", faults)(scope, receive, send)
        else:
            await self._app(scope, _again(body, receive), send)


async def _read(receive: Receive) -> bytes | None:
    """All of it, or the beginning of what is too long; None where the connection is gone."""
    body = bytearray()
    while len(body) <= MOST:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return bytes(body)


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
