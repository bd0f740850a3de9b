"""A plan that waits, as it is shown: its program, the steps that it is, what is wrong with it, what it may call, and what could be put into it."""

import asyncio
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from agent.execution.validation import build_arguments_schema
from agent.plans.plan_drafts import suggest_tools
from agent.plans.plan_text_check import PlanComplaint
from agent.plans.plan_validation import PlanProblem
from agent.programs.analysis.program_flow import find_call_dependencies
from agent.programs.function_names import assign_names
from agent.programs.signatures import ToolSignature
from domain.model import JsonObject
from domain.plan import PlanDocument, Take
from domain.program import Program
from domain.source_text import try_parse_source
from domain.tool import ToolDoc, ToolId
from server.runs.waiting_plans import CheckedOpenPlan, PlanFunctions, WaitingPlan

_MOST_FEEDS = 500
"""That are told of a plan."""


class ShownTool(BaseModel):
    """``parameters``: JSON Schema of a call's arguments. ``changes``: calling it may change something; ``why``: by which source; ``host``: where it goes."""

    id: ToolId
    api: str
    description: str
    changes: bool
    why: str
    host: str
    parameters: JsonObject


class ShownFunction(BaseModel):
    """What a text may call. ``declaration``: its signature, as Python; ``call``: an expression that calls it, with ``fill()`` for what it needs."""

    name: str
    tool: ToolId
    declaration: str
    call: str
    used: bool


class PlannedCall(BaseModel):
    """A call as it stands in the text. ``place``: where it begins, in UTF-8 bytes; ``line`` from 1. ``changes``: it may change something."""

    place: int
    line: int
    function: str
    tool: ToolId
    changes: bool


class PlannedFeed(BaseModel):
    """The call at the place ``target`` takes values of what the one at ``source`` answers."""

    source: int
    target: int


class ShownProgram(BaseModel):
    """``text``: as it was written. ``inputs``: JSON Schemas; ``values``: of this run. ``complaints``: by line and column, from 1. ``speaks``: it makes an answer
    of its own, which would be lost where it is edited as steps. ``calls``, ``feeds`` and ``answer`` (the places of calls whose answers its own takes values
    of): what it does, whatever is answered.
    """

    text: str
    inputs: dict[str, JsonObject]
    values: JsonObject
    functions: list[ShownFunction]
    complaints: tuple[PlanComplaint, ...]
    speaks: bool
    calls: list[PlannedCall]
    feeds: list[PlannedFeed]
    answer: list[int]


class ShownSuggestion(BaseModel):
    """``after``: the step behind which a tool could come; None: it is offered for the request, wherever it may serve. ``code``: a line that calls it."""

    after: int | None
    tool: ToolId
    api: str
    reason: str
    weight: float | None = None
    fills: dict[str, Take]
    code: str


class ShownPlan(BaseModel):
    """``document``: the steps, where the plan is no more than steps; else None, and ``why_no_steps``. ``given``: the tools of the steps of other subtasks that it
    builds on: steps 1 to their number, its own come after them; in a text they are ``earlier``.
    """

    version: int
    input: str
    program: ShownProgram
    document: PlanDocument | None
    why_no_steps: str
    given: tuple[ToolId, ...]
    tools: list[ShownTool]
    problems: tuple[PlanProblem, ...]
    suggestions: list[ShownSuggestion]


async def shown_plan(plan: WaitingPlan, told: CheckedOpenPlan, functions: PlanFunctions, depth: int) -> ShownPlan:
    """A plan as it stands. ``depth``: how many steps a list of them may have, for steps to be suggested."""
    signatures = await asyncio.to_thread(functions.build_signatures)
    proposed = await _suggestions(plan, told, functions, signatures, depth)
    drawn = told.plan.program.model_copy(update={"tools": told.executable.program.tools})
    known = dict(functions.docs) | {one.tool: functions.evidence.doc(one.tool) for one in proposed}
    return ShownPlan(
        version=plan.version,
        input=plan.input,
        program=ShownProgram(
            text=told.plan.program.text,
            inputs=told.plan.inputs,
            values=told.plan.values,
            functions=_functions(signatures, functions, told.executable.program.tools),
            complaints=told.complaints,
            speaks=told.speaks,
            **await asyncio.to_thread(_calls, drawn, functions),
        ),
        document=told.document,
        why_no_steps=told.why_no_steps,
        given=plan.given_tools,
        tools=_tools(known.values()),
        problems=told.problems,
        suggestions=proposed,
    )


async def _suggestions(
    plan: WaitingPlan,
    told: CheckedOpenPlan,
    functions: PlanFunctions,
    signatures: Mapping[str, ToolSignature],
    depth: int,
) -> list[ShownSuggestion]:
    """What the graph has for each place between steps, then what is offered for the request and not in the plan yet."""
    names = {one.tool: one for one in signatures.values()}
    text, found = told.plan.program.text, list[ShownSuggestion]()
    if told.document is not None and len(told.document.steps) <= depth:
        for one in await suggest_tools(told.document, plan.given_tools, plan.request, functions.evidence):
            code = _line(names[one.tool], functions, text) if one.tool in names else ""
            reason, fills = one.reason, one.fills
            found.append(
                ShownSuggestion(
                    after=one.after,
                    tool=one.tool,
                    api=one.api,
                    reason=reason,
                    weight=one.weight,
                    fills=fills,
                    code=code,
                )
            )
    there = set(told.executable.program.tools.values())
    for tool, why in functions.offered.items():
        if tool in names and tool not in there:
            code, api = _line(names[tool], functions, text), functions.docs[tool].api
            found.append(ShownSuggestion(after=None, tool=tool, api=api, reason=why, fills={}, code=code))
    return found


def _calls(program: Program, functions: PlanFunctions) -> dict[str, Any]:
    """Nothing of a text that cannot be read."""
    source = try_parse_source(program.text)
    if source is None:
        return {"calls": [], "feeds": [], "answer": []}
    read, found = find_call_dependencies({1: program}), list[PlannedCall]()
    for call in source.calls:
        if (tool := program.tools.get(call.name)) in functions.docs and tool is not None:
            changes = not functions.docs[tool].safe
            found.append(PlannedCall(place=call.start, line=call.line, function=call.name, tool=tool, changes=changes))
    pairs = sorted((source[1], target[1]) for source, target in read.pairs)[:_MOST_FEEDS]
    return {
        "calls": found,
        "feeds": [PlannedFeed(source=source, target=target) for source, target in pairs],
        "answer": sorted(place for _, place in read.answer_calls),
    }


def _functions(
    signatures: Mapping[str, ToolSignature], functions: PlanFunctions, used: Mapping[str, ToolId]
) -> list[ShownFunction]:
    return [
        ShownFunction(name=name, tool=one.tool, declaration=one.text, call=_call(one, functions), used=name in used)
        for name, one in signatures.items()
    ]


def _call(one: ToolSignature, functions: PlanFunctions) -> str:
    needed = {parameter.name for parameter in functions.docs[one.tool].required}
    given = ", ".join(f"{name}=fill()" for name, parameter in one.arguments.items() if parameter in needed)
    return f"await {one.name}({given})"


def _line(one: ToolSignature, functions: PlanFunctions, text: str) -> str:
    """A line that keeps what a call answers under a name that the text does not have."""
    [(name, _)] = assign_names([one], lambda one: (f"{one.name}_answer",), set(re.findall(r"\w+", text)))
    return f"{name} = {_call(one, functions)}"


def _tools(docs: Iterable[ToolDoc]) -> list[ShownTool]:
    return [
        ShownTool(
            id=doc.id,
            api=doc.api,
            description=doc.description,
            changes=not doc.safe,
            why=doc.effect.why,
            host=doc.host,
            parameters=build_arguments_schema(doc),
        )
        for doc in docs
    ]
