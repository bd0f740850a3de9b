"""An httpx transport that bounds a server's answers in bytes and time, and assigns each failure to its exchange.

The protocol's library ends the whole session when one request fails, and reads answers of any length. Failures are
therefore passed to it as JSON-RPC errors in answer to the one request that they belong to.
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
"""Most streams for unsolicited messages, and resumed answers, that one connection may open."""
_BETWEEN = 1.0
"""Seconds between two such streams, whatever interval the server asks for."""
_FAREWELL = 2.0
"""Seconds for the request that ends a session."""
_log = logging.getLogger(__name__)
_JSON = {"content-type": "application/json"}


class BoundedTransport(httpx.AsyncBaseTransport):
    """The transport of one connection.

    ``limit`` is the number of bytes that one answer may have; the rest is not read.
    """

    def __init__(self, inner: httpx.AsyncBaseTransport, exchanges: Exchanges, limit: int) -> None:
        self._inner = inner
        self._exchanges = exchanges
        self._limit = limit
        self._listened = 0
        self._listen_after = 0.0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; failures of known exchanges come back as JSON-RPC errors, not as exceptions."""
        if request.method == "GET":
            return await self._listen(request)
        if request.method == "DELETE":
            request.extensions["timeout"] = dict.fromkeys(("connect", "read", "write", "pool"), _FAREWELL)
        number = id_of(await request.aread()) if request.method == "POST" else None
        exchange = self._exchanges.get(number) if number is not None else None
        if number is None or exchange is None:
            return await self._told(request)
        # httpcore calls this as it sends, which tells a call that never left from one that may have taken effect.
        request.extensions["trace"] = exchange.trace
        try:
            async with asyncio.timeout_at(exchange.deadline):
                response = await self._inner.handle_async_request(request)
                return await self._judged(request, response, number, exchange)
        except (httpx.TransportError, ForbiddenAddressError, TimeoutError) as error:
            exchange.failed(str(error) or type(error).__name__, error)
            return _instead(number, exchange)

    async def _told(self, request: httpx.Request) -> httpx.Response:
        """Send a notification or the end of a session; a failure to deliver it is only logged."""
        try:
            response = await self._inner.handle_async_request(request)
            await response.aclose()
        except (httpx.TransportError, ForbiddenAddressError) as error:
            _log.debug("a server was not told something (%s)", type(error).__name__)
        return httpx.Response(200 if request.method == "DELETE" else 202)

    async def _listen(self, request: httpx.Request) -> httpx.Response:
        """Open the stream of unsolicited messages, which may stay silent and is opened only so often."""
        loop = asyncio.get_running_loop()
        if self._listened >= MOST_LISTENED:
            return httpx.Response(405)
        self._listened += 1
        if (wait := self._listen_after - loop.time()) > 0:
            await asyncio.sleep(wait)
        self._listen_after = loop.time() + _BETWEEN
        # A server may have nothing to say for hours, so reading has no timeout here.
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
        """Turn the server's response into one that the library may read, or into a JSON-RPC error."""
        status = exchange.status = response.status_code
        # These repeat the POST with its body and keys, so they are followed within the same origin only.
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
        """Read a JSON answer within the limit and check that it answers this request."""
        content = b""
        async for chunk in response.aiter_raw():
            content += chunk
            if len(content) > self._limit:
                exchange.failed(_too_long(self._limit))
                return _instead(number, exchange)
        if id_of(content) != number:
            exchange.failed("it answered something that is no answer to the question")
            return _instead(number, exchange)
        # In a thread: parsing a large answer would block the event loop.
        if not await asyncio.to_thread(_in_form, content):
            exchange.failed("its answer is not in the protocol's form")
            return _instead(number, exchange)
        return httpx.Response(200, headers=_kept(response), content=content)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Heard(httpx.AsyncByteStream):
    """Stream of unsolicited messages that ends after ``limit`` bytes."""

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
    """Stream that holds one answer, bounded in bytes and by the exchange's deadline.

    When it ends without being resumable, an error event is appended, so that the caller is answered in any case. A stream
    whose events have ids is resumed by the library.
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
    """Check that the library can parse a message; it would drop one that it cannot, and the caller would wait."""
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
