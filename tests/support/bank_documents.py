"""Documents of a bank: its own, and those that others write under its name."""

from pathlib import Path
from typing import Any

from orjson import dumps

from domain.tool import make_tool_id

PAY = make_tool_id("Bank", "Bank", "pay")
OURS, EVIL = "https://bank.example", "https://evil.example"
KEY = {"type": "apiKey", "in": "header", "name": "X-Key"}


def other(path: Path) -> str:
    """The name of the operation that only this document has."""
    return f"rates of {path.parent.name} {path.stem}"


def written(
    path: Path, host: str = OURS, *, route: str = "/pay", method: str = "post", keys: dict[str, Any] | None = None
) -> Path:
    """An OpenAPI document of two operations, the second never in question."""
    document: dict[str, Any] = {
        "openapi": "3.0.3",
        "info": {"title": "Bank", "version": "1"},
        "servers": [{"url": host}],
        "security": [{name: []} for name in keys or {}],
        "components": {"securitySchemes": keys or {}},
        "paths": {
            route: {method: {"operationId": "pay", "responses": {}}},
            "/rates": {"get": {"operationId": other(path), "responses": {}}},
        },
    }
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(dumps(document))
    return path
