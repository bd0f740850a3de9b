"""Arguments chosen by a model.

A value from an earlier step or from the document is looked up there by code; only a value from the request is the
model's own reading.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, WithJsonSchema
from pydantic.types import JsonValue

from agent.execution.coercion import coerce_value
from agent.parameter_needs import derive_need
from agent.policy.protocol import ArgumentsQuestion, CallArguments, Results
from agent.text import clean_text
from domain.errors import InvalidDecisionError
from domain.model import JsonObject
from domain.plan import Binding
from domain.tool import Parameter
from graph.lenient_json import read_value

_SCALAR = {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}
_STEP_REFERENCE = re.compile(r"\s*(?:step\s*)?\[?(\d{1,3})\]?\s*[.:]?\s*(.*)", re.DOTALL)
_PLACE_PART = re.compile(r"\[(\d{0,9}|\*)\]|([^.\[\]]+)")
_MAX_VALUES = 200
"""Values that one place of a response may give."""
_NO_VALUE = (None, "")


class Bound(BaseModel):
    """One value and its origin."""

    parameter: str
    value: Annotated[JsonValue, WithJsonSchema(_SCALAR)]
    """A list or an object is given as JSON text."""
    origin: Literal["request", "step", "default"]
    reference: str = ""
    """Place of the value, such as ``1.results[0].id`` for a step."""


class ArgumentsAnswer(BaseModel):
    """The model's answer (``agent/prompts/arguments.md``)."""

    bindings: list[Bound]
    missing: list[str] = []


def check_arguments(answer: ArgumentsAnswer, question: ArgumentsQuestion) -> str:
    """Return the complaint about an answer for the model to correct; empty if it is right."""
    complaints: list[str] = []
    names = [bound.parameter for bound in answer.bindings]
    for bound in answer.bindings:
        try:
            _verify_value(bound, question)
        except InvalidDecisionError as wrong:
            complaints.append(f"{clean_text(bound.parameter, 80)}: {wrong}")
    complaints += [f"{clean_text(name, 80)} is bound twice" for name in dict.fromkeys(names) if names.count(name) > 1]
    unmentioned = [p.name for p in question.tool.required if p.name not in names and p.name not in answer.missing]
    if unmentioned:
        complaints.append(f"required and neither bound nor missing: {', '.join(unmentioned)}")
    return "; ".join(clean_text(part, 300) for part in complaints[:8]) + "." if complaints else ""


def to_call_arguments(answer: ArgumentsAnswer | None, question: ArgumentsQuestion) -> CallArguments:
    """Return the values of an answer as they are sent; required ones that are not among them are missing."""
    values: JsonObject = {}
    provenance: list[Binding] = []
    for bound in answer.bindings if answer else []:
        if bound.parameter in values:
            continue  # the first valid value counts
        try:
            values[bound.parameter] = _resolve_value(bound, question)
        except InvalidDecisionError:
            continue
        provenance.append(_build_binding(bound))
    missing = tuple(p.name for p in question.tool.required if p.name not in values)
    return CallArguments(values, tuple(provenance), missing)


def _verify_value(bound: Bound, question: ArgumentsQuestion) -> None:
    """Check that a value can be sent and agrees with the place that it names.

    Raises:
        InvalidDecisionError: there is nothing to send, or the place holds something else and may be the wrong one.
    """
    resolved = _resolve_value(bound, question)
    parameter = _find_parameter(bound, question)
    if bound.value not in _NO_VALUE and coerce_value(bound.value, parameter) != resolved:
        raise InvalidDecisionError(
            f"{_abbreviate(resolved)} stands at {bound.reference[:120]!r}, and not {_abbreviate(bound.value)}: name the place where it stands"
            if bound.origin == "step"
            else f"the default is {_abbreviate(resolved)}, and not {_abbreviate(bound.value)}"
        )


def _resolve_value(bound: Bound, question: ArgumentsQuestion) -> JsonValue:
    """Return the value to send: from the named step, the document's default, or the model's reading of the request.

    Raises:
        InvalidDecisionError: there is no value, or the model may not choose it.
    """
    parameter = _find_parameter(bound, question)
    if derive_need(parameter).kind == "secret":
        # No prompt holds a key, so the model has made this one up or read it in foreign text.
        raise InvalidDecisionError("keys and secrets are not yours to fill in")
    match bound.origin:
        case "step":
            return _resolve_step_value(bound, parameter, question.earlier)
        case "default":
            return _get_default(parameter)
        case "request":
            if bound.value in _NO_VALUE:
                raise InvalidDecisionError("there is no value")
            return coerce_value(bound.value, parameter)


def _find_parameter(bound: Bound, question: ArgumentsQuestion) -> Parameter:
    for parameter in question.tool.parameters:
        if parameter.name == bound.parameter:
            return parameter
    names = ", ".join(parameter.name for parameter in question.tool.parameters)
    raise InvalidDecisionError(f"the tool has no such parameter; it has {names or 'none'}")


def _resolve_step_value(bound: Bound, parameter: Parameter, earlier: Results) -> JsonValue:
    """Return the value at a place of an earlier response.

    If several values are there, the model must name one; for a list parameter, it may name some, else all are taken.

    Raises:
        InvalidDecisionError: the place does not exist, or the model named none of its values.
    """
    place = _parse_step_place(bound.reference)
    if place is None or not 1 <= place[0] <= len(earlier):
        raise InvalidDecisionError(
            f"{bound.reference[:120]!r} names no earlier step: write the step's number, a dot and the place"
        )
    number, field = place
    result = earlier[number - 1][1]
    if result.status != "ok":
        raise InvalidDecisionError(f"step {number} gave nothing")
    values: list[JsonValue] = [value for value in _find_values(read_value(result.response), field) if value is not None]
    if not values:
        raise InvalidDecisionError(f"the response of step {number} has nothing at {field[:120]!r}")
    if len(values) == 1:
        return coerce_value(values[0], parameter)
    chosen_value = coerce_value(bound.value, parameter)
    if parameter.type == "array":
        return (
            chosen_value
            if isinstance(chosen_value, list) and chosen_value and all(item in values for item in chosen_value)
            else values
        )
    if chosen_value not in [coerce_value(value, parameter) for value in values]:
        raise InvalidDecisionError(f"{len(values)} values stand at {bound.reference[:120]!r}: name the place of one")
    return chosen_value


def _get_default(parameter: Parameter) -> JsonValue:
    """Return the only allowed value of a parameter, else its default."""
    if len(parameter.enum) == 1:
        return parameter.enum[0]
    if parameter.default in _NO_VALUE:
        raise InvalidDecisionError("the document gives no default")
    return coerce_value(parameter.default, parameter)


def _parse_step_place(reference: str) -> tuple[int, str] | None:
    """Parse ``1.results[0].id`` into (1, ``results[0].id``)."""
    match = _STEP_REFERENCE.fullmatch(reference)
    return (int(match[1]), match[2].strip().lstrip("$.")) if match else None


def _find_values(value: JsonValue, place: str) -> Iterator[JsonValue]:
    """Yield the values at a place: ``items[0].id``, or ``items[].id`` for that field of all items."""
    current: list[JsonValue] = [value]
    for part in _PLACE_PART.finditer(place):
        next_values: list[JsonValue] = []
        for container in current:
            if part[2] is not None:
                if isinstance(container, dict) and part[2] in container:
                    next_values.append(container[part[2]])
            elif isinstance(container, list):
                next_values += (
                    container[:_MAX_VALUES] if part[1] in ("", "*") else container[int(part[1]) : int(part[1]) + 1]
                )
        current = next_values[:_MAX_VALUES]
    yield from current


def _build_binding(bound: Bound) -> Binding:
    reference = bound.reference.strip()
    if bound.origin == "default":
        reference = "the document's default"
    elif bound.origin == "step" and (place := _parse_step_place(reference)):
        reference = f"{place[0]}.{place[1]}".rstrip(".")
    return Binding(parameter=bound.parameter, origin=bound.origin, reference=reference[:400])


def _abbreviate(value: JsonValue) -> str:
    return repr(value)[:120]
