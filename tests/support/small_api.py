"""A small HTTP server of a test's own: what it answers by path, and what it was asked."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.support.stream_server import read_request, serve_connections


@dataclass
class SmallApi:
    """``answers``: JSON by path; another path is not found. ``asked``: method and path of each request, in order."""

    port: int = 0
    answers: dict[str, Any] = field(default_factory=dict[str, Any])
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, target, _ = (await read_request(reader)).decode("latin-1").split(" ", 2)
        path = target.partition("?")[0]
        self.asked.append((method, path))
        found = self.answers.get(path)
        body = json.dumps({"error": "nothing here"} if found is None else found).encode()
        status = "404 Not Found" if found is None else "200 OK"
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + body)


@asynccontextmanager
async def small_api(**answers: Any) -> AsyncGenerator[SmallApi]:
    """One that listens, on this machine only."""
    api = SmallApi(answers={f"/{path}": one for path, one in answers.items()})
    async with serve_connections(api.answer) as api.port:
        yield api


def operation(name: str, **more: Any) -> dict[str, Any]:
    """An operation of a document."""
    answers = {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "object"}}}}}
    told = {
        "operationId": name,
        "summary": f"Tells the {name} of the harbour, one after another.",
        "responses": answers,
    }
    return {**told, **more}


def document(url: str, *operations: dict[str, Any], title: str = "Harbour") -> dict[str, Any]:
    """An OpenAPI document: each operation is a GET of the path that is its name."""
    paths = {f"/{one['operationId']}": {"get": one} for one in operations}
    return {"openapi": "3.0.3", "info": {"title": title, "version": "1"}, "servers": [{"url": url}], "paths": paths}
