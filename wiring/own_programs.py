"""Programs and single calls that a person writes over a store's tools, checked before anything is called."""

import builtins
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from pydantic.types import JsonValue

from agent.execution.caller_supplied import NamesOnce, SecretNames, advise_on_secrets, with_supplied
from agent.execution.validation import why_unsendable
from agent.plans.checked_plan import CheckedPlan, checked
from agent.programs.names import FOUND, tool_names
from agent.programs.signatures import Signature, signature
from agent.text import clean, title
from domain.errors import UsageError
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.source_text import parse_source
from domain.tool import ToolDoc, ToolId
from graph.description import find
from wiring.container import Container

_NAMED = re.compile(r"`(\w+)`")
"""Names of a program as complaints write them."""


async def own_program(
    container: Container,
    text: str,
    inputs: Mapping[str, JsonObject],
    values: Mapping[str, JsonValue] | None = None,
    tools: Mapping[str, str] | None = None,
) -> ProgramPlan:
    """Return the plan that a text is.

    ``inputs``: names that it uses, each with its JSON Schema; ``values``: their values, as far as known. ``tools``: ids
    of tools that it calls by these names; others are found by their own names.

    Raises:
        UsageError: all that is wrong with it, by line; or it names a tool that is not there.
    """
    told = {name: ToolId(tool) for name, tool in (tools or {}).items()}
    docs = await _tools_in(text, {*inputs, *told}, container)
    names = {name: doc.id for name, doc in tool_names(docs)} | told
    there = {doc.id: doc for doc in docs} | await container.graph.get_tools(told.values())
    secrets = NamesOnce(await container.secrets())
    there = {tool: await with_supplied(doc, secrets) for tool, doc in there.items()}
    if gone := sorted(set(told.values()) - there.keys()):
        raise UsageError(
            f"no such tool is in this store: {', '.join(gone)[:300]}; open the store that has it, or import it"
        )
    found = await checked(text, inputs, names, there, container.sandbox(), values=values or {})
    refuse(found, await advise_on_complaints(found, {name: there[tool] for name, tool in names.items()}, secrets))
    return found.plan


@dataclass(frozen=True, slots=True)
class OwnCall:
    """One call as a plan."""

    request: str
    """Description of the call, in words."""
    plan: ProgramPlan


async def own_call(container: Container, tool: str, arguments: Mapping[str, JsonValue]) -> OwnCall:
    """Return one call of a tool as a plan.

    Its values may come from anybody, so its text counts as written with answers of APIs in view.

    Raises:
        UsageError: no such tool, or what is wrong with the arguments.
    """
    _check_arguments(arguments)
    found = await find(container.graph, tool)
    doc = (await container.graph.get_tools([found])).get(found)
    if doc is None:
        raise UsageError(f"no document of {tool[:200]!r} is known: import one that describes it")
    secrets = NamesOnce(await container.secrets())
    doc = await with_supplied(doc, secrets)
    shown = signature(doc)
    text = _one_call(shown, arguments)
    made = await checked(text, {}, {shown.name: doc.id}, {doc.id: doc}, container.sandbox())
    if made.complaints:
        advice = await advise_on_complaints(made, {shown.name: doc}, secrets)
        raise UsageError("\n".join([*(one.message for one in made.complaints), *advice]))
    program = made.plan.program.model_copy(update={"tainted": True})
    return OwnCall(f"Call {title(doc)}.", made.plan.model_copy(update={"program": program}))


def _check_arguments(arguments: object) -> None:
    """Refuse values that cannot be sent as JSON before a program is written with them. ``UsageError``."""
    if not isinstance(arguments, Mapping):
        raise UsageError(f"arguments must be a mapping of names to values, not {type(arguments).__name__}")
    for name, value in cast("Mapping[object, object]", arguments).items():
        if not isinstance(name, str):
            raise UsageError(f"arguments must be named by texts, not by {name!r}"[:200])
        if why := why_unsendable(cast(JsonValue, value)):
            raise UsageError(f"{clean(name, 80)} {why}")


def _one_call(shown: Signature, given: Mapping[str, JsonValue]) -> str:
    """Write a call with these arguments, under the function's names for its parameters or the tool's own."""
    names = {own: name for name, own in shown.arguments.items()}
    told = {name if name in shown.arguments else names.get(name, name): value for name, value in given.items()}
    if strange := [name for name in told if name not in shown.arguments]:
        raise UsageError(
            f"{shown.name} has no parameter {clean(strange[0], 80)}; there are: {', '.join(shown.arguments) or 'none'}"
        )
    return f"await {shown.name}({', '.join(f'{name}={value!r}' for name, value in told.items())})"


def schema_of(value: JsonValue) -> JsonObject:
    """Return the JSON Schema of a value's kind, as far as one value shows it."""
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
    """Return the tools that a text calls by their names. ``known``: names with another meaning."""
    try:
        source = parse_source(text)
    except SyntaxError as error:
        raise UsageError(f"line {error.lineno}: this is no Python: {error.msg}") from error
    own = {*FOUND, *known, *source.names_bound, *dir(builtins), ""}
    named = {call.name for call in source.calls} - own
    ids = [await find(container.graph, name) for name in sorted(named)]
    return list((await container.graph.get_tools(ids)).values())


def refuse(found: CheckedPlan, advice: Sequence[str] = ()) -> None:
    """Raise ``UsageError`` with the complaints about a program, if there are any, followed by ``advice``."""
    wrong = [f"line {one.line}: {one.message}" if one.line else one.message for one in found.complaints]
    if wrong:
        raise UsageError("\n".join([*wrong, *advice]))


async def advise_on_complaints(found: CheckedPlan, functions: Mapping[str, ToolDoc], secrets: SecretNames) -> list[str]:
    """Explain how to give the secrets for arguments that the complaints name.

    ``functions``: the functions that the program calls, by their names in it.
    """
    named = {name for one in found.complaints for name in _NAMED.findall(one.message)}
    lines: list[str] = []
    for function, doc in functions.items():
        lacking = {own for name, own in signature(doc).arguments.items() if name in named}
        if function in named and lacking:
            lines += await advise_on_secrets(doc, secrets, lacking)
    return [f"{line}." for line in dict.fromkeys(lines)]
