"""Programs of ours over a running service: texts like those that models write, whose last expression says what a right answer holds.

Operations are async functions with keyword arguments; what a program changes is in the service's ledger.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from domain.model import JsonObject
from domain.python_source import compile_with_value
from domain.tool import ToolDoc
from graph.input_files import read_tools
from playground.calls import send

_TRIES = 3
_PASSING = (408, 429, 500, 503)
Operation = Callable[..., Awaitable[Any]]


class CallRefusedError(Exception):
    """A service answered a call of a program with an error."""


class GoldService:
    """A running service as programs see it. ``client`` holds its address."""

    def __init__(self, client: httpx.Client) -> None:
        self._client, self._tools = client, tools_of(client.get("/openapi.json").raise_for_status().content)

    def operations(self) -> dict[str, Operation]:
        """Every operation as an async function, which tries again what fails for a moment."""
        return {name: self._operation(tool) for name, tool in self._tools.items()}

    def reset(self) -> None:
        """Undo every change."""
        self._client.post("/_reset").raise_for_status()

    def made(self) -> list[tuple[str, JsonObject]]:
        """What was changed since the reset: operations with their arguments."""
        effects = self._client.get("/_ledger").raise_for_status().json()
        return [(one["tool"], one["arguments"]) for one in effects]

    def _operation(self, tool: ToolDoc) -> Operation:
        async def call(**arguments: Any) -> Any:
            response = send(self._client, tool, arguments)
            for _ in range(_TRIES - 1):
                if response.status_code in _PASSING:
                    response = send(self._client, tool, arguments)
            if response.status_code >= httpx.codes.BAD_REQUEST:
                raise CallRefusedError(f"{tool.api} {arguments}: {response.status_code} {response.text}")
            return response.json() if response.content else None

        return call


async def value_of(program: str, names: dict[str, Any]) -> JsonObject:
    """The value of a program's last expression. It is ours, and run as it is; what it names stands in ``names`` afterwards."""
    running: object = eval(compile_with_value(program, "_value"), names)  # noqa: S307 (a program of our own request files)
    if isinstance(running, Awaitable):
        await running
    return names["_value"]


def tools_of(document: bytes) -> dict[str, ToolDoc]:
    """The operations of an OpenAPI document by their names."""
    with TemporaryDirectory() as folder:
        catalogue = Path(folder) / "openapi.json"
        catalogue.write_bytes(document)
        return {doc.api: doc for doc in read_tools(catalogue) if isinstance(doc, ToolDoc)}
