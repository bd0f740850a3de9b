"""Arguments of a plan's steps: fixed, or taken from earlier steps."""

from collections.abc import Collection, Iterator

from pydantic.types import JsonValue

from agent.execution.provenance import FixedArgument
from agent.plans.json_paths import NAMED_ITEM, find_named_item, get_value_at
from agent.policy.protocol import ArgumentsQuestion, CallArguments
from agent.programs.analysis.slices import SliceContext, SlicedProgram
from domain.model import JsonObject
from domain.plan import Binding, PlannedStep, Take
from domain.program import ProgramPlan
from domain.provenance import Source
from domain.python_source import parse_literal

PLAN_REFERENCE = "the plan"
"""Reference in the binding of a value that a person fixed."""


def resolve_arguments(step: PlannedStep, question: ArgumentsQuestion) -> CallArguments:
    """Return the arguments that a plan has for a step, before any policy is asked.

    A parameter is missing if the response that it is taken from has nothing at its place, or if it stands for a
    parameter of the plan without a value.
    """
    values: JsonObject = dict(step.arguments)
    provenance = [Binding(parameter=name, origin="user", reference=PLAN_REFERENCE) for name in values]
    settled = set(values)
    missing = {name: f"the plan's parameter {own} has no value" for name, own in step.named.items()}
    for name, take in step.takes.items():
        binding = _resolve_take(name, take, question, values)
        if binding is None:
            missing[name] = f"the answer of step {take.step} has nothing at {take.field or 'its place'}"
        else:
            provenance.append(binding)
            # With an open index, words of the request choose the item: no person has fixed the value.
            if NAMED_ITEM not in take.field:
                settled.add(name)
    why = "".join(f"No value for {name}: {reason}. " for name, reason in missing.items()).strip()
    return CallArguments(values, tuple(provenance), tuple(missing), user_decided=frozenset(settled), reason=why)


def _resolve_take(name: str, take: Take, question: ArgumentsQuestion, values: JsonObject) -> Binding | None:
    """Add the value that a parameter takes to ``values`` and return its binding.

    The result is None if there is no value.
    """
    if take.step > len(question.earlier):
        return None
    _, result = question.earlier[take.step - 1]
    field, value = take.field, None
    if NAMED_ITEM in field:
        # A call with side effects must not fall back to the first item when the request names none.
        item = find_named_item(result.response, field, question.request, only_named=not question.tool.safe)
        if item is not None:
            field, value = item
    else:
        value = get_value_at(result.response, field)
    if value is None:
        return None
    values[name] = value
    return Binding(parameter=name, origin="step", reference=f"{take.step}.{field}".rstrip("."))


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
    return [text for value in plan.values.values() for text in _collect_scalar_texts(value)] if plan is not None else []


def _find_fixed_values(plan: ProgramPlan, foreign_inputs: Collection[str]) -> Iterator[FixedArgument]:
    """Yield the values that reach a call in any way, such as through a variable or as an item of a list in a loop."""
    program = plan.program
    slice_context = SliceContext(program.tools, program.arguments, user_inputs=plan.inputs)
    for name, parameter, source in SlicedProgram([program.text], slice_context).find_argument_sources():
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


def _collect_scalar_texts(value: JsonValue) -> Iterator[str]:
    """Yield all texts and numbers within a value, numbers as text; booleans are skipped."""
    match value:
        case str() if value.strip():
            yield value
        case bool() | None:
            return
        case int() | float():
            yield str(value)
        case list():
            for item in value:
                yield from _collect_scalar_texts(item)
        case dict():
            for item in value.values():
                yield from _collect_scalar_texts(item)
        case _:
            return
