"""What measurements of a server under load have in common: many users, followers that cost little, figures of a process."""

import asyncio
import json
import re
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from server.storage.storage import open_storage
from wiring.settings import Settings

_AT = re.compile(rb'"at":"([^"]+)"')
_KIND = re.compile(rb'"event":\{"kind":"([^"]+)"')
_LONGEST = 64 * 1024 * 1024
"""Bytes of a line: an event holds a response as it came."""


async def many_users(home: Path, count: int) -> list[str]:
    """The access tokens of so many new users, who have no password."""
    async with open_storage(Settings(server_home=home, access_minutes=600)) as storage:
        users = [await storage.users.add(f"user {number}", "no password") for number in range(count)]
        return [(await storage.tokens.open_session(user.id)).access_token for user in users]


def resident(pid: int, what: str = "VmRSS") -> float:
    """MiB of memory that a process has; ``VmHWM``: the most that it ever had."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1024


def busy(pid: int) -> float:
    """Seconds of a core that a process has used."""
    parts = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(") ")[2].split()
    return (int(parts[11]) + int(parts[12])) / 100


def spread(seconds: Sequence[float]) -> str:
    """Median and 99th percentile in milliseconds."""
    ordered = sorted(seconds)
    last = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    return f"p50 {1000 * statistics.median(ordered):.0f} ms, p99 {1000 * last:.0f} ms"


async def sent(address: str, token: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    """Status and JSON of an answer, over a connection of its own: it costs a tenth of what a client library takes."""
    parts = urlsplit(address)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    content = b"" if body is None else json.dumps(body).encode()
    head = f"{method} /api/v1{path} HTTP/1.1\r\nHost: {parts.netloc}\r\nAuthorization: Bearer {token}\r\n"
    length = f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n"
    writer.write((head + length).encode() + content)
    answer = await reader.read()
    writer.close()
    status, _, found = answer.partition(b"\r\n\r\n")
    return int(status.split(maxsplit=2)[1]), json.loads(found) if found else None


async def asked(address: str, token: str, request: str) -> str:
    """The id of a new run in a new conversation."""
    _, conversation = await sent(address, token, "POST", "/conversations", {})
    status, run = await sent(address, token, "POST", f"/conversations/{conversation['id']}/runs", {"request": request})
    assert status == 202, run
    return run["id"]


@dataclass
class Follower:
    """Reads a run's events over a bare connection. ``received``: when each event came, in seconds since 1970, and its line of data.

    ``awaited`` is called where the run waits for its user.
    """

    address: str
    token: str
    run: str
    awaited: Callable[["Follower", bytes], Awaitable[None]] | None = None
    received: list[tuple[float, bytes]] = field(default_factory=list[tuple[float, bytes]])

    async def follow(self, connected: Callable[[], None] = lambda: None) -> None:
        """To the run's end. ``connected`` is called with the answer's first line."""
        parts = urlsplit(self.address)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=_LONGEST)
        head = f"GET /api/v1/runs/{self.run}/events HTTP/1.1\r\nHost: {parts.netloc}\r\n"
        writer.write(f"{head}Authorization: Bearer {self.token}\r\nConnection: close\r\n\r\n".encode())
        status = await reader.readline()
        assert b"200" in status, status
        connected()
        async for line in reader:
            if line.startswith(b"data: "):
                self.received.append((time.time(), line))
                if self.awaited is not None and kind(line) == "input.needed":
                    await self.awaited(self, line)
        writer.close()

    async def allow(self, line: bytes) -> None:
        """Let the run make the call that it asks about; a question gets its first choice."""
        event = json.loads(line[6:])["event"]
        path = f"/runs/{self.run}/inputs/{event['input']}"
        answers = {"decision": "answer", "answer": (event.get("choices") or ["I have nothing to add."])[0]}
        decision = answers if event.get("asks") == "question" else {"decision": "allow"}
        status, answer = await sent(self.address, self.token, "POST", path, decision)
        assert status == 200, answer

    def delays(self, since: float) -> list[float]:
        """Seconds from an event's being told to its being received, of those told after a moment."""
        told = [(came, _at(line)) for came, line in self.received]
        return [came - at for came, at in told if at > since]


def kind(line: bytes) -> str:
    """An event's kind, from its line of data."""
    found = _KIND.search(line)
    assert found is not None, line
    return found[1].decode()


def _at(line: bytes) -> float:
    found = _AT.search(line)
    assert found is not None, line
    return datetime.fromisoformat(found[1].decode()).timestamp()
