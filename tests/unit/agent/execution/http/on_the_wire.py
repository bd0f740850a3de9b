"""From a document of one operation to the bytes that a server gets: imported, checked and called."""

import asyncio
import json
from pathlib import Path
from typing import Any

from pydantic.types import JsonValue

from agent.execution.validation import validate_arguments
from domain.model import JsonObject
from domain.tool import ToolDoc
from graph.importers.openapi import read_openapi
from tests.support.scripted_http_server import reply, serving
from tests.unit.agent.execution.http.calling import executor

LIST: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
OBJECT: dict[str, Any] = {"type": "object", "properties": {"R": {"type": "integer"}, "G": {"type": "integer"}}}
COLOURS: list[JsonValue] = ["blue", "black", "brown"]
RGB: dict[str, JsonValue] = {"R": 100, "G": 200}
OK: dict[str, Any] = {"200": {"description": "ok"}}


def document(folder: Path, paths: dict[str, Any], server: str) -> list[ToolDoc]:
    path = folder / "api.json"
    told = {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "servers": [{"url": server + "/v1"}]}
    path.write_text(json.dumps({**told, "paths": paths}))
    return list(read_openapi(path))


async def sent(
    folder: Path, route: str, operation: dict[str, Any], arguments: JsonObject, method: str = "get"
) -> bytes:
    async with serving(reply()) as served, executor(served) as made:
        paths = {route: {method: {**operation, "responses": OK}}}
        (tool,) = await asyncio.to_thread(document, folder, paths, served.url)
        result = await made.call(tool, validate_arguments(tool, arguments))
        assert result.outcome == "ok"
        (request,) = served.requests
        return request


def target(request: bytes) -> str:
    return request.split(b" ", 2)[1].decode().removeprefix("/v1")


def header(request: bytes, name: str) -> str:
    lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    return next((line.partition(": ")[2] for line in lines if line.lower().startswith(f"{name}:")), "")


def body(request: bytes) -> bytes:
    return request.partition(b"\r\n\r\n")[2]


def posting(schema: dict[str, Any], media: str = "application/json", **more: Any) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {media: {"schema": schema, **more}}}}
