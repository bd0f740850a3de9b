"""The sessions of a process with all servers: kept while they are used, so many at once, none shared between callers."""

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


class BusyError(Exception):
    """All sessions that may be open are in use."""


class McpSessions:
    """One process's. ``changed`` is told the address of a server that says its list of tools is another now, while a session with it is open."""

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
        """How many there are."""
        return len(self._open)

    @asynccontextmanager
    async def of(self, endpoint: Endpoint, exchange: Exchange) -> AsyncGenerator[Connection]:
        """A session for this block, opened where there is none. ``UnansweredError`` where that fails; ``BusyError``.

        ``exchange``: of its opening; it tells why that failed.
        """
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
        connection.uses += 1  # nobody may take its room meanwhile
        self._open[endpoint.key] = connection
        try:
            with unlogged(endpoint.redactor):  # what it starts takes this along
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
        """Begin anew with the next call: this session is of no use any longer."""
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
        for key in [key for key, lock in self._opening.items() if key not in self._open and not lock.locked()]:
            del self._opening[key]
        self._look_later()

    async def close(self) -> None:
        """End all of them, and what was started for them. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for key, one in list(self._open.items()):
            self._forget(key, one)
        if self._closing:
            await asyncio.wait(self._closing)


__all__ = ["BusyError", "McpSessions", "UnansweredError"]
