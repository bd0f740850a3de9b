"""The values that stand in a plan: whoever wrote it, or gave values for its inputs, has said them."""

from collections.abc import Collection, Iterator

from pydantic.types import JsonValue

from agent.execution.provenance import Fixed
from agent.programs.analysis.slices import Setting, SlicedProgram
from domain.program import ProgramPlan
from domain.python_source import parse_literal
from domain.slice import Source


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
    """However they get to a call: by a name, out of a list that is gone through."""
    program = plan.program
    setting = Setting(program.tools, program.arguments, own=plan.inputs)
    for name, parameter, source in SlicedProgram([program.text], setting).sources():
        yield from ((program.tools[name], parameter, value) for value in _value(source, plan, besides))


def _value(source: Source, plan: ProgramPlan, besides: Collection[str]) -> Iterator[JsonValue]:
    if source.kind == "constant":
        if plan.program.tainted:  # whoever wrote it may have it from a response
            return
        yield parse_literal(source.name)
    elif source.name in plan.inputs and source.name not in besides:
        value = plan.values.get(source.name, plan.inputs[source.name].get("default"))
        if value is not None:
            yield value


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
