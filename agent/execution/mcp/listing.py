"""The tools that a server offers, page by page, as tool documents: so many pages, tools and bytes, whatever its cursors say."""

import asyncio
from dataclasses import replace
from typing import Any

import orjson
from mcp import types

from agent.execution.http.log_redaction import unlogged
from agent.execution.mcp.connection import Connection, Page, UnansweredError
from agent.execution.mcp.endpoint import Endpoint, endpoint_of
from agent.execution.mcp.exchange import Exchange
from agent.execution.mcp.sessions import BusyError, McpSessions
from agent.execution.secrets import Secrets
from domain.errors import ForbiddenAddressError, SecretError, UnavailableError
from domain.side_effect import MCP
from domain.tool import ToolDoc, tool_id
from graph.importers.mcp import MOST_TOOLS, Listing, McpSource, read_listing

_MOST_CURSOR = 4_096


async def list_tools(sessions: McpSessions, source: McpSource, secrets: Secrets, owner: str = "") -> Listing:
    """What a server offers to a caller with these keys.

    Raises:
        ForbiddenAddressError: it may not be reached. SecretError: a key of its source is missing, or may not go there.
        InvalidArgumentsError: no such command is allowed. UnavailableError: it does not answer, or not in the protocol; the message says why.
    """
    endpoint = await endpoint_of(_asked_for(source), sessions.guard, secrets, owner, sessions.parameters.commands)
    with unlogged(endpoint.redactor):
        try:
            return await _listing(sessions, source, endpoint)
        except BusyError as error:
            raise UnavailableError(f"{error}; try again later") from error


def _asked_for(source: McpSource) -> ToolDoc:
    """A document that stands for all tools of the server: it has their address and their keys."""
    return ToolDoc(
        id=tool_id(source.category, source.toolset, "tools/list"), category=source.category, toolset=source.toolset, api="tools/list",
        function="tools_list", method=MCP, url=source.url, credentials=source.credentials,
    )  # fmt: skip


async def _listing(sessions: McpSessions, source: McpSource, endpoint: Endpoint) -> Listing:
    deadline = asyncio.get_running_loop().time() + sessions.parameters.http.timeout
    opening, asking = Exchange(deadline), Exchange(deadline)
    try:
        async with sessions.of(endpoint, opening) as connection:
            tools, told = await _pages(sessions, connection, asking)
            about = source.about or endpoint.redactor.clean(connection.about)
    except UnansweredError as error:
        failed = opening if opening.fault or opening.error else asking
        if isinstance(failed.error, ForbiddenAddressError):
            raise failed.error from error
        if failed.status in (401, 403):
            raise SecretError(_wants_key(endpoint)) from error
        raise UnavailableError(
            endpoint.redactor.clean(f"the MCP server at {endpoint.place} cannot be read: {error}")
        ) from error
    found = await asyncio.to_thread(read_listing, tools, replace(source, about=about))
    return replace(found, skipped=(*found.skipped, *told))


def _wants_key(endpoint: Endpoint) -> str:
    if endpoint.keyed:
        return f"the MCP server at {endpoint.place} refuses the key that it was sent: give the source another"
    advice = "; ".join(endpoint.advice)
    return f"the MCP server at {endpoint.place} wants a key: give one to the source" + (
        f" ({advice})" if advice else ""
    )


async def _pages(sessions: McpSessions, connection: Connection, asking: Exchange) -> tuple[list[Any], tuple[str, ...]]:
    """The tools of all pages, unread, and why the rest was not asked for."""
    bounds = sessions.parameters
    tools: list[Any] = []
    cursor: str | None = None
    seen = set[str]()
    size = 0
    for _ in range(bounds.pages):
        params = types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None
        page = await connection.ask(types.ClientRequest(types.ListToolsRequest(params=params)), Page, asking)
        size += _size(page.tools)
        if size > bounds.listing_limit:
            return tools, (f"the listing was not read on: it is longer than {bounds.listing_limit} bytes",)
        tools += page.tools
        if not isinstance(page.nextCursor, str) or not page.nextCursor:
            return tools, ()
        if page.nextCursor in seen or len(page.nextCursor) > _MOST_CURSOR:
            return tools, (
                "the listing was not read on: its server gives the same place again, or one that is no place",
            )
        if len(tools) > MOST_TOOLS:
            return tools, (f"the listing was not read on: of one server {MOST_TOOLS} tools are read",)
        cursor = page.nextCursor
        seen.add(cursor)
    return tools, (f"the listing was not read on: it has more than {bounds.pages} pages",)


def _size(tools: list[Any]) -> int:
    return len(orjson.dumps(tools, default=str))
