"""Values in a plan that count as said by a person: those who wrote it or gave values for its inputs."""

from collections.abc import Collection, Iterator

from pydantic.types import JsonValue

from agent.execution.provenance import Fixed
from agent.programs.analysis.slices import Setting, SlicedProgram
from domain.program import ProgramPlan
from domain.python_source import parse_literal
from domain.slice import Source


def fixed_values(plan: ProgramPlan | None, besides: Collection[str] = ()) -> list[Fixed]:
    """Return the constants and input values of a plan, by the parameters of calls that they reach.

    ``besides`` names inputs whose values come from someone else.
    """
    if plan is None:
        return []
    try:
        return list(_fixed(plan, besides))
    except (SyntaxError, ValueError, RecursionError):
        return []  # a text that cannot be parsed is never run


def said_values(plan: ProgramPlan | None) -> list[str]:
    """Return the texts and numbers that a person gave for a plan's inputs, as they would appear in a message."""
    return [told for value in plan.values.values() for told in _texts(value)] if plan is not None else []


def _fixed(plan: ProgramPlan, besides: Collection[str]) -> Iterator[Fixed]:
    """Yield the values that reach a call in any way, as by a name or out of a list in a loop."""
    program = plan.program
    setting = Setting(program.tools, program.arguments, own=plan.inputs)
    for name, parameter, source in SlicedProgram([program.text], setting).sources():
        yield from ((program.tools[name], parameter, value) for value in _value(source, plan, besides))


def _value(source: Source, plan: ProgramPlan, besides: Collection[str]) -> Iterator[JsonValue]:
    """Yield the value of a source if a person has written or given it."""
    if source.kind == "constant":
        if plan.program.tainted:  # its author had seen responses, and may have the constant from there
            return
        yield parse_literal(source.name)
    elif source.name in plan.inputs and source.name not in besides:
        value = plan.values.get(source.name, plan.inputs[source.name].get("default"))
        if value is not None:
            yield value


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield all texts and numbers within a value; not booleans."""
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
