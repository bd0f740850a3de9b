"""The values that stand in a plan: whoever wrote it, or gave values for its inputs, has said them."""

import ast
from collections.abc import Collection, Iterator

from pydantic.types import JsonValue

from agent.execution.provenance import Fixed
from agent.plans.literals import NotConstantError
from agent.plans.straight_text import StraightText
from agent.programs.reading import calls
from domain.program import ProgramPlan


def fixed_values(plan: ProgramPlan | None, besides: Collection[str] = ()) -> list[Fixed]:
    """The constants of a plan's text and the values of its inputs, by the parameters of its calls that they stand for. ``besides``: inputs whose
    values are somebody else's.
    """
    if plan is None:
        return []
    try:
        return list(_fixed(plan, besides))
    except (SyntaxError, ValueError, RecursionError):
        return []  # what is no program is carried out by nobody


def said_values(plan: ProgramPlan | None) -> list[str]:
    """The texts and numbers that a person gave for a plan's inputs, as they would stand in a message of theirs."""
    return [told for value in plan.values.values() for told in _texts(value)] if plan is not None else []


def _fixed(plan: ProgramPlan, besides: Collection[str]) -> Iterator[Fixed]:
    reading, program = StraightText({1: plan.program}), plan.program
    defaults = {name: schema["default"] for name, schema in plan.inputs.items() if "default" in schema}
    values = {name: value for name, value in {**defaults, **plan.values}.items() if name not in besides}
    for call in calls(ast.parse(program.text)):
        if not isinstance(call.func, ast.Name) or call.func.id not in program.tools:
            continue
        names = program.arguments.get(call.func.id, {})
        for one in call.keywords:
            if one.arg is None:
                continue
            place = program.tools[call.func.id], names.get(one.arg, one.arg)
            given = reading.given(one.value)
            if given in plan.inputs:
                yield from ((*place, values[given]) for _ in range(given in values))
                continue
            try:
                yield (*place, reading.fixed(one.value))
            except NotConstantError:
                continue


def _texts(value: JsonValue) -> Iterator[str]:
    match value:
        case str() if value.strip():
            yield value
        case bool() | None:
            return
        case int() | float():
            yield str(value)
        case list():
            for one in value:
                yield from _texts(one)
        case dict():
            for one in value.values():
                yield from _texts(one)
        case _:
            return
