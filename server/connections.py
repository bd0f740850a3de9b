"""Connections, before there is a request on them: how many there may be, and how long each may take to ask for something.

The server's own protocol knows no time limit for the head of a request; this one closes who does not get to its end in time. Where there
are too many, the oldest that waits without a request makes room for a new one, so that who asks for something gets in.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from ipaddress import ip_address, ip_network
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

_log = logging.getLogger(__name__)
_QUIET = 60
"""Seconds in which the log is told of the same trouble once."""
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 21\r\n"
    b"Retry-After: 5\r\nConnection: close\r\n\r\nToo many connections."
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """``most``: connections in all; ``of_one``: of one address, but for ``exempt`` proxies (as uvicorn writes them); 0: any number.

    ``head_seconds``: from the first byte of a request, or the beginning of a connection, to the end of the request's head.
    """

    most: int = 1000
    of_one: int = 200
    head_seconds: float = 15.0
    exempt: str = ""


class Connections:
    """Those of one process. Called by the loop's thread only."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self._exempt = _proxies(bounds.exempt)
        self._counts: Counter[str] = Counter()
        self._idle: dict[str, dict[Connection, None]] = {}
        self._open = 0
        self._told: dict[str, float] = {}

    def protocol(self) -> Callable[..., asyncio.Protocol]:
        """What makes the protocol of a new connection."""
        return partial(Connection, self)

    def admit(self, new: "Connection") -> bool:
        """Whether there is room for it; where there is none, one without a request is closed for it."""
        most, of_one, address = self.bounds.most, self.bounds.of_one, new.address
        if of_one and not self._exempt(address) and self._counts[address] >= of_one:
            self._tell(f"{address} has {of_one} connections, the most of one address")
            if not self._closed_one(self._idle.get(address, {})):
                return False
        elif most and self._open >= most:
            self._tell(f"there are {most} connections, the most that there may be")
            # Of the address with the most that wait, so that one address does not close what others are about to ask.
            if not self._closed_one(max(self._idle.values(), key=len, default=_NONE)):
                return False
        self._counts[address] += 1
        self._open += 1
        return True

    def gone(self, one: "Connection") -> None:
        """An admitted connection is over."""
        self.busy(one)
        self._open -= 1
        self._counts[one.address] -= 1
        if not self._counts[one.address]:
            del self._counts[one.address]

    def idle(self, one: "Connection") -> None:
        """It has no request under way from now on."""
        self._idle.setdefault(one.address, {})[one] = None

    def busy(self, one: "Connection") -> None:
        """It has a request, or is no more."""
        waiting = self._idle.get(one.address, {})
        waiting.pop(one, None)
        if not waiting:
            self._idle.pop(one.address, None)

    def late(self, one: "Connection") -> None:
        """It did not get to the end of a request's head in time."""
        self._tell(f"{one.address} sent no whole request in {self.bounds.head_seconds:g} seconds")
        one.drop()

    def _closed_one(self, waiting: "dict[Connection, None]") -> bool:
        oldest = next(iter(waiting), None)
        if oldest is not None:
            oldest.drop()
        return oldest is not None

    def _tell(self, what: str) -> None:
        """Told once in a while, whatever happens how often."""
        now = asyncio.get_running_loop().time()
        self._told = {one: at for one, at in self._told.items() if now - at < _QUIET}
        if what not in self._told and len(self._told) < 10:
            self._told[what] = now
            _log.warning("connections are closed: %s", what)


class Connection(H11Protocol):
    """One connection. ``address``: of whoever has opened it, be it a proxy."""

    def __init__(self, connections: Connections, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._connections = connections
        self._deadline: asyncio.TimerHandle | None = None
        self._admitted = False
        self.address = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        peer = cast("object", transport.get_extra_info("peername"))
        self.address = str(cast("tuple[object, ...]", peer)[0]) if isinstance(peer, tuple) else ""
        super().connection_made(transport)
        self._admitted = self._connections.admit(self)
        if self._admitted:
            self._connections.idle(self)
            self._begin()
        else:
            transport.write(_FULL)
            transport.close()

    def data_received(self, data: bytes) -> None:
        if self._admitted:
            super().data_received(data)
            self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look(fresh=True)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._end()
        if self._admitted:
            self._admitted = False
            self._connections.gone(self)

    def drop(self) -> None:
        """Close it at once: nothing that it was sent is waited for."""
        self._end()
        self._connections.busy(self)
        self.transport.abort()

    def _look(self, *, fresh: bool = False) -> None:
        """Whether a request is under way. ``fresh``: an answer has just ended, and how long the next may be waited for is uvicorn's to say."""
        if self.transport.is_closing():
            return
        cycle = cast("Any", self.cycle)
        if cycle is not None and not cycle.response_complete:
            self._end()
            self._connections.busy(self)
            return
        self._connections.idle(self)
        if not fresh and self._deadline is None:
            self._begin()

    def _begin(self) -> None:
        self._deadline = self.loop.call_later(self._connections.bounds.head_seconds, self._connections.late, self)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


_NONE: dict[Connection, None] = {}


def _proxies(listed: str) -> Callable[[str], bool]:
    """Whether an address is one of these: addresses and networks, comma-separated, or * for any."""
    networks: list[Any] = []
    for one in listed.split(","):
        try:
            networks.append(ip_network(one.strip(), strict=False))
        except ValueError:  # a name or *: uvicorn compares it as it stands
            continue

    @lru_cache(maxsize=1024)
    def among(address: str) -> bool:
        if listed.strip() == "*":
            return True
        try:
            return any(ip_address(address) in network for network in networks)
        except ValueError:
            return False

    return among
