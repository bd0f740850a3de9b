"""Conversion of expressions and constants to the shape that a parameter or operation requires, and texts of them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, NoReturn

from pydantic.types import JsonValue

from agent.programs.grammar.scope import NUMBER, TEXT, ProgramExpression, ValueFacts, render_conditions
from agent.programs.grammar.sentence import Value, ValuePath, split_pieces
from domain.errors import InvalidDecisionError
from graph.shapes import UNKNOWN, JsonShape, Kind, infer_shape

_ARRAY: frozenset[Kind] = frozenset({"array"})
_OBJECT: frozenset[Kind] = frozenset({"object"})
_STRING: frozenset[Kind] = frozenset({"string"})
_INTEGER: frozenset[Kind] = frozenset({"integer"})
_BOOLEAN: frozenset[Kind] = frozenset({"boolean"})
_NUMBERS: frozenset[Kind] = frozenset({"number", "integer"})
_TYPES: dict[Kind, tuple[type, ...]] = {
    "boolean": (bool,), "integer": (int,), "number": (int, float), "array": (list,), "object": (dict,), "string": (str,), "null": (),
}  # fmt: skip
_MAX_SHOWN = 60
_MAX_NAMES = 20


def fit_expression(expression: ProgramExpression, target: JsonShape, label: str) -> ProgramExpression:
    """Convert an expression to the wanted shape.

    An expression or shape of unknown kind is left as it is. ``label``: how the sentence writes the expression, for
    messages.

    Raises:
        InvalidDecisionError: it cannot be converted.
    """
    target_kinds, facts = _list_kinds(target), expression.facts
    if not target_kinds or facts.is_list is None:
        return expression
    if facts.is_list:
        return _fit_list(expression, target, label)
    if target_kinds == _ARRAY:
        inner = fit_expression(expression, target.items or UNKNOWN, label)
        return ProgramExpression(f"[{inner.code}]", ValueFacts(target), inner.conditions)
    if facts.pair or "object" in facts.shape.kinds:
        return _fit_object(expression, target, label)
    source_kinds = _list_kinds(facts.shape)
    if target_kinds == _STRING and facts.is_number:
        return replace(expression, code=f"str({expression.code})", facts=ValueFacts(TEXT))
    if target_kinds == _INTEGER and not source_kinds <= _INTEGER and source_kinds <= _NUMBERS | _STRING:
        return replace(expression, code=f"int({expression.code})", facts=ValueFacts(target))
    if target_kinds <= _NUMBERS and not source_kinds <= _NUMBERS and source_kinds <= _NUMBERS | _STRING:
        return replace(expression, code=f"float({expression.code})", facts=ValueFacts(NUMBER))
    if not (source_kinds <= target_kinds or (source_kinds <= _NUMBERS and "number" in target_kinds)):
        _reject(f"{label} is {facts.description}, and {ValueFacts(target).description} is wanted")
    return expression


def _fit_list(expression: ProgramExpression, target: JsonShape, label: str) -> ProgramExpression:
    """Convert a list, item by item."""
    if "array" not in target.kinds:
        _reject(
            f"{label} is a list where one value is wanted: `for_each` goes through a list, `{label}[0]` is its first"
        )
    if expression.facts.pair_item:
        _reject(f"{label} holds pairs of item and result: name what is wanted, as in {label}[].result")
    inner = fit_expression(
        ProgramExpression("each", expression.facts.item).non_null, target.items or UNKNOWN, f"{label}[]"
    )
    if inner.code == "each" and not inner.conditions:
        return expression
    return replace(
        expression,
        code=f"[{inner.code} for each in {expression.code}{render_conditions(inner.conditions)}]",
        facts=ValueFacts(target),
    )


def _fit_object(expression: ProgramExpression, target: JsonShape, label: str) -> ProgramExpression:
    """Accept an object if any object is wanted; otherwise reject it with advice."""
    if "object" in target.kinds and not target.fields and not expression.facts.pair:
        return expression
    fields = ["item", "result"] if expression.facts.pair else list(expression.facts.shape.fields)[:_MAX_NAMES]
    if "object" in target.kinds:
        field = next(iter(target.fields), "field")
        raise InvalidDecisionError(
            f"{label} is an object of another kind: give its fields one by one, as in parameter.{field}"
        )
    raise InvalidDecisionError(
        f"{label} is an object, and {ValueFacts(target).description} is wanted: name one of its fields, {', '.join(fields) or 'as in x.name'}"
    )


def fit_constant(constant: Value | JsonValue, target: JsonShape) -> ProgramExpression:
    """Convert a constant to the wanted shape, for example the text ``"3"`` to the number 3.

    Raises:
        InvalidDecisionError: it cannot be converted without changing its value, or is not among the allowed values.
    """
    converted = _convert_constant(constant, target)
    if target.enum and converted not in target.enum and not isinstance(converted, list):
        _reject(
            f"{_clip_repr(constant)} is none of the values that are allowed: {', '.join(map(str, target.enum[:_MAX_NAMES]))}"
        )
    return ProgramExpression(repr(converted), ValueFacts(infer_shape(converted)))


def _convert_constant(constant: Value | JsonValue, target: JsonShape) -> JsonValue:
    """Return the constant as a value of one of the wanted kinds."""
    kinds = _list_kinds(target)
    if isinstance(constant, dict):
        return constant
    if isinstance(constant, list):
        if kinds and "array" not in kinds:
            _reject(f"a list is given where {ValueFacts(target).description} is wanted")
        return [_convert_constant(item, target.items or UNKNOWN) for item in constant]
    if not kinds or constant in target.enum:
        return constant
    if kinds == _ARRAY:
        parsed = _parse_json(constant)
        return _convert_constant(parsed if isinstance(parsed, list) else [constant], target)
    if kinds == _STRING and not isinstance(constant, str):
        return str(constant).lower() if isinstance(constant, bool) else str(constant)
    if kinds == _INTEGER and isinstance(constant, float) and constant.is_integer():
        return int(constant)
    if any(type(constant) in _TYPES[kind] for kind in kinds):
        return constant
    parsed = _parse_json(constant.lower() if kinds == _BOOLEAN else constant) if isinstance(constant, str) else None
    if parsed is None or not any(type(parsed) in _TYPES[kind] for kind in kinds):
        _reject(f"{_clip_repr(constant)} is given where {ValueFacts(target).description} is wanted")
    return parsed


def make_comparable(left: ProgramExpression, right: ProgramExpression, label: str) -> tuple[str, str]:
    """Return two expressions that can be ordered: both numbers, or both texts.

    Raises:
        InvalidDecisionError: one of them is neither.
    """
    kinds = [_classify_order(expression, label) for expression in (left, right)]
    if "number" in kinds:
        return convert_to_number(left), convert_to_number(right)
    return left.code, right.code


def make_sortable(expression: ProgramExpression, label: str) -> str:
    """Return an expression to sort by.

    Raises:
        InvalidDecisionError: its value is neither a number nor a text.
    """
    return convert_to_number(expression) if _classify_order(expression, label) == "number" else expression.code


def convert_to_number(expression: ProgramExpression) -> str:
    """Return an expression as a number, converted from text where necessary: some APIs write numbers as text."""
    return f"float({expression.code})" if "string" in expression.facts.shape.kinds else expression.code


def _classify_order(expression: ProgramExpression, label: str) -> Literal["number", "text", "unknown"]:
    """Return whether values of an expression are ordered as numbers or as texts; reject any other kind."""
    kinds, facts = _list_kinds(expression.facts.shape), expression.facts
    if facts.computed or (kinds and kinds & _NUMBERS and kinds <= _NUMBERS | _STRING):
        return "number"
    if kinds == _STRING:
        return "text"
    if not kinds and not facts.pair and not facts.pair_item:
        return "unknown"
    fields = list(facts.shape.fields)[:_MAX_NAMES] if "object" in kinds else []
    hint = f": name one of its fields, {', '.join(fields)}" if fields else ""
    raise InvalidDecisionError(
        f"{label} is {facts.description or 'a pair of item and result'}, and a number or a text is wanted{hint}"
    )


def _list_kinds(shape: JsonShape) -> frozenset[Kind]:
    """Return the kinds of a shape, without null."""
    return frozenset(kind for kind in shape.kinds if kind != "null")


def _clip_repr(constant: object) -> str:
    """Return the ``repr`` of a value, cut for a message."""
    return repr(constant)[:_MAX_SHOWN]


def _parse_json(text: object) -> JsonValue:
    """Parse a text as JSON; None if it is not valid."""
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def _reject(message: str) -> NoReturn:
    """Raise an error about the sentence."""
    raise InvalidDecisionError(message)


PathLookup = Callable[[ValuePath], ProgramExpression]
"""Function that returns the expression at a path, resolved with the names in scope."""

_SCALARS: frozenset[Kind] = frozenset({"string", "number", "integer", "boolean"})
_MISSING_VALUE = "–"
_DECIMALS = 4


def render_value(value: Value, lookup: PathLookup, target: JsonShape = UNKNOWN) -> ProgramExpression:
    """Return the expression of a value of a sentence, converted to the wanted shape.

    Raises:
        InvalidDecisionError: a path leads nowhere, or the value cannot have that shape.
    """
    if not isinstance(value, str):
        return fit_constant(value, target)
    parts = split_pieces(value)
    match parts:
        case [ValuePath() as path]:
            return fit_expression(lookup(path).non_null, target, str(path))
        case [] | [str()]:
            return fit_constant("".join(map(str, parts)), target)
        case _:
            return fit_expression(render_text(parts, lookup), target, "a text")


def render_text(parts: str | Sequence[str | ValuePath], lookup: PathLookup) -> ProgramExpression:
    """Return the expression of a text with the values of its paths inserted.

    A missing value is shown as a dash, the items of a list are joined with commas, and computed numbers are rounded.
    """
    expressions = [
        part if isinstance(part, str) else _prefer_null_tolerant(lookup(part))
        for part in (split_pieces(parts) if isinstance(parts, str) else parts)
    ]
    needs = tuple(need for part in expressions if isinstance(part, ProgramExpression) for need in part.conditions)
    rendered_parts = [part if isinstance(part, str) else _render_for_text(part) for part in expressions]
    if all(isinstance(part, str) for part in expressions):
        return ProgramExpression(repr("".join(rendered_parts)), ValueFacts(TEXT))
    # Before Python 3.12, an f-string cannot contain its own quotes or a backslash in an expression.
    if any(
        '"' in rendered or "\\" in rendered
        for rendered, part in zip(rendered_parts, expressions, strict=True)
        if isinstance(part, ProgramExpression)
    ):
        terms = (
            repr(rendered) if isinstance(part, str) else f"str({rendered})"
            for rendered, part in zip(rendered_parts, expressions, strict=True)
        )
        return ProgramExpression(" + ".join(terms), ValueFacts(TEXT), needs)
    fragments = (
        _escape_literal(rendered) if isinstance(part, str) else f"{{{rendered}}}"
        for rendered, part in zip(rendered_parts, expressions, strict=True)
    )
    return ProgramExpression(f'f"{"".join(fragments)}"', ValueFacts(TEXT), needs)


def _prefer_null_tolerant(expression: ProgramExpression) -> ProgramExpression:
    """Return the alternative that treats a missing field as null, if the expression has one."""
    return expression.null_tolerant or expression


def _render_for_text(part: ProgramExpression) -> str:
    """Return the code that formats an expression for a text."""
    facts = part.facts
    if facts.computed:
        return f"round({part.code}, {_DECIMALS})"
    if facts.is_list and facts.pair_item is None and facts.item.shape.kinds <= _SCALARS and not facts.nullable:
        return f"', '.join([str(each) for each in {part.code}])"
    return f"({part.code} if {part.code} is not None else '{_MISSING_VALUE}')" if facts.nullable else part.code


def _escape_literal(words: str) -> str:
    """Escape words for an f-string."""
    return "".join(
        _ESCAPED.get(character) or (character if character.isprintable() else repr(character)[1:-1])
        for character in words
    )


_ESCAPED = {"\\": "\\\\", '"': '\\"', "{": "{{", "}": "}}", "\n": "\\n"}
