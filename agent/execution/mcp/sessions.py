"""Pool of a process's MCP sessions: reused, limited in number, and never shared between callers."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from agent.execution.http.guard import AddressGuard, Resolver, resolve_host
from agent.execution.http.host_limits import EventLoopClock, HostLimits
from agent.execution.mcp.connection import McpConnection, McpExchange, PendingExchanges, Streams
from agent.execution.mcp.endpoint import McpEndpoint
from agent.execution.mcp.http_streams import open_http_streams
from agent.execution.mcp.parameters import McpParameters
from agent.execution.mcp.process import open_process_streams
from agent.execution.redaction import redact_logs

_log = logging.getLogger(__name__)

ToolListCallback = Callable[[str], None]
"""Called with the address of a server whose tool list has changed."""


class SessionsBusyError(Exception):
    """All sessions of the pool are in use."""


class McpSessions:
    """Sessions of one process with all its MCP servers.

    ``on_list_changed`` is called with the address of a server that reports a changed tool list in an open session.
    """

    def __init__(
        self,
        parameters: McpParameters | None = None,
        *,
        resolver: Resolver = resolve_host,
        on_list_changed: ToolListCallback | None = None,
        clock: EventLoopClock | None = None,
    ) -> None:
        self.parameters = parameters or McpParameters()
        self.on_list_changed = on_list_changed
        http = self.parameters.http
        self.guard = AddressGuard(http.allow_hosts, resolver)
        self.clock = clock or EventLoopClock()
        self.hosts = HostLimits(http.host_concurrency, http.host_rate, self.clock, longest_pause=http.host_pause)
        self._connections: dict[tuple[str, ...], McpConnection] = {}
        self._opening_locks: defaultdict[tuple[str, ...], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._closing_tasks = set[asyncio.Task[None]]()
        self._idle_timer: asyncio.TimerHandle | None = None

    @property
    def open_count(self) -> int:
        """Number of open sessions."""
        return len(self._connections)

    @asynccontextmanager
    async def acquire(self, endpoint: McpEndpoint, exchange: McpExchange) -> AsyncGenerator[McpConnection]:
        """Hold a session inside the context, opening one if needed.

        ``exchange`` records why opening it failed.

        Raises:
            UnansweredError: no session could be opened.
            SessionsBusyError: all sessions are in use.
        """
        # One lock per key, so that concurrent calls do not each open a session.
        async with self._opening_locks[endpoint.key]:
            connection = self._connections.get(endpoint.key)
            if connection is None or connection.is_over:
                connection = await self._open_session(endpoint, exchange)
            connection.active_calls += 1
        try:
            yield connection
        finally:
            connection.active_calls -= 1
            connection.last_used = self.clock.now()
            if connection.is_over:
                self._remove(endpoint.key, connection)
            self._schedule_idle_check()

    async def _open_session(self, endpoint: McpEndpoint, exchange: McpExchange) -> McpConnection:
        self._make_room()
        connection = McpConnection(
            lambda exchanges: self._open_streams(endpoint, exchanges), lambda: self._report_list_change(endpoint)
        )
        connection.active_calls += 1  # in use while it opens, so that it is not closed to make room
        self._connections[endpoint.key] = connection
        try:
            with redact_logs(endpoint.redactor):  # the session's tasks inherit this context
                await connection.open(exchange)
        except BaseException:
            self._remove(endpoint.key, connection)
            raise
        finally:
            connection.active_calls -= 1
        return connection

    def _open_streams(self, endpoint: McpEndpoint, exchanges: PendingExchanges) -> AbstractAsyncContextManager[Streams]:
        if endpoint.command is not None:
            return open_process_streams(endpoint, self.parameters.http.response_limit, exchanges)
        return open_http_streams(endpoint, self.guard, self.parameters, exchanges)

    def _report_list_change(self, endpoint: McpEndpoint) -> None:
        if self.on_list_changed is not None:
            self.on_list_changed(endpoint.key[0])

    def _make_room(self) -> None:
        idle = sorted(
            (connection.last_used, key) for key, connection in self._connections.items() if not connection.active_calls
        )
        while len(self._connections) >= self.parameters.sessions:
            if not idle:
                raise SessionsBusyError(f"all {self.parameters.sessions} sessions with MCP servers are in use")
            key = idle.pop(0)[1]
            self._remove(key, self._connections[key])

    def discard(self, endpoint: McpEndpoint, connection: McpConnection) -> None:
        """Remove a session that no longer works; the next call opens another."""
        self._remove(endpoint.key, connection)

    def _remove(self, key: tuple[str, ...], connection: McpConnection) -> None:
        if self._connections.get(key) is connection:
            del self._connections[key]
        task = asyncio.create_task(connection.close())
        self._closing_tasks.add(task)
        task.add_done_callback(self._closing_tasks.discard)

    def _schedule_idle_check(self) -> None:
        if self._idle_timer is None and self._connections:
            loop = asyncio.get_running_loop()
            self._idle_timer = loop.call_later(self.parameters.idle, self._close_idle)

    def _close_idle(self) -> None:
        self._idle_timer = None
        cutoff = self.clock.now() - self.parameters.idle
        for key, connection in list(self._connections.items()):
            if connection.is_over or (not connection.active_calls and connection.last_used <= cutoff):
                self._remove(key, connection)
        # Drop locks of removed sessions, which would add up; a held lock belongs to a session that is opening.
        for key in [
            key for key, lock in self._opening_locks.items() if key not in self._connections and not lock.locked()
        ]:
            del self._opening_locks[key]
        self._schedule_idle_check()

    async def close(self) -> None:
        """Close all sessions and end the processes that were started for them; idempotent."""
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None
        for key, connection in list(self._connections.items()):
            self._remove(key, connection)
        if self._closing_tasks:
            await asyncio.wait(self._closing_tasks)
