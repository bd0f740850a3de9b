"""Solutions as prompts: what a client's user picks from a menu and fills in, served by a program that is known to serve."""

import json
from collections.abc import Mapping

from mcp.types import GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

from agent.plans.plan_inputs import build_shown_schemas, set_input_values
from agent.text import clean_text
from domain.errors import FootpathError, UsageError
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.solution import Solution
from server.gateway.backend import Backend

_LISTED = 50
"""Solutions that are prompts: those that served most often."""


async def prompts(backend: Backend) -> list[Prompt]:
    """The solutions that may be taken; none where they are out of reach, which is said where one is asked for."""
    try:
        library = await backend.container.solutions(backend.owner)
        found = [one async for one in library.iterate_all() if not one.suspended and one.patterns]
    except FootpathError:
        return []
    found.sort(key=lambda one: (one.bad - one.good, one.id))
    return [_prompt(one) for one in found[:_LISTED]]


async def prompt(name: str, given: Mapping[str, str], backend: Backend) -> GetPromptResult:
    """A solution's request with these values, and how to have it served."""
    found = await solution_named(name, backend)
    plan, faults = set_input_values(found.plan, given)
    if faults:
        raise UsageError(" ".join(f"{one}: {told}" if one else told for one, told in faults))
    request = _worded(found, plan)
    call = json.dumps({"request": request, "solution": found.id, "inputs": dict(given)}, ensure_ascii=False)
    text = f"{request}\n\nServe this with Footpath's tool run_program: {call}"
    message = PromptMessage(role="user", content=TextContent(type="text", text=text))
    return GetPromptResult(description=clean_text(found.patterns[0], 300), messages=[message])


async def solution_named(name: str, backend: Backend) -> Solution:
    """``UsageError``: there is none, or it is not taken at present."""
    library = await backend.container.solutions(backend.owner)
    found = (await library.get([name])).get(name)
    if found is None:
        raise UsageError(f"there is no solution {clean_text(name, 80)}; the list of prompts names those that there are")
    if found.suspended:
        raise UsageError(f"this solution is not taken at present: {clean_text(found.suspended, 200)}; use ask instead")
    return found


def _prompt(one: Solution) -> Prompt:
    arguments = [
        PromptArgument(name=name, description=clean_text(_kind(schema), 200) or None, required="default" not in schema)
        for name, schema in build_shown_schemas(one.plan).items()
    ]
    words = clean_text(one.patterns[0], 300)
    return Prompt(name=one.id, title=words, description=words, arguments=arguments)


def _kind(schema: JsonObject) -> str:
    told = schema.get("description") or schema.get("type") or ""
    allowed = schema.get("enum")
    return f"{told} {'one of ' + ', '.join(map(str, allowed)) if isinstance(allowed, list) else ''}".strip()


def _worded(found: Solution, plan: ProgramPlan) -> str:
    """The request that a solution serves with these values."""
    words = found.patterns[0]
    for name, schema in plan.inputs.items():
        value = plan.values.get(name, schema.get("default"))
        words = words.replace(f"{{{name}}}", clean_text(value if isinstance(value, str) else json.dumps(value), 400))
    return clean_text(words, 2000)
