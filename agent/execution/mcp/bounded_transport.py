"""An httpx transport around the guarded one: every answer of a server bounded in bytes and time, every failure told to its exchange alone.

The protocol's library ends a whole session where one request fails, and reads answers of any length. So here no failure reaches it but as an
answer in JSON-RPC, to the one question that it belongs to.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import httpx
from mcp import types
from pydantic import ValidationError

from agent.execution.http.outcomes import retry_after
from agent.execution.mcp.exchange import Exchange, Exchanges, id_of, no_answer
from domain.errors import ForbiddenAddressError

MOST_LISTENED = 100
"""How often one connection may begin to listen for what its server says unasked, or to take up an answer again."""
_BETWEEN = 1.0
"""Seconds between two such beginnings, whatever the server asks for."""
_FAREWELL = 2.0
_log = logging.getLogger(__name__)
_JSON = {"content-type": "application/json"}


class BoundedTransport(httpx.AsyncBaseTransport):
    """One connection's. ``limit``: bytes of one answer; what comes beyond is not read."""

    def __init__(self, inner: httpx.AsyncBaseTransport, exchanges: Exchanges, limit: int) -> None:
        self._inner = inner
        self._exchanges = exchanges
        self._limit = limit
        self._listened = 0
        self._listen_after = 0.0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """An answer, whatever happens."""
        if request.method == "GET":
            return await self._listen(request)
        if request.method == "DELETE":
            request.extensions["timeout"] = dict.fromkeys(("connect", "read", "write", "pool"), _FAREWELL)
        number = id_of(await request.aread()) if request.method == "POST" else None
        exchange = self._exchanges.get(number) if number is not None else None
        if number is None or exchange is None:
            return await self._told(request)
        request.extensions["trace"] = exchange.trace
        try:
            async with asyncio.timeout_at(exchange.deadline):
                response = await self._inner.handle_async_request(request)
                return await self._judged(request, response, number, exchange)
        except (httpx.TransportError, ForbiddenAddressError, TimeoutError) as error:
            exchange.failed(str(error) or type(error).__name__, error)
            return _instead(number, exchange)

    async def _told(self, request: httpx.Request) -> httpx.Response:
        """What is told rather than asked: whether it arrived changes nothing."""
        try:
            response = await self._inner.handle_async_request(request)
            await response.aclose()
        except (httpx.TransportError, ForbiddenAddressError) as error:
            _log.debug("a server was not told something (%s)", type(error).__name__)
        return httpx.Response(200 if request.method == "DELETE" else 202)

    async def _listen(self, request: httpx.Request) -> httpx.Response:
        """A stream of what the server says unasked: as long as the connection, and so often only."""
        loop = asyncio.get_running_loop()
        if self._listened >= MOST_LISTENED:
            return httpx.Response(405)
        self._listened += 1
        if (wait := self._listen_after - loop.time()) > 0:
            await asyncio.sleep(wait)
        self._listen_after = loop.time() + _BETWEEN
        request.extensions["timeout"] = {**request.extensions.get("timeout", {}), "read": None}
        try:
            response = await self._inner.handle_async_request(request)
        except (httpx.TransportError, ForbiddenAddressError):
            return httpx.Response(503)
        if response.status_code != 200 or not _kind(response).startswith("text/event-stream"):
            await response.aclose()
            return httpx.Response(response.status_code if response.status_code >= 400 else 405)
        return httpx.Response(200, headers=_kept(response), stream=_Heard(response, self._limit))

    async def _judged(
        self, request: httpx.Request, response: httpx.Response, number: int, exchange: Exchange
    ) -> httpx.Response:
        status = exchange.status = response.status_code
        if status in (307, 308) and _same_origin(request, response):
            await response.aclose()
            return httpx.Response(status, headers={"location": response.headers["location"]})
        kind = _kind(response)
        if 200 <= status < 300 and kind.startswith("text/event-stream"):
            return httpx.Response(
                status, headers=_kept(response), stream=_Answered(response, self._limit, number, exchange)
            )
        async with aclosing(response):
            if 200 <= status < 300 and kind.startswith("application/json"):
                return await self._whole(response, number, exchange)
            exchange.gone = status == 404 and "mcp-session-id" in request.headers
            exchange.asked_wait = retry_after(response.headers.get("retry-after"))
            exchange.failed(_said(request, response, kind))
        return _instead(number, exchange)

    async def _whole(self, response: httpx.Response, number: int, exchange: Exchange) -> httpx.Response:
        content = b""
        async for chunk in response.aiter_raw():
            content += chunk
            if len(content) > self._limit:
                exchange.failed(_too_long(self._limit))
                return _instead(number, exchange)
        if id_of(content) != number:
            exchange.failed("it answered something that is no answer to the question")
            return _instead(number, exchange)
        if not await asyncio.to_thread(_in_form, content):
            exchange.failed("its answer is not in the protocol's form")
            return _instead(number, exchange)
        return httpx.Response(200, headers=_kept(response), content=content)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Heard(httpx.AsyncByteStream):
    """What a server says unasked, to a limit, after which the stream is over."""

    def __init__(self, response: httpx.Response, limit: int) -> None:
        self._response = response
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._response.aiter_raw():
            size += len(chunk)
            if size > self._limit:
                return
            yield chunk

    async def aclose(self) -> None:
        await self._response.aclose()


class _Answered(httpx.AsyncByteStream):
    """A stream that holds an answer, to a limit and a moment. Where it ends without, an error is put at its end.

    One whose events have ids can be taken up again where it broke off: the library does.
    """

    def __init__(self, response: httpx.Response, limit: int, number: int, exchange: Exchange) -> None:
        self._response = response
        self._limit = limit
        self._number = number
        self._exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        resumable = False
        async with aclosing(self._chunks()) as chunks:
            async for chunk in chunks:
                resumable = resumable or chunk.startswith(b"id:") or b"\nid:" in chunk
                yield chunk
        if not (resumable and not self._exchange.fault):
            self._exchange.failed("its answer broke off")
            yield b"\n\nevent: message\ndata: " + no_answer(self._number, self._exchange.fault) + b"\n\n"

    async def _chunks(self) -> AsyncGenerator[bytes]:
        size = 0
        source = self._response.aiter_raw()
        try:
            while True:
                async with asyncio.timeout_at(self._exchange.deadline):
                    chunk = await anext(source)
                size += len(chunk)
                if size > self._limit:
                    self._exchange.failed(_too_long(self._limit))
                    return
                yield chunk
        except StopAsyncIteration:
            return
        except (httpx.TransportError, TimeoutError) as error:
            if isinstance(error, TimeoutError):
                self._exchange.failed("no answer in time", error)

    async def aclose(self) -> None:
        await self._response.aclose()


def _in_form(content: bytes) -> bool:
    """Whether the library can read it; of what it cannot, it would tell nobody who waits."""
    try:
        types.JSONRPCMessage.model_validate_json(content)
    except ValidationError:
        return False
    return True


def _instead(number: int, exchange: Exchange) -> httpx.Response:
    return httpx.Response(200, headers=_JSON, content=no_answer(number, exchange.fault))


def _kind(response: httpx.Response) -> str:
    return response.headers.get("content-type", "").strip().lower()


def _kept(response: httpx.Response) -> dict[str, str]:
    names = ("content-type", "mcp-session-id")
    return {name: value for name in names if (value := response.headers.get(name))}


def _too_long(limit: int) -> str:
    return f"its answer is longer than {limit} bytes"


def _said(request: httpx.Request, response: httpx.Response, kind: str) -> str:
    status = response.status_code
    if 200 <= status < 300:
        return (
            f"HTTP {status} without an answer"
            if status == 202
            else f"it answers with {kind[:100] or 'no content type'}"
        )
    if response.has_redirect_location:
        return f"HTTP {status}: redirects to {_target(request, response)!s:.300}, which is not followed"
    return f"HTTP {status}"


def _target(request: httpx.Request, response: httpx.Response) -> httpx.URL | None:
    try:
        return request.url.join(response.headers.get("location", ""))
    except (httpx.InvalidURL, ValueError):
        return None


def _same_origin(request: httpx.Request, response: httpx.Response) -> bool:
    to, of = _target(request, response), request.url
    return to is not None and (to.scheme, to.host, to.port, to.userinfo) == (of.scheme, of.host, of.port, of.userinfo)
