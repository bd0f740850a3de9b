"""Programs and single calls that a person writes over a store's tools, checked before anything is called."""

import builtins
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from pydantic.types import JsonValue

from agent.execution.supplied_values import (
    CachedSecretNames,
    SecretNames,
    apply_supplied_values,
    describe_missing_secrets,
)
from agent.execution.validation import explain_unsendable
from agent.plans.plan_text_check import CheckedPlan, check_plan
from agent.programs.function_names import PROGRAM_NAMES, assign_tool_names
from agent.programs.signatures import ToolSignature, build_signature
from agent.text import clean_text, format_tool_title
from domain.errors import UsageError
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.source_text import parse_source
from domain.tool import ToolDoc, ToolId
from graph.tool_description import find_tool
from wiring.container import Container

_QUOTED_NAME = re.compile(r"`(\w+)`")
"""Names of a program as complaints write them."""


async def plan_user_program(
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
    tool_ids = {name: ToolId(tool) for name, tool in (tools or {}).items()}
    docs = await _find_tools(text, {*inputs, *tool_ids}, container)
    names = {name: doc.id for name, doc in assign_tool_names(docs)} | tool_ids
    known_docs = {doc.id: doc for doc in docs} | await container.graph.get_tools(tool_ids.values())
    secrets = CachedSecretNames(await container.secrets())
    known_docs = {tool: await apply_supplied_values(doc, secrets) for tool, doc in known_docs.items()}
    if missing := sorted(set(tool_ids.values()) - known_docs.keys()):
        raise UsageError(
            f"no such tool is in this store: {', '.join(missing)[:300]}; open the store that has it, or import it"
        )
    checked_program = await check_plan(text, inputs, names, known_docs, container.sandbox(), values=values or {})
    raise_complaints(
        checked_program,
        await advise_on_complaints(checked_program, {name: known_docs[tool] for name, tool in names.items()}, secrets),
    )
    return checked_program.plan


@dataclass(frozen=True, slots=True)
class CallPlan:
    """One call as a plan."""

    request: str
    """Description of the call, in words."""
    plan: ProgramPlan


async def plan_call(container: Container, tool: str, arguments: Mapping[str, JsonValue]) -> CallPlan:
    """Return one call of a tool as a plan.

    Its values may come from anybody, so its text counts as written with answers of APIs in view.

    Raises:
        UsageError: no such tool, or what is wrong with the arguments.
    """
    _check_arguments(arguments)
    tool_id = await find_tool(container.graph, tool)
    doc = (await container.graph.get_tools([tool_id])).get(tool_id)
    if doc is None:
        raise UsageError(f"no document of {tool[:200]!r} is known: import one that describes it")
    secrets = CachedSecretNames(await container.secrets())
    doc = await apply_supplied_values(doc, secrets)
    tool_signature = build_signature(doc)
    text = _write_call(tool_signature, arguments)
    checked_call = await check_plan(text, {}, {tool_signature.name: doc.id}, {doc.id: doc}, container.sandbox())
    if checked_call.complaints:
        advice = await advise_on_complaints(checked_call, {tool_signature.name: doc}, secrets)
        raise UsageError("\n".join([*(complaint.message for complaint in checked_call.complaints), *advice]))
    program = checked_call.plan.program.model_copy(update={"tainted": True})
    return CallPlan(f"Call {format_tool_title(doc)}.", checked_call.plan.model_copy(update={"program": program}))


def _check_arguments(arguments: object) -> None:
    """Refuse values that cannot be sent as JSON before a program is written with them. ``UsageError``."""
    if not isinstance(arguments, Mapping):
        raise UsageError(f"arguments must be a mapping of names to values, not {type(arguments).__name__}")
    for name, value in cast("Mapping[object, object]", arguments).items():
        if not isinstance(name, str):
            raise UsageError(f"arguments must be named by texts, not by {name!r}"[:200])
        if why := explain_unsendable(cast(JsonValue, value)):
            raise UsageError(f"{clean_text(name, 80)} {why}")


def _write_call(tool_signature: ToolSignature, arguments: Mapping[str, JsonValue]) -> str:
    """Write a call with these arguments, under the function's names for its parameters or the tool's own."""
    names = {own_name: name for name, own_name in tool_signature.arguments.items()}
    named_arguments = {
        name if name in tool_signature.arguments else names.get(name, name): value for name, value in arguments.items()
    }
    if unknown_names := [name for name in named_arguments if name not in tool_signature.arguments]:
        raise UsageError(
            f"{tool_signature.name} has no parameter {clean_text(unknown_names[0], 80)}; there are: {', '.join(tool_signature.arguments) or 'none'}"
        )
    return f"await {tool_signature.name}({', '.join(f'{name}={value!r}' for name, value in named_arguments.items())})"


def infer_schema(value: JsonValue) -> JsonObject:
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
            return {"type": "array", **({"items": infer_schema(value[0])} if value else {})}
        case dict():
            return {"type": "object", "properties": {name: infer_schema(item) for name, item in value.items()}}
        case None:
            return {}


async def _find_tools(text: str, known_names: Collection[str], container: Container) -> list[ToolDoc]:
    """Return the tools that a text calls by their names. ``known_names``: names with another meaning."""
    try:
        source = parse_source(text)
    except SyntaxError as error:
        raise UsageError(f"line {error.lineno}: this is no Python: {error.msg}") from error
    excluded = {*PROGRAM_NAMES, *known_names, *source.bound_names, *dir(builtins), ""}
    called = {call.name for call in source.calls} - excluded
    ids = [await find_tool(container.graph, name) for name in sorted(called)]
    return list((await container.graph.get_tools(ids)).values())


def raise_complaints(checked_program: CheckedPlan, advice: Sequence[str] = ()) -> None:
    """Raise ``UsageError`` with the complaints about a program, if there are any, followed by ``advice``."""
    messages = [
        f"line {complaint.line}: {complaint.message}" if complaint.line else complaint.message
        for complaint in checked_program.complaints
    ]
    if messages:
        raise UsageError("\n".join([*messages, *advice]))


async def advise_on_complaints(
    checked_program: CheckedPlan, functions: Mapping[str, ToolDoc], secrets: SecretNames
) -> list[str]:
    """Explain how to give the secrets for arguments that the complaints name.

    ``functions``: the functions that the program calls, by their names in it.
    """
    complained_names = {
        name for complaint in checked_program.complaints for name in _QUOTED_NAME.findall(complaint.message)
    }
    lines: list[str] = []
    for function, doc in functions.items():
        lacking = {own_name for name, own_name in build_signature(doc).arguments.items() if name in complained_names}
        if function in complained_names and lacking:
            lines += await describe_missing_secrets(doc, secrets, lacking)
    return [f"{line}." for line in dict.fromkeys(lines)]
