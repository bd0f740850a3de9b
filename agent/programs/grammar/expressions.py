"""Conversion of expressions and constants to the shape that a parameter or operation requires, and texts of them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, NoReturn

from pydantic.types import JsonValue

from agent.programs.grammar.paths import ValuePath, split_pieces
from agent.programs.grammar.scope import NUMBER, TEXT, ProgramExpression, ValueFacts, render_conditions
from agent.programs.grammar.sentence import Value
from domain.errors import InvalidDecisionError
from graph.shapes import UNKNOWN, JsonShape, Kind, infer_shape

_ARRAY: frozenset[Kind] = frozenset({"array"})
_OBJECT: frozenset[Kind] = frozenset({"object"})
_TEXT: frozenset[Kind] = frozenset({"string"})
_WHOLE: frozenset[Kind] = frozenset({"integer"})
_TRUTH: frozenset[Kind] = frozenset({"boolean"})
_NUMBERS: frozenset[Kind] = frozenset({"number", "integer"})
_TYPES: dict[Kind, tuple[type, ...]] = {
    "boolean": (bool,), "integer": (int,), "number": (int, float), "array": (list,), "object": (dict,), "string": (str,), "null": (),
}  # fmt: skip
_MAX_SHOWN = 60
_MAX_NAMES = 20


def fit_expression(expression: ProgramExpression, wanted: JsonShape, called: str) -> ProgramExpression:
    """Convert an expression to the wanted shape.

    An expression or shape of unknown kind is left as it is. ``called``: how the sentence writes the expression, for
    messages.

    Raises:
        InvalidDecisionError: it cannot be converted.
    """
    kinds, known = _list_kinds(wanted), expression.known
    if not kinds or known.is_list is None:
        return expression
    if known.is_list:
        return _fit_list(expression, wanted, called)
    if kinds == _ARRAY:
        inner = fit_expression(expression, wanted.items or UNKNOWN, called)
        return ProgramExpression(f"[{inner.text}]", ValueFacts(wanted), inner.needs)
    if known.pair or "object" in known.shape.kinds:
        return _fit_object(expression, wanted, called)
    has = _list_kinds(known.shape)
    if kinds == _TEXT and known.is_number:
        return replace(expression, text=f"str({expression.text})", known=ValueFacts(TEXT))
    if kinds == _WHOLE and not has <= _WHOLE and has <= _NUMBERS | _TEXT:
        return replace(expression, text=f"int({expression.text})", known=ValueFacts(wanted))
    if kinds <= _NUMBERS and not has <= _NUMBERS and has <= _NUMBERS | _TEXT:
        return replace(expression, text=f"float({expression.text})", known=ValueFacts(NUMBER))
    if not (has <= kinds or (has <= _NUMBERS and "number" in kinds)):
        _reject(f"{called} is {known.description}, and {ValueFacts(wanted).description} is wanted")
    return expression


def _fit_list(expression: ProgramExpression, wanted: JsonShape, called: str) -> ProgramExpression:
    """Convert a list, item by item."""
    if "array" not in wanted.kinds:
        _reject(
            f"{called} is a list where one value is wanted: `for_each` goes through a list, `{called}[0]` is its first"
        )
    if expression.known.each:
        _reject(f"{called} holds pairs of item and result: name what is wanted, as in {called}[].result")
    inner = fit_expression(
        ProgramExpression("each", expression.known.item).non_null, wanted.items or UNKNOWN, f"{called}[]"
    )
    if inner.text == "each" and not inner.needs:
        return expression
    return replace(
        expression,
        text=f"[{inner.text} for each in {expression.text}{render_conditions(inner.needs)}]",
        known=ValueFacts(wanted),
    )


def _fit_object(expression: ProgramExpression, wanted: JsonShape, called: str) -> ProgramExpression:
    """Accept an object if any object is wanted; otherwise reject it with advice."""
    if "object" in wanted.kinds and not wanted.fields and not expression.known.pair:
        return expression
    fields = ["item", "result"] if expression.known.pair else list(expression.known.shape.fields)[:_MAX_NAMES]
    if "object" in wanted.kinds:
        field = next(iter(wanted.fields), "field")
        raise InvalidDecisionError(
            f"{called} is an object of another kind: give its fields one by one, as in parameter.{field}"
        )
    raise InvalidDecisionError(
        f"{called} is an object, and {ValueFacts(wanted).description} is wanted: name one of its fields, {', '.join(fields) or 'as in x.name'}"
    )


def fit_constant(constant_value: Value | JsonValue, wanted: JsonShape) -> ProgramExpression:
    """Convert a constant to the wanted shape, for example the text ``"3"`` to the number 3.

    Raises:
        InvalidDecisionError: it cannot be converted without changing its value, or is not among the allowed values.
    """
    converted = _convert_constant(constant_value, wanted)
    if wanted.enum and converted not in wanted.enum and not isinstance(converted, list):
        _reject(
            f"{_shorten(constant_value)} is none of the values that are allowed: {', '.join(map(str, wanted.enum[:_MAX_NAMES]))}"
        )
    return ProgramExpression(repr(converted), ValueFacts(infer_shape(converted)))


def _convert_constant(constant_value: Value | JsonValue, wanted: JsonShape) -> JsonValue:
    """Return the constant as a value of one of the wanted kinds."""
    kinds = _list_kinds(wanted)
    if isinstance(constant_value, dict):
        return constant_value
    if isinstance(constant_value, list):
        if kinds and "array" not in kinds:
            _reject(f"a list is given where {ValueFacts(wanted).description} is wanted")
        return [_convert_constant(one, wanted.items or UNKNOWN) for one in constant_value]
    if not kinds or constant_value in wanted.enum:
        return constant_value
    if kinds == _ARRAY:
        read = _parse_json(constant_value)
        return _convert_constant(read if isinstance(read, list) else [constant_value], wanted)
    if kinds == _TEXT and not isinstance(constant_value, str):
        return str(constant_value).lower() if isinstance(constant_value, bool) else str(constant_value)
    if kinds == _WHOLE and isinstance(constant_value, float) and constant_value.is_integer():
        return int(constant_value)
    if any(type(constant_value) in _TYPES[kind] for kind in kinds):
        return constant_value
    read = (
        _parse_json(constant_value.lower() if kinds == _TRUTH else constant_value)
        if isinstance(constant_value, str)
        else None
    )
    if read is None or not any(type(read) in _TYPES[kind] for kind in kinds):
        _reject(f"{_shorten(constant_value)} is given where {ValueFacts(wanted).description} is wanted")
    return read


def make_comparable(left: ProgramExpression, right: ProgramExpression, called: str) -> tuple[str, str]:
    """Return two expressions that can be ordered: both numbers, or both texts.

    Raises:
        InvalidDecisionError: one of them is neither.
    """
    kinds = [_find_order(one, called) for one in (left, right)]
    if "number" in kinds:
        return make_number(left), make_number(right)
    return left.text, right.text


def make_sortable(expression: ProgramExpression, called: str) -> str:
    """Return an expression to sort by.

    Raises:
        InvalidDecisionError: its value is neither a number nor a text.
    """
    return make_number(expression) if _find_order(expression, called) == "number" else expression.text


def make_number(expression: ProgramExpression) -> str:
    """Return an expression as a number, converted from text where necessary: some APIs write numbers as text."""
    return f"float({expression.text})" if "string" in expression.known.shape.kinds else expression.text


def _find_order(expression: ProgramExpression, called: str) -> Literal["number", "text", "unknown"]:
    """Return whether values of an expression are ordered as numbers or as texts; reject any other kind."""
    kinds, known = _list_kinds(expression.known.shape), expression.known
    if known.computed or (kinds and kinds & _NUMBERS and kinds <= _NUMBERS | _TEXT):
        return "number"
    if kinds == _TEXT:
        return "text"
    if not kinds and not known.pair and not known.each:
        return "unknown"
    fields = list(known.shape.fields)[:_MAX_NAMES] if "object" in kinds else []
    hint = f": name one of its fields, {', '.join(fields)}" if fields else ""
    raise InvalidDecisionError(
        f"{called} is {known.description or 'a pair of item and result'}, and a number or a text is wanted{hint}"
    )


def _list_kinds(shape: JsonShape) -> frozenset[Kind]:
    """Return the kinds of a shape, without null."""
    return frozenset(kind for kind in shape.kinds if kind != "null")


def _shorten(constant_value: object) -> str:
    """Return the ``repr`` of a value, cut for a message."""
    return repr(constant_value)[:_MAX_SHOWN]


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
_DASH = "–"
_DIGITS = 4


def render_value(constant_value: Value, lookup: PathLookup, wanted: JsonShape = UNKNOWN) -> ProgramExpression:
    """Return the expression of a value of a sentence, converted to the wanted shape.

    Raises:
        InvalidDecisionError: a path leads nowhere, or the value cannot have that shape.
    """
    if not isinstance(constant_value, str):
        return fit_constant(constant_value, wanted)
    parts = split_pieces(constant_value)
    match parts:
        case [ValuePath() as path]:
            return fit_expression(lookup(path).non_null, wanted, str(path))
        case [] | [str()]:
            return fit_constant("".join(map(str, parts)), wanted)
        case _:
            return fit_expression(render_text(parts, lookup), wanted, "a text")


def render_text(parts: str | Sequence[str | ValuePath], lookup: PathLookup) -> ProgramExpression:
    """Return the expression of a text with the values of its paths inserted.

    A missing value is shown as a dash, the items of a list are joined with commas, and computed numbers are rounded.
    """
    expressions = [
        part if isinstance(part, str) else _soften(lookup(part))
        for part in (split_pieces(parts) if isinstance(parts, str) else parts)
    ]
    needs = tuple(need for part in expressions if isinstance(part, ProgramExpression) for need in part.needs)
    written = [part if isinstance(part, str) else _render_part(part) for part in expressions]
    if all(isinstance(part, str) for part in expressions):
        return ProgramExpression(repr("".join(written)), ValueFacts(TEXT))
    # Before Python 3.12, an f-string cannot contain its own quotes or a backslash in an expression.
    if any(
        '"' in one or "\\" in one
        for one, part in zip(written, expressions, strict=True)
        if isinstance(part, ProgramExpression)
    ):
        sum_of = (
            repr(one) if isinstance(part, str) else f"str({one})"
            for one, part in zip(written, expressions, strict=True)
        )
        return ProgramExpression(" + ".join(sum_of), ValueFacts(TEXT), needs)
    inner = (
        _escape_literal(one) if isinstance(part, str) else f"{{{one}}}"
        for one, part in zip(written, expressions, strict=True)
    )
    return ProgramExpression(f'f"{"".join(inner)}"', ValueFacts(TEXT), needs)


def _soften(expression: ProgramExpression) -> ProgramExpression:
    """Return the alternative that treats a missing field as null, if the expression has one."""
    return expression.soft or expression


def _render_part(part: ProgramExpression) -> str:
    """Return the code that formats an expression for a text."""
    known = part.known
    if known.computed:
        return f"round({part.text}, {_DIGITS})"
    if known.is_list and known.each is None and known.item.shape.kinds <= _SCALARS and not known.nullable:
        return f"', '.join([str(each) for each in {part.text}])"
    return f"({part.text} if {part.text} is not None else '{_DASH}')" if known.nullable else part.text


def _escape_literal(words: str) -> str:
    """Escape words for an f-string."""
    return "".join(_ESCAPED.get(one) or (one if one.isprintable() else repr(one)[1:-1]) for one in words)


_ESCAPED = {"\\": "\\\\", '"': '\\"', "{": "{{", "}": "}}", "\n": "\\n"}
