"""The values that stand in a plan's text, and those of its inputs, by the parameters that are given them: what somebody fixed before it runs."""

import ast
from collections.abc import Collection, Iterator

from pydantic.types import JsonValue

from agent.programs.dependencies import line_starts
from agent.programs.reading import calls
from agent.programs.slices import Setting, SlicedProgram
from domain.program import ProgramPlan
from domain.slice import Source
from domain.tool import ToolId

Fixed = tuple[ToolId, str, JsonValue]
"""A value of a parameter of a tool."""


def fixed_values(plan: ProgramPlan, without: Collection[str] = ()) -> list[Fixed]:
    """Every constant and every input that goes into an argument of a call, however it gets there. ``without``: inputs that are left out.

    Nothing of a text that cannot be read: it is not run either.
    """
    program = plan.program
    try:
        tree = ast.parse(program.text)
        sliced = SlicedProgram(
            [program.text], Setting(program.tools, program.arguments, inputs={"today": ToolId("")}, own=plan.inputs)
        )
    except (SyntaxError, ValueError, RecursionError):
        return []
    starts = line_starts(program.text)
    found: dict[tuple[ToolId, str, str], JsonValue] = {}
    for call in calls(tree):
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        tool = program.tools.get(name)
        if tool is None or call.end_lineno is None or call.end_col_offset is None:
            continue
        start, end = starts[call.lineno - 1] + call.col_offset, starts[call.end_lineno - 1] + call.end_col_offset
        for one in sliced.slices(name, start, end):
            for value in (value for source in one.sources for value in _value(source, plan, without)):
                found[tool, one.parameter, repr(value)] = value
    return [(tool, parameter, value) for (tool, parameter, _), value in found.items()]


def _value(source: Source, plan: ProgramPlan, without: Collection[str]) -> Iterator[JsonValue]:
    if source.kind == "constant":
        yield ast.literal_eval(source.name)
    elif source.name in plan.inputs and source.name not in without:
        value = plan.values.get(source.name, plan.inputs[source.name].get("default"))
        if value is not None:
            yield value
