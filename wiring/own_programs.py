"""A person's program over the tools of an open store: read, its tools found by their names, checked before anything is called."""

import ast
import builtins
from collections.abc import Collection, Mapping

from pydantic.types import JsonValue

from agent.plans.checked_plan import CheckedPlan, checked
from agent.programs.names import FOUND, tool_names
from agent.programs.reading import bound_names, calls
from domain.errors import UsageError
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.tool import ToolDoc, ToolId
from graph.description import find
from wiring.container import Container


async def own_program(
    container: Container,
    text: str,
    inputs: Mapping[str, JsonObject],
    values: Mapping[str, JsonValue] | None = None,
    tools: Mapping[str, str] | None = None,
) -> ProgramPlan:
    """The plan that a text is. ``inputs``: names that it uses, each with its JSON Schema; ``values``: theirs, as far as they are known.
    ``tools``: the ids of those that it calls by these names; others are found by theirs.

    Raises:
        UsageError: all that is wrong with it, by line; or it names a tool that is not there.
    """
    told = {name: ToolId(tool) for name, tool in (tools or {}).items()}
    docs = await _tools_in(text, {*inputs, *told}, container)
    names = {name: doc.id for name, doc in tool_names(docs)} | told
    there = {doc.id: doc for doc in docs} | await container.graph.get_tools(told.values())
    if gone := sorted(set(told.values()) - there.keys()):
        raise UsageError(
            f"no such tool is in this store: {', '.join(gone)[:300]}; open the store that has it, or import it"
        )
    found = await checked(text, inputs, names, there, container.sandbox(), values=values or {})
    refuse(found)
    return found.plan


def schema_of(value: JsonValue) -> JsonObject:
    """The JSON Schema of what a value is, as far as one value tells."""
    match value:
        case bool():
            return {"type": "boolean"}
        case int():
            return {"type": "integer"}
        case float():
            return {"type": "number"}
        case str():
            return {"type": "string"}
        case list():
            return {"type": "array", **({"items": schema_of(value[0])} if value else {})}
        case dict():
            return {"type": "object", "properties": {name: schema_of(one) for name, one in value.items()}}
        case None:
            return {}


async def _tools_in(text: str, known: Collection[str], container: Container) -> list[ToolDoc]:
    """Those that a text calls by their names. ``known``: names that stand for something else."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise UsageError(f"line {error.lineno}: this is no Python: {error.msg}") from error
    own = {*FOUND, *known, *bound_names(tree), *dir(builtins)}
    named = {one.func.id for one in calls(tree) if isinstance(one.func, ast.Name)} - own
    ids = [await find(container.graph, name) for name in sorted(named)]
    return list((await container.graph.get_tools(ids)).values())


def refuse(found: CheckedPlan) -> None:
    """``UsageError`` with what is wrong with a program, if anything is."""
    wrong = [f"line {one.line}: {one.message}" if one.line else one.message for one in found.complaints]
    if wrong:
        raise UsageError("\n".join(wrong))
