"""Values in a plan that count as a person's own: constants that they wrote, and values that they gave for inputs."""

from collections.abc import Collection, Iterator

from pydantic.types import JsonValue

from agent.execution.provenance import FixedArgument
from agent.programs.analysis.slices import SliceContext, SlicedProgram
from domain.program import ProgramPlan
from domain.provenance import Source
from domain.python_source import parse_literal


def collect_fixed_values(plan: ProgramPlan | None, foreign_inputs: Collection[str] = ()) -> list[FixedArgument]:
    """Return the constants and input values of a plan, each with the tool and the parameter that it reaches.

    ``foreign_inputs``: names of inputs whose values come from someone else.
    """
    if plan is None:
        return []
    try:
        return list(_find_fixed_values(plan, foreign_inputs))
    except (SyntaxError, ValueError, RecursionError):
        return []  # a text that cannot be parsed is never run


def collect_given_texts(plan: ProgramPlan | None) -> list[str]:
    """Return the texts and numbers that a person gave for a plan's inputs, numbers as text."""
    return [text for value in plan.values.values() for text in _collect_texts(value)] if plan is not None else []


def _find_fixed_values(plan: ProgramPlan, foreign_inputs: Collection[str]) -> Iterator[FixedArgument]:
    """Yield the values that reach a call in any way, such as through a variable or as an item of a list in a loop."""
    program = plan.program
    setting = SliceContext(program.tools, program.arguments, user_inputs=plan.inputs)
    for name, parameter, source in SlicedProgram([program.text], setting).find_argument_sources():
        yield from ((program.tools[name], parameter, value) for value in _resolve_source(source, plan, foreign_inputs))


def _resolve_source(source: Source, plan: ProgramPlan, foreign_inputs: Collection[str]) -> Iterator[JsonValue]:
    """Yield the value of a source if a person has written it or given it."""
    if source.kind == "constant":
        if plan.program.tainted:  # its author has seen responses and may have copied the constant from one
            return
        yield parse_literal(source.name)
    elif source.name in plan.inputs and source.name not in foreign_inputs:
        value = plan.values.get(source.name, plan.inputs[source.name].get("default"))
        if value is not None:
            yield value


def _collect_texts(value: JsonValue) -> Iterator[str]:
    """Yield all texts and numbers within a value, numbers as text; booleans are skipped."""
    match value:
        case str() if value.strip():
            yield value
        case bool() | None:
            return
        case int() | float():
            yield str(value)
        case list():
            for one in value:
                yield from _collect_texts(one)
        case dict():
            for one in value.values():
                yield from _collect_texts(one)
        case _:
            return
