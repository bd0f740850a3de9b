"""Listing of a server's tools as tool documents, bounded in pages, tools and bytes."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx
import orjson
from mcp import types

from agent.execution.http.guarded_client import build_guarded_client
from agent.execution.mcp.connection import McpConnection, McpExchange, UnansweredError, UnparsedListingPage
from agent.execution.mcp.endpoint import McpEndpoint, resolve_endpoint
from agent.execution.mcp.sessions import McpSessions, SessionsBusyError
from agent.execution.redaction import redact_logs
from agent.execution.secret_store import SecretStore
from domain.errors import BrokenInputError, ForbiddenAddressError, SecretError, UnavailableError
from domain.side_effect import MCP
from domain.tool import ToolDoc, make_tool_id
from graph.importers.mcp import MAX_TOOLS, McpListing, McpSource, read_listing

_MAX_CURSOR_CHARS = 4_096
_PROBE_TIMEOUT = 5.0
"""Seconds that a server has to begin a stream of the former transport (HTTP with SSE)."""
_MAX_PROBE_BYTES = 16_384
"""Most bytes read of such a stream."""
_ENDPOINT_EVENT = re.compile(rb"(?:^|[\r\n])event: ?endpoint[\r\n]")
_log = logging.getLogger(__name__)
_NOT_FOUND_STATUSES = frozenset({404, 405, 410})
"""HTTP statuses that say that the server does not know the path."""


ListingParser = Callable[[list[Any], McpSource], Awaitable[McpListing]]
"""Parses the untrusted tools of a listing."""


async def parse_in_thread(tools: list[Any], source: McpSource) -> McpListing:
    """Parse a listing in a thread; its limits keep the time short."""
    return await asyncio.to_thread(read_listing, tools, source)


async def list_tools(
    sessions: McpSessions,
    source: McpSource,
    secrets: SecretStore,
    owner: str = "",
    parse: ListingParser = parse_in_thread,
) -> McpListing:
    """List the tools that a server offers to a caller with these keys.

    Raises:
        ForbiddenAddressError: the address may not be called.
        SecretError: a key of the source is missing, or may not be sent to this server.
        InvalidArgumentsError: the command is not allowed.
        UnavailableError: the server does not answer, or not in the protocol; the message says why.
        BrokenInputError: ``parse`` cannot parse the listing, or no MCP server is at the address.
    """
    endpoint = await resolve_endpoint(
        _build_source_tool(source), sessions.guard, secrets, owner, sessions.parameters.commands
    )
    with redact_logs(endpoint.redactor):
        try:
            tools, about, omissions = await _fetch_listing(sessions, source, endpoint)
        except SessionsBusyError as error:
            raise UnavailableError(f"{error}; try again later") from error
    listing = await parse(tools, replace(source, about=about))
    return replace(listing, skipped=(*listing.skipped, *omissions))


def _build_source_tool(source: McpSource) -> ToolDoc:
    """Build a document that stands for the server as a whole, with its address and keys."""
    return ToolDoc(
        id=make_tool_id(source.category, source.toolset, "tools/list"), category=source.category, toolset=source.toolset, api="tools/list",
        function="tools_list", method=MCP, url=source.url, credentials=source.credentials,
    )  # fmt: skip


async def _fetch_listing(
    sessions: McpSessions, source: McpSource, endpoint: McpEndpoint
) -> tuple[list[Any], str, tuple[str, ...]]:
    """Return the unparsed tools, the description of the server, and notes on tools that are missing."""
    deadline = asyncio.get_running_loop().time() + sessions.parameters.http.timeout
    opening_exchange, listing_exchange = McpExchange(deadline), McpExchange(deadline)
    try:
        async with asyncio.timeout_at(deadline), sessions.acquire(endpoint, opening_exchange) as connection:
            tools, notes = await _fetch_pages(sessions, connection, listing_exchange)
            about = source.about or endpoint.redactor.redact(connection.instructions)
    except TimeoutError as error:
        notes = "it gave no answer in time that the protocol knows"
        raise UnavailableError(f"the MCP server at {endpoint.place} cannot be read: {notes}") from error
    except UnansweredError as error:
        failed_exchange = opening_exchange if opening_exchange.failure or opening_exchange.error else listing_exchange
        if isinstance(failed_exchange.error, ForbiddenAddressError):
            raise failed_exchange.error from error
        if failed_exchange.status in (401, 403):
            raise SecretError(_describe_key_problem(endpoint)) from error
        if failed_exchange.status in _NOT_FOUND_STATUSES:
            if await _uses_sse_transport(sessions, endpoint):
                raise BrokenInputError(
                    "speaks the former transport of the protocol (HTTP with SSE, 2024-11-05), and only streamable HTTP is spoken here; "
                    f"give the address of its streamable HTTP endpoint, often {_guess_streamable_url(endpoint.url)}, or update the server",
                    file=endpoint.place,
                ) from error
            raise BrokenInputError(
                f"answers with HTTP {failed_exchange.status}, so it is not where an MCP server listens; correct the path, often /mcp",
                file=endpoint.place,
            ) from error
        raise UnavailableError(
            endpoint.redactor.redact(f"the MCP server at {endpoint.place} cannot be read: {error}")
        ) from error
    return tools, about, notes


async def _uses_sse_transport(sessions: McpSessions, endpoint: McpEndpoint) -> bool:
    """Return whether a server that refuses POST answers GET with a stream that names an address to post to.

    This is how clients of both transports distinguish them (MCP specification, "Transports", section "Backwards
    Compatibility").
    """
    if endpoint.command is not None:
        return False
    headers = {
        "User-Agent": "footpath",
        "Accept-Encoding": "identity",
        **endpoint.headers,
        "Accept": "text/event-stream",
    }
    received = b""
    try:
        async with (
            asyncio.timeout(min(_PROBE_TIMEOUT, sessions.parameters.http.timeout)),
            build_guarded_client(sessions.guard, timeout=httpx.Timeout(_PROBE_TIMEOUT), headers=headers) as client,
            client.stream("GET", endpoint.url) as response,
        ):
            content_type = response.headers.get("content-type", "").strip().lower()
            if response.status_code != 200 or not content_type.startswith("text/event-stream"):
                return False
            # The stream stays open, so it is read only until its first event, which names the address to post to.
            async for chunk in response.aiter_raw():
                received += chunk
                if _ENDPOINT_EVENT.search(received) or len(received) > _MAX_PROBE_BYTES:
                    break
    except (TimeoutError, httpx.HTTPError, ForbiddenAddressError) as error:
        _log.debug("%s is not known to speak the former transport (%s)", endpoint.place, type(error).__name__)
    return _ENDPOINT_EVENT.search(received) is not None


def _guess_streamable_url(url: str) -> str:
    """Guess where a server with both transports has the streamable one; the query, which may hold a key, is dropped."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    return urlunsplit(
        (parts.scheme, parts.netloc, f"{path.removesuffix('/sse')}/mcp" if path.endswith("/sse") else "/mcp", "", "")
    )


def _describe_key_problem(endpoint: McpEndpoint) -> str:
    if endpoint.has_key:
        return f"the MCP server at {endpoint.place} refuses the key that it was sent: give the source another"
    advice = "; ".join(endpoint.advice)
    return f"the MCP server at {endpoint.place} wants a key: give one to the source" + (
        f" ({advice})" if advice else ""
    )


async def _fetch_pages(
    sessions: McpSessions, connection: McpConnection, listing_exchange: McpExchange
) -> tuple[list[Any], tuple[str, ...]]:
    """Return the unparsed tools of all pages, and notes on tools that were dropped or pages that were not read."""
    tools: list[Any] = []
    dropped = size = 0
    stop_reason = ""
    cursor: str | None = None
    seen_cursors = set[str]()
    for _ in range(sessions.parameters.pages):
        params = types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None
        page = await connection.ask(
            types.ClientRequest(types.ListToolsRequest(params=params)), UnparsedListingPage, listing_exchange
        )
        sizes = await asyncio.to_thread(_measure_tools, page.tools)
        size += sum(sizes)
        if size > sessions.parameters.listing_limit:
            stop_reason = f"it is longer than {sessions.parameters.listing_limit} bytes"
            break
        tools += [tool for tool, tool_size in zip(page.tools, sizes, strict=True) if tool_size]
        dropped += sizes.count(0)
        cursor, stop_reason = _find_next_cursor(page, seen_cursors, len(tools))
        if cursor is None:
            break
    else:
        stop_reason = f"it has more than {sessions.parameters.pages} pages"
    stop_notes = [f"the listing was not read on: {stop_reason}"] if stop_reason else []
    dropped_notes = (
        [f"{dropped} tools are left out: nested too deeply, or with numbers that are too large"] if dropped else []
    )
    return tools, (*dropped_notes, *stop_notes)


def _find_next_cursor(page: UnparsedListingPage, seen_cursors: set[str], tool_count: int) -> tuple[str | None, str]:
    """Return the next cursor, or None at the end, and the reason if reading stops although there is more."""
    if not isinstance(page.nextCursor, str) or not page.nextCursor:
        return None, ""
    if page.nextCursor in seen_cursors or len(page.nextCursor) > _MAX_CURSOR_CHARS:
        return None, "its server gives the same place again, or one that is no place"
    if tool_count > MAX_TOOLS:
        return None, f"of one server {MAX_TOOLS} tools are read"
    seen_cursors.add(page.nextCursor)
    return page.nextCursor, ""


def _measure_tools(tools: list[Any]) -> list[int]:
    return [_measure_tool(tool) for tool in tools]


def _measure_tool(tool: Any) -> int:
    """Return a tool's size as JSON in bytes; 0 if it is nested too deeply or holds a number that is too large."""
    try:
        return len(orjson.dumps([[tool]]))  # wrapped as deeply as within a listing
    except orjson.JSONEncodeError:
        return 0
