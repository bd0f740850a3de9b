"""What is done with the library of a store from the command line."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from orjson import JSONDecodeError, loads

from agent.plans.plan_text_check import check_plan
from agent.solutions.conversion import build_solution_from_plan
from agent.solutions.drift import find_drifted_tools
from agent.solutions.patterns import list_inputs
from domain.errors import UsageError
from domain.model import JsonObject
from domain.solution import Solution
from domain.tool import ToolId
from graph.tool_description import find_tool
from wiring.container import Container
from wiring.user_programs import plan_user_program, raise_complaints


async def listed(container: Container, request: str, tool: str, limit: int) -> list[tuple[Solution, float | None]]:
    """Solutions, with their likeness to a request where one is given."""
    if request:
        near = await (await container.solutions()).find_near(request, limit)
        return [(one.solution, one.likeness) for one in near]
    kept = await container.solution_store()
    if tool:
        return [(one, None) for one in (await kept.list_by_tools([await find_tool(container.graph, tool)]))[:limit]]
    found: list[tuple[Solution, float | None]] = []
    async for one in kept.stream_all():
        found.append((one, None))
        if len(found) == limit:
            break
    return found


async def shown(container: Container, begins: str) -> tuple[Solution, list[ToolId]]:
    """A solution, and its tools that have drifted or are gone."""
    one = await found(container, begins)
    docs = await container.graph.get_tools(one.path)
    return one, [*(tool for tool in one.path if tool not in docs), *find_drifted_tools(one, docs)]


async def forgotten(container: Container, begins: str) -> str:
    """Its id."""
    one = await found(container, begins)
    await (await container.solutions(one.owner)).forget([one.id])
    return one.id


async def promoted(container: Container, begins: str) -> str:
    """The id of what all share."""
    one = await found(container, begins)
    return await (await container.solutions(one.owner)).share(one.id)


async def taken_up(container: Container, begins: str) -> str:
    """Its id, once it was checked. ``UsageError``: what is wrong with it."""
    one = await found(container, begins)
    program = one.plan.program
    docs = await container.graph.get_tools(program.tools.values())
    raise_complaints(
        await check_plan(program.text, one.plan.inputs, program.tools, docs, container.sandbox(), values={})
    )
    await (await container.solutions(one.owner)).reinstate(one.id)
    return one.id


async def added(container: Container, file: Path, patterns: Sequence[str], told_inputs: Sequence[str]) -> str:
    """The id that a person's program is kept under. ``UsageError``: what is wrong with it."""
    inputs = dict(map(_input, told_inputs))
    if left := sorted({name for one in patterns for name in list_inputs(one)} - inputs.keys()):
        raise UsageError(f"the pattern names {left[0]}, which is no input: add --input {left[0]}=string, or its type")
    text = await asyncio.to_thread(file.read_text, encoding="utf-8")
    plan = await plan_user_program(container, text, inputs)
    one = build_solution_from_plan(plan, patterns, container.settings.owner, "person")
    return (await (await container.solutions()).add([one]))[0]


async def found(container: Container, begins: str) -> Solution:
    kept = await container.solution_store()
    if (whole := (await kept.get([begins])).get(begins)) is not None:
        return whole
    alike = [one async for one in kept.stream_all() if begins and one.id.startswith(begins)]
    if len(alike) != 1:
        several = f"{len(alike)} solutions begin so" if alike else "there is no such solution"
        raise UsageError(f"{several}: {begins!r}; python scripts/solutions.py list names them")
    return alike[0]


def _input(told: str) -> tuple[str, JsonObject]:
    name, _, schema = told.partition("=")
    if not schema.startswith("{"):
        return name, {"type": schema or "string"}
    try:
        return name, loads(schema)
    except JSONDecodeError as error:
        raise UsageError(f"the JSON Schema of {name} cannot be read: {error}") from error
