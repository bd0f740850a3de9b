"""A server on loopback that shakes hands as the protocol wants, and then does to a call whatever a test says."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

Send = Callable[[Any], Awaitable[None]]


@dataclass
class Asked:
    """What was asked: its method and id, its parameters, its headers; and how to answer."""

    method: str
    id: Any
    params: dict[str, Any]
    headers: dict[str, str]
    send: Send

    async def begin(
        self, status: int = 200, kind: str = "application/json", headers: dict[str, str] | None = None
    ) -> None:
        given = {"content-type": kind, **(headers or {})}
        pairs = [(name.encode(), value.encode()) for name, value in given.items()]
        await self.send({"type": "http.response.start", "status": status, "headers": pairs})

    async def body(self, data: bytes, *, more: bool = False) -> None:
        await self.send({"type": "http.response.body", "body": data, "more_body": more})

    async def answer(self, result: object, headers: dict[str, str] | None = None) -> None:
        await self.begin(headers=headers)
        await self.body(orjson.dumps({"jsonrpc": "2.0", "id": self.id, "result": result}))

    async def status(self, status: int, text: str = "", **headers: str) -> None:
        await self.begin(status, "text/plain", {name.replace("_", "-"): value for name, value in headers.items()})
        await self.body(text.encode())


Does = Callable[[Asked], Awaitable[None]]


@dataclass
class Hostile:
    """``does``: what it does with a question of this method; ``asked``: every one, in order; ``listened``: how often its stream was opened."""

    does: dict[str, Does] = field(default_factory=dict[str, Does])
    asked: list[Asked] = field(default_factory=list[Asked])
    listened: int = 0
    listen: Does | None = None

    async def __call__(self, scope: Any, receive: Any, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        data = b""
        while (part := await receive()).get("more_body"):
            data += part["body"]
        data += part.get("body", b"")
        if scope["method"] == "GET":
            self.listened += 1
            one = Asked("GET", None, {}, headers, send)
            await (self.listen or _not_allowed)(one)
            return
        message: dict[str, Any] = orjson.loads(data) if data else {}
        one = Asked(
            message.get("method", scope["method"]), message.get("id"), message.get("params") or {}, headers, send
        )
        self.asked.append(one)
        await self.does.get(one.method, usual)(one)

    def of(self, method: str) -> list[Asked]:
        return [one for one in self.asked if one.method == method]


async def _not_allowed(one: Asked) -> None:
    await one.status(405)


_CAN: dict[str, dict[str, Any]] = {"tools": {}}


async def usual(one: Asked) -> None:
    """What a server does that keeps to the protocol."""
    if one.method == "initialize":
        about = {"protocolVersion": "2025-06-18", "capabilities": _CAN, "serverInfo": {"name": "h", "version": "1"}}
        await one.answer(about, {"mcp-session-id": "s1"})
    elif one.id is None:
        await one.status(202)
    else:
        await one.answer({"content": [{"type": "text", "text": "fine"}]})


async def drip(one: Asked) -> None:
    """An answer that comes a byte at a time, for longer than anybody waits."""
    await one.begin(kind="text/event-stream")
    for _ in range(150):
        await one.body(b":", more=True)
        await asyncio.sleep(0.02)


async def flood(one: Asked) -> None:
    """Events, more than anybody reads."""
    await one.begin(kind="text/event-stream")
    note = orjson.dumps(
        {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 1000}}
    )
    for _ in range(300):
        await one.body(b"event: message\ndata: " + note + b"\n\n", more=True)
        await asyncio.sleep(0)


async def hang_up(one: Asked) -> None:
    """The beginning of an answer, and nothing more."""
    await one.begin(kind="text/event-stream")
    await one.body(b'event: message\ndata: {"json', more=False)


async def half(one: Asked) -> None:
    """A connection that breaks in the middle of an answer."""
    await one.begin(headers={"content-length": "1000"})
    await one.body(b'{"jsonrpc": "2.0", "id"', more=True)
    raise ConnectionAbortedError("on purpose")
