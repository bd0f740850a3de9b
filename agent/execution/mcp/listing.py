"""The tools that a server offers, as tool documents, bounded in pages, tools and bytes whatever its cursors say."""

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

from agent.execution.http.client import guarded_client
from agent.execution.http.log_redaction import unlogged
from agent.execution.mcp.connection import Connection, Page, UnansweredError
from agent.execution.mcp.endpoint import Endpoint, endpoint_of
from agent.execution.mcp.exchange import Exchange
from agent.execution.mcp.sessions import BusyError, McpSessions
from agent.execution.secrets import Secrets
from domain.errors import BrokenInputError, ForbiddenAddressError, SecretError, UnavailableError
from domain.side_effect import MCP
from domain.tool import ToolDoc, tool_id
from graph.importers.mcp import MOST_TOOLS, Listing, McpSource, read_listing

_MOST_CURSOR = 4_096
_PROBE = 5.0
"""Seconds that a server has to begin a stream of the former transport."""
_MOST_PROBED = 16_384
"""Bytes of such a stream that are read."""
_ENDPOINT_EVENT = re.compile(rb"(?:^|[\r\n])event: ?endpoint[\r\n]")
_log = logging.getLogger(__name__)
_NOT_THERE = frozenset({404, 405, 410})
"""HTTP statuses of a path that the server does not know."""


ReadListing = Callable[[list[Any], McpSource], Awaitable[Listing]]
"""Parses an untrusted listing of tools."""


async def in_thread(tools: list[Any], source: McpSource) -> Listing:
    """Parse a listing in a thread of this process; the listing's limits keep it short."""
    return await asyncio.to_thread(read_listing, tools, source)


async def list_tools(
    sessions: McpSessions, source: McpSource, secrets: Secrets, owner: str = "", read: ReadListing = in_thread
) -> Listing:
    """List the tools that a server offers to a caller with these keys.

    Raises:
        ForbiddenAddressError: the address may not be called.
        SecretError: a key of the source is missing, or may not be sent to this server.
        InvalidArgumentsError: the command is not allowed.
        UnavailableError: the server does not answer, or not in the protocol; the message says why.
        BrokenInputError: ``read`` cannot parse the listing, or no MCP server is at the address.
    """
    endpoint = await endpoint_of(_asked_for(source), sessions.guard, secrets, owner, sessions.parameters.commands)
    with unlogged(endpoint.redactor):
        try:
            tools, about, told = await _listing(sessions, source, endpoint)
        except BusyError as error:
            raise UnavailableError(f"{error}; try again later") from error
    found = await read(tools, replace(source, about=about))
    return replace(found, skipped=(*found.skipped, *told))


def _asked_for(source: McpSource) -> ToolDoc:
    """Build a document that stands for all tools of the server, with their address and keys."""
    return ToolDoc(
        id=tool_id(source.category, source.toolset, "tools/list"), category=source.category, toolset=source.toolset, api="tools/list",
        function="tools_list", method=MCP, url=source.url, credentials=source.credentials,
    )  # fmt: skip


async def _listing(
    sessions: McpSessions, source: McpSource, endpoint: Endpoint
) -> tuple[list[Any], str, tuple[str, ...]]:
    """Return the listed tools, the server's instructions, and notes on tools that are missing from the list."""
    deadline = asyncio.get_running_loop().time() + sessions.parameters.http.timeout
    opening, asking = Exchange(deadline), Exchange(deadline)
    try:
        async with asyncio.timeout_at(deadline), sessions.of(endpoint, opening) as connection:
            tools, told = await _pages(sessions, connection, asking)
            about = source.about or endpoint.redactor.clean(connection.about)
    except TimeoutError as error:
        told = "it gave no answer in time that the protocol knows"
        raise UnavailableError(f"the MCP server at {endpoint.place} cannot be read: {told}") from error
    except UnansweredError as error:
        failed = opening if opening.fault or opening.error else asking
        if isinstance(failed.error, ForbiddenAddressError):
            raise failed.error from error
        if failed.status in (401, 403):
            raise SecretError(_wants_key(endpoint)) from error
        if failed.status in _NOT_THERE:
            if await _speaks_former_transport(sessions, endpoint):
                raise BrokenInputError(
                    "speaks the former transport of the protocol (HTTP with SSE, 2024-11-05), and only streamable HTTP is spoken here; "
                    f"give the address of its streamable HTTP endpoint, often {_streamable(endpoint.url)}, or update the server",
                    file=endpoint.place,
                ) from error
            raise BrokenInputError(
                f"answers with HTTP {failed.status}, so it is not where an MCP server listens; correct the path, often /mcp",
                file=endpoint.place,
            ) from error
        raise UnavailableError(
            endpoint.redactor.clean(f"the MCP server at {endpoint.place} cannot be read: {error}")
        ) from error
    return tools, about, told


async def _speaks_former_transport(sessions: McpSessions, endpoint: Endpoint) -> bool:
    """Check if a server that refuses POST answers GET with a stream that names another address to post to.

    Clients of both transports tell them apart in this way (section "Backwards Compatibility" of the protocol's
    transports).
    """
    if endpoint.command is not None:
        return False
    headers = {
        "User-Agent": "footpath",
        "Accept-Encoding": "identity",
        **endpoint.headers,
        "Accept": "text/event-stream",
    }
    begun = b""
    try:
        async with (
            asyncio.timeout(min(_PROBE, sessions.parameters.http.timeout)),
            guarded_client(sessions.guard, timeout=httpx.Timeout(_PROBE), headers=headers) as client,
            client.stream("GET", endpoint.url) as response,
        ):
            kind = response.headers.get("content-type", "").strip().lower()
            if response.status_code != 200 or not kind.startswith("text/event-stream"):
                return False
            # The stream stays open, so it is read only until its first event, which names the address to post to.
            async for chunk in response.aiter_raw():
                begun += chunk
                if _ENDPOINT_EVENT.search(begun) or len(begun) > _MOST_PROBED:
                    break
    except (TimeoutError, httpx.HTTPError, ForbiddenAddressError) as error:
        _log.debug("%s is not known to speak the former transport (%s)", endpoint.place, type(error).__name__)
    return _ENDPOINT_EVENT.search(begun) is not None


def _streamable(url: str) -> str:
    """Guess where a server with both transports has the streamable one; the query, which may hold a key, is dropped."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    return urlunsplit(
        (parts.scheme, parts.netloc, f"{path.removesuffix('/sse')}/mcp" if path.endswith("/sse") else "/mcp", "", "")
    )


def _wants_key(endpoint: Endpoint) -> str:
    if endpoint.keyed:
        return f"the MCP server at {endpoint.place} refuses the key that it was sent: give the source another"
    advice = "; ".join(endpoint.advice)
    return f"the MCP server at {endpoint.place} wants a key: give one to the source" + (
        f" ({advice})" if advice else ""
    )


async def _pages(sessions: McpSessions, connection: Connection, asking: Exchange) -> tuple[list[Any], tuple[str, ...]]:
    """Return the unparsed tools of all pages, and notes on tools that were dropped or pages that were not read."""
    tools: list[Any] = []
    lost = size = 0
    why = ""
    cursor: str | None = None
    seen = set[str]()
    for _ in range(sessions.parameters.pages):
        params = types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None
        page = await connection.ask(types.ClientRequest(types.ListToolsRequest(params=params)), Page, asking)
        sizes = await asyncio.to_thread(_sizes, page.tools)
        size += sum(sizes)
        if size > sessions.parameters.listing_limit:
            why = f"it is longer than {sessions.parameters.listing_limit} bytes"
            break
        tools += [one for one, bytes_of in zip(page.tools, sizes, strict=True) if bytes_of]
        lost += sizes.count(0)
        cursor, why = _next(page, seen, len(tools))
        if cursor is None:
            break
    else:
        why = f"it has more than {sessions.parameters.pages} pages"
    unread = [f"the listing was not read on: {why}"] if why else []
    unkept = [f"{lost} tools are left out: nested too deeply, or with numbers that are too large"] if lost else []
    return tools, (*unkept, *unread)


def _next(page: Page, seen: set[str], read: int) -> tuple[str | None, str]:
    """Return the next cursor, or None at the end; the text says why reading stops although there is more."""
    if not isinstance(page.nextCursor, str) or not page.nextCursor:
        return None, ""
    if page.nextCursor in seen or len(page.nextCursor) > _MOST_CURSOR:
        return None, "its server gives the same place again, or one that is no place"
    if read > MOST_TOOLS:
        return None, f"of one server {MOST_TOOLS} tools are read"
    seen.add(page.nextCursor)
    return page.nextCursor, ""


def _sizes(tools: list[Any]) -> list[int]:
    return [_size(one) for one in tools]


def _size(tool: Any) -> int:
    """Return the size of a tool as JSON in bytes; 0 if it is nested too deeply or holds a number too large to keep."""
    try:
        return len(orjson.dumps([[tool]]))  # within a listing it is nested as deeply
    except orjson.JSONEncodeError:
        return 0
