"""What is sent, before anything is made of it: of a bounded size, and JSON that can be kept and given back as it came."""

from http import HTTPStatus
from typing import cast

import orjson
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.problems import Fault, answer

MOST = 1_000_000
"""Bytes of a body."""
_WITHOUT = frozenset({"GET", "HEAD", "OPTIONS"})


class Bodies:
    """Around the operations. Too much is answered with 413 and not read to its end; what is no JSON, or holds what no text can
    (half of a surrogate pair, NUL) or no number is (NaN, Infinity), with 422; what has two lengths with 400.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _ambiguous(scope):
            detail = (
                "Transfer-Encoding came beside Content-Length, or with HTTP/1.0; send one length, as HTTP/1.1 has it"
            )
            refused = answer(HTTPStatus.BAD_REQUEST, "ambiguous_length", detail, headers={"Connection": "close"})
            await refused(scope, receive, send)
            return
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


def _ambiguous(scope: Scope) -> bool:
    """Whether a proxy in front may see the request end elsewhere, and what follows it as its body, or the other way round."""
    headers = Headers(scope=scope)
    return "transfer-encoding" in headers and ("content-length" in headers or scope["http_version"] == "1.0")


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
    try:
        value = cast("object", orjson.loads(body))
    except orjson.JSONDecodeError as error:
        return f"it is no JSON that can be read: {error}"
    return "it holds a NUL character, which no text has" if b"\\u0000" in body and _has_nul(value) else ""


def _has_nul(value: object) -> bool:
    """Not by calling itself: it may be nested a thousand times."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str) and "\0" in one:
            return True
        if isinstance(one, list):
            left += cast("list[object]", one)
        elif isinstance(one, dict):
            fields = cast("dict[str, object]", one)
            left += [*fields, *fields.values()]
    return False
