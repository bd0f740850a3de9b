"""The pool of MCP sessions of a process: reused while in use, limited in number, never shared between callers."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from agent.execution.http.guard import Guard, Resolver, resolve
from agent.execution.http.host_limits import Clock, HostLimits
from agent.execution.http.log_redaction import unlogged
from agent.execution.mcp.connection import Connection, Streams, UnansweredError
from agent.execution.mcp.endpoint import Endpoint
from agent.execution.mcp.exchange import Exchange, Exchanges
from agent.execution.mcp.parameters import McpParameters
from agent.execution.mcp.process import over_process
from agent.execution.mcp.streams import over_http

_log = logging.getLogger(__name__)

Changed = Callable[[str], None]
"""Called with the address of a server."""


class BusyError(Exception):
    """All sessions that may be open are in use."""


class McpSessions:
    """The sessions of one process with all its servers.

    ``changed`` is called with the address of a server that reports another tool list while a session with it is open.
    """

    def __init__(
        self,
        parameters: McpParameters | None = None,
        *,
        resolver: Resolver = resolve,
        changed: Changed | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.parameters = parameters or McpParameters()
        self.changed = changed
        http = self.parameters.http
        self.guard = Guard(http.allow_hosts, resolver)
        self.clock = clock or Clock()
        self.hosts = HostLimits(http.host_concurrency, http.host_rate, self.clock, longest_pause=http.host_pause)
        self._open: dict[tuple[str, ...], Connection] = {}
        self._opening: defaultdict[tuple[str, ...], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._closing = set[asyncio.Task[None]]()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def open(self) -> int:
        """Number of open sessions."""
        return len(self._open)

    @asynccontextmanager
    async def of(self, endpoint: Endpoint, exchange: Exchange) -> AsyncGenerator[Connection]:
        """Yield a session for this block, opening one if needed.

        ``exchange`` is that of the opening; it records why it failed.

        Raises:
            UnansweredError: no session could be opened.
            BusyError: all sessions are in use.
        """
        # One lock a key: calls at the same time must not open a session each.
        async with self._opening[endpoint.key]:
            connection = self._open.get(endpoint.key)
            if connection is None or connection.over:
                connection = await self._opened(endpoint, exchange)
            connection.uses += 1
        try:
            yield connection
        finally:
            connection.uses -= 1
            connection.used = self.clock.now()
            if connection.over:
                self._forget(endpoint.key, connection)
            self._look_later()

    async def _opened(self, endpoint: Endpoint, exchange: Exchange) -> Connection:
        self._make_room()
        connection = Connection(
            lambda exchanges: self._streams(endpoint, exchanges), lambda: self._has_changed(endpoint)
        )
        connection.uses += 1  # counts as in use while it opens, so that it is not closed to make room
        self._open[endpoint.key] = connection
        try:
            with unlogged(endpoint.redactor):  # the tasks that it starts inherit this context
                await connection.open(exchange)
        except BaseException:
            self._forget(endpoint.key, connection)
            raise
        finally:
            connection.uses -= 1
        return connection

    def _streams(self, endpoint: Endpoint, exchanges: Exchanges) -> AbstractAsyncContextManager[Streams]:
        if endpoint.command is not None:
            return over_process(endpoint, self.parameters.http.response_limit, exchanges)
        return over_http(endpoint, self.guard, self.parameters, exchanges)

    def _has_changed(self, endpoint: Endpoint) -> None:
        if self.changed is not None:
            self.changed(endpoint.key[0])

    def _make_room(self) -> None:
        idle = sorted((one.used, key) for key, one in self._open.items() if not one.uses)
        while len(self._open) >= self.parameters.sessions:
            if not idle:
                raise BusyError(f"all {self.parameters.sessions} sessions with MCP servers are in use")
            key = idle.pop(0)[1]
            self._forget(key, self._open[key])

    def leave(self, endpoint: Endpoint, connection: Connection) -> None:
        """Remove a session that is of no further use; the next call opens another."""
        self._forget(endpoint.key, connection)

    def _forget(self, key: tuple[str, ...], connection: Connection) -> None:
        if self._open.get(key) is connection:
            del self._open[key]
        task = asyncio.create_task(connection.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def _look_later(self) -> None:
        if self._timer is None and self._open:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self.parameters.idle, self._close_idle)

    def _close_idle(self) -> None:
        self._timer = None
        before = self.clock.now() - self.parameters.idle
        for key, one in list(self._open.items()):
            if one.over or (not one.uses and one.used <= before):
                self._forget(key, one)
        # Locks of forgotten sessions would add up; one that is held belongs to a session that is opening.
        for key in [key for key, lock in self._opening.items() if key not in self._open and not lock.locked()]:
            del self._opening[key]
        self._look_later()

    async def close(self) -> None:
        """Close all sessions and end the processes that were started for them. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for key, one in list(self._open.items()):
            self._forget(key, one)
        if self._closing:
            await asyncio.wait(self._closing)


__all__ = ["BusyError", "McpSessions", "UnansweredError"]
