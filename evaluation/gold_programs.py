"""What a right answer holds, computed: a request's own program is run over the service's HTTP operations, and says it.

A program is a text like those that models write: operations are async functions with keyword arguments. Its last expression is a dict with what
:class:`~evaluation.expected.Expected` has: ``numbers``, ``texts``, ``dates``, and ``evidence``, which makes the values *computed*; of a change,
whatever was changed is in the service's ledger.
"""

import ast
import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx

from domain.errors import UsageError
from domain.model import JsonObject
from domain.tool import ToolDoc
from evaluation.expected import Asked, Change, Expected
from playground.calls import send

_TRIES = 3
_PASSING = (408, 429, 500, 503)
Operation = Callable[..., Awaitable[Any]]


class CallRefusedError(Exception):
    """A service answered a call of a program with an error."""


class GoldService:
    """A running service as programs see it. ``client`` holds its address, ``tools`` are its operations by name."""

    def __init__(self, client: httpx.Client, tools: Mapping[str, ToolDoc]) -> None:
        self._client, self._tools = client, tools

    def operations(self) -> dict[str, Operation]:
        """Every operation as an async function, which tries again what fails for a moment."""
        return {name: self._operation(tool) for name, tool in self._tools.items()}

    def reset(self) -> None:
        """Undo every change."""
        self._client.post("/_reset").raise_for_status()

    def made(self) -> list[Change]:
        """What was changed since the reset."""
        effects = self._client.get("/_ledger").raise_for_status().json()
        return [Change(operation=one["tool"], arguments=one["arguments"]) for one in effects]

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


def with_expectations(asked: Asked, service: GoldService) -> Asked:
    """The request with what its program says: expected values and changes. Of the changes that a line has, it keeps the arguments that are there.

    Raises:
        UsageError: its program breaks off, or says nothing that can be expected.
    """
    service.reset()
    try:
        value = asyncio.run(value_of(asked.program, service.operations()))
        expected = Expected.model_validate({"computed": "evidence" in value, **value})
    except (CallRefusedError, ArithmeticError, LookupError, TypeError, ValueError, SyntaxError, NameError) as error:
        raise UsageError(f"the program of {asked.id} does not work: {type(error).__name__}: {error}") from error
    made = service.made()
    kept = [before.arguments.keys() for before in asked.changes] if len(asked.changes) == len(made) else []
    if kept:
        made = [
            Change(operation=one.operation, arguments={name: one.arguments.get(name) for name in names})
            for one, names in zip(made, kept, strict=True)
        ]
    return asked.model_copy(update={"expect": expected, "changes": tuple(made), "alone": bool(made)})


async def value_of(program: str, names: Mapping[str, Any]) -> JsonObject:
    """The value of a program's last expression. It is ours, and run as it is."""
    tree = ast.parse(program)
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = ast.copy_location(ast.Assign([ast.Name("_value", ast.Store())], last.value), last)
    found: dict[str, Any] = dict(names)
    code = compile(ast.fix_missing_locations(tree), "program", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    running: object = eval(code, found)  # noqa: S307 (a program of our own request files)
    if isinstance(running, Awaitable):
        await running
    return found["_value"]
