"""Streams to an MCP server over HTTP, with answers bounded in bytes and time.

The protocol's library ends the whole session when one request fails, and reads answers of any length. So this transport
gives it failures as JSON-RPC errors that answer the one request they belong to, and records them in its exchange.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

import httpx
from mcp import types
from mcp.client.streamable_http import streamable_http_client
from pydantic import ValidationError

from agent.execution.http.guard import AddressGuard
from agent.execution.http.guarded_client import build_guarded_client
from agent.execution.http.outcomes import parse_retry_after
from agent.execution.mcp.connection import McpExchange, PendingExchanges, Streams, build_error_message, parse_request_id
from agent.execution.mcp.endpoint import McpEndpoint
from agent.execution.mcp.parameters import McpParameters
from domain.errors import ForbiddenAddressError

MAX_LISTENING_STREAMS = 100
"""Most GET streams that one connection may open, for unsolicited messages or to resume an answer."""
_LISTEN_INTERVAL = 1.0
"""Least seconds between the openings of two such streams, whatever interval the server asks for."""
_DELETE_TIMEOUT = 2.0
"""Seconds for the request that ends a session."""
_log = logging.getLogger(__name__)
_JSON_HEADERS = {"content-type": "application/json"}


class BoundedTransport(httpx.AsyncBaseTransport):
    """Transport of one connection that reads at most ``limit`` bytes of an answer."""

    def __init__(self, inner: httpx.AsyncBaseTransport, exchanges: PendingExchanges, limit: int) -> None:
        self._inner = inner
        self._exchanges = exchanges
        self._limit = limit
        self._listen_count = 0
        self._next_listen_at = 0.0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the failure of one with an exchange is returned as a JSON-RPC error, not raised."""
        if request.method == "GET":
            return await self._open_listening_stream(request)
        if request.method == "DELETE":
            request.extensions["timeout"] = dict.fromkeys(("connect", "read", "write", "pool"), _DELETE_TIMEOUT)
        request_id = parse_request_id(await request.aread()) if request.method == "POST" else None
        exchange = self._exchanges.get(request_id) if request_id is not None else None
        if request_id is None or exchange is None:
            return await self._send_notification(request)
        # httpcore calls this when it sends: a call that was never sent cannot have taken effect.
        request.extensions["trace"] = exchange.handle_trace_event
        try:
            async with asyncio.timeout_at(exchange.deadline):
                response = await self._inner.handle_async_request(request)
                return await self._check_response(request, response, request_id, exchange)
        except (httpx.TransportError, ForbiddenAddressError, TimeoutError) as error:
            exchange.record_failure(str(error) or type(error).__name__, error)
            return _build_error_response(request_id, exchange)

    async def _send_notification(self, request: httpx.Request) -> httpx.Response:
        """Send a notification or the end of a session; a failure to deliver it is only logged."""
        try:
            response = await self._inner.handle_async_request(request)
            await response.aclose()
        except (httpx.TransportError, ForbiddenAddressError) as error:
            _log.debug("a server was not told something (%s)", type(error).__name__)
        return httpx.Response(200 if request.method == "DELETE" else 202)

    async def _open_listening_stream(self, request: httpx.Request) -> httpx.Response:
        """Open a stream of unsolicited messages, at most ``MAX_LISTENING_STREAMS`` times and not too often."""
        loop = asyncio.get_running_loop()
        if self._listen_count >= MAX_LISTENING_STREAMS:
            return httpx.Response(405)
        self._listen_count += 1
        if (wait := self._next_listen_at - loop.time()) > 0:
            await asyncio.sleep(wait)
        self._next_listen_at = loop.time() + _LISTEN_INTERVAL
        # A server may have nothing to say for hours, so reading has no timeout here.
        request.extensions["timeout"] = {**request.extensions.get("timeout", {}), "read": None}
        try:
            response = await self._inner.handle_async_request(request)
        except (httpx.TransportError, ForbiddenAddressError):
            return httpx.Response(503)
        if response.status_code != 200 or not _get_content_type(response).startswith("text/event-stream"):
            await response.aclose()
            return httpx.Response(response.status_code if response.status_code >= 400 else 405)
        return httpx.Response(
            200, headers=_select_protocol_headers(response), stream=_ListeningStream(response, self._limit)
        )

    async def _check_response(
        self, request: httpx.Request, response: httpx.Response, request_id: int, exchange: McpExchange
    ) -> httpx.Response:
        """Turn the server's response into one that the library can read safely, or into a JSON-RPC error."""
        status = exchange.status = response.status_code
        # 307 and 308 repeat the POST with its body and keys, so they are followed within the same origin only.
        if status in (307, 308) and _has_same_origin(request, response):
            await response.aclose()
            return httpx.Response(status, headers={"location": response.headers["location"]})
        content_type = _get_content_type(response)
        if 200 <= status < 300 and content_type.startswith("text/event-stream"):
            return httpx.Response(
                status,
                headers=_select_protocol_headers(response),
                stream=_ResponseStream(response, self._limit, request_id, exchange),
            )
        async with aclosing(response):
            if 200 <= status < 300 and content_type.startswith("application/json"):
                return await self._read_json_answer(response, request_id, exchange)
            exchange.session_gone = status == 404 and "mcp-session-id" in request.headers
            exchange.retry_after = parse_retry_after(response.headers.get("retry-after"))
            exchange.record_failure(_describe_refusal(request, response, content_type))
        return _build_error_response(request_id, exchange)

    async def _read_json_answer(
        self, response: httpx.Response, request_id: int, exchange: McpExchange
    ) -> httpx.Response:
        """Read a JSON answer within the limit and check that it answers this request."""
        content = b""
        async for chunk in response.aiter_raw():
            content += chunk
            if len(content) > self._limit:
                exchange.record_failure(_describe_oversize(self._limit))
                return _build_error_response(request_id, exchange)
        if parse_request_id(content) != request_id:
            exchange.record_failure("it answered something that is no answer to the question")
            return _build_error_response(request_id, exchange)
        # In a thread: parsing a large answer would block the event loop.
        if not await asyncio.to_thread(_is_protocol_message, content):
            exchange.record_failure("its answer is not in the protocol's form")
            return _build_error_response(request_id, exchange)
        return httpx.Response(200, headers=_select_protocol_headers(response), content=content)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _ListeningStream(httpx.AsyncByteStream):
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


class _ResponseStream(httpx.AsyncByteStream):
    """Stream that holds one answer, bounded in bytes and by the exchange's deadline.

    If it breaks off, an error event is appended, so that the caller gets an answer in any case. A stream whose events
    have ids is left as it is, since the library resumes it.
    """

    def __init__(self, response: httpx.Response, limit: int, request_id: int, exchange: McpExchange) -> None:
        self._response = response
        self._limit = limit
        self._request_id = request_id
        self._exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        resumable = False
        async with aclosing(self._read_chunks()) as chunks:
            async for chunk in chunks:
                resumable = resumable or chunk.startswith(b"id:") or b"\nid:" in chunk
                yield chunk
        if not (resumable and not self._exchange.failure):
            self._exchange.record_failure("its answer broke off")
            yield (
                b"\n\nevent: message\ndata: " + build_error_message(self._request_id, self._exchange.failure) + b"\n\n"
            )

    async def _read_chunks(self) -> AsyncGenerator[bytes]:
        size = 0
        source = self._response.aiter_raw()
        try:
            while True:
                async with asyncio.timeout_at(self._exchange.deadline):
                    chunk = await anext(source)
                size += len(chunk)
                if size > self._limit:
                    self._exchange.record_failure(_describe_oversize(self._limit))
                    return
                yield chunk
        except StopAsyncIteration:
            return
        except (httpx.TransportError, TimeoutError) as error:
            if isinstance(error, TimeoutError):
                self._exchange.record_failure("no answer in time", error)

    async def aclose(self) -> None:
        await self._response.aclose()


def _is_protocol_message(content: bytes) -> bool:
    """Return whether the library can parse a message; it drops others silently, and the caller would wait."""
    try:
        types.JSONRPCMessage.model_validate_json(content)
    except ValidationError:
        return False
    return True


def _build_error_response(request_id: int, exchange: McpExchange) -> httpx.Response:
    return httpx.Response(200, headers=_JSON_HEADERS, content=build_error_message(request_id, exchange.failure))


def _get_content_type(response: httpx.Response) -> str:
    return response.headers.get("content-type", "").strip().lower()


def _select_protocol_headers(response: httpx.Response) -> dict[str, str]:
    names = ("content-type", "mcp-session-id")
    return {name: value for name in names if (value := response.headers.get(name))}


def _describe_oversize(limit: int) -> str:
    return f"its answer is longer than {limit} bytes"


def _describe_refusal(request: httpx.Request, response: httpx.Response, content_type: str) -> str:
    status = response.status_code
    if 200 <= status < 300:
        return (
            f"HTTP {status} without an answer"
            if status == 202
            else f"it answers with {content_type[:100] or 'no content type'}"
        )
    if response.has_redirect_location:
        return f"HTTP {status}: redirects to {_find_redirect_target(request, response)!s:.300}, which is not followed"
    return f"HTTP {status}"


def _find_redirect_target(request: httpx.Request, response: httpx.Response) -> httpx.URL | None:
    try:
        return request.url.join(response.headers.get("location", ""))
    except (httpx.InvalidURL, ValueError):
        return None


def _has_same_origin(request: httpx.Request, response: httpx.Response) -> bool:
    target, origin = _find_redirect_target(request, response), request.url
    return target is not None and (target.scheme, target.host, target.port, target.userinfo) == (
        origin.scheme,
        origin.host,
        origin.port,
        origin.userinfo,
    )


_MAX_REDIRECTS = 3


@asynccontextmanager
async def open_http_streams(
    endpoint: McpEndpoint, guard: AddressGuard, parameters: McpParameters, exchanges: PendingExchanges
) -> AsyncGenerator[Streams]:
    """Open the streams to a server at an address and close them at the end of the block."""
    http = parameters.http
    client = build_guarded_client(
        guard,
        timeout=httpx.Timeout(http.timeout, connect=http.connect_timeout, pool=http.connect_timeout),
        headers={"User-Agent": "footpath", "Accept-Encoding": "identity", **endpoint.headers},
        wrap=lambda inner: BoundedTransport(inner, exchanges, http.response_limit),
    )
    client.max_redirects = _MAX_REDIRECTS
    async with client, streamable_http_client(endpoint.url, http_client=client) as (incoming, outgoing, _):
        yield incoming, outgoing
