"""Conversion of expressions and constants to a wanted shape, if they differ in type only."""

import json
from dataclasses import replace
from typing import Literal, NoReturn

from pydantic.types import JsonValue

from agent.programs.grammar.sentence import Value
from agent.programs.grammar.values import NUMBER, TEXT, Found, Known, where
from domain.errors import InvalidDecisionError
from graph.shapes import UNKNOWN, Kind, Shape, shape_of_value

_ARRAY: frozenset[Kind] = frozenset({"array"})
_OBJECT: frozenset[Kind] = frozenset({"object"})
_TEXT: frozenset[Kind] = frozenset({"string"})
_WHOLE: frozenset[Kind] = frozenset({"integer"})
_TRUTH: frozenset[Kind] = frozenset({"boolean"})
_NUMBERS: frozenset[Kind] = frozenset({"number", "integer"})
_TYPES: dict[Kind, tuple[type, ...]] = {
    "boolean": (bool,), "integer": (int,), "number": (int, float), "array": (list,), "object": (dict,), "string": (str,), "null": (),
}  # fmt: skip
_SHOWN = 60
_NAMED = 20


def fitted(found: Found, wanted: Shape, called: str) -> Found:
    """Return an expression of the wanted shape. ``called``: the sentence's words for it.

    Raises:
        InvalidDecisionError: it cannot be converted.
    """
    kinds, known = _kinds(wanted), found.known
    if not kinds or known.a_list is None:
        return found
    if known.a_list:
        return _list(found, wanted, called)
    if kinds == _ARRAY:
        inner = fitted(found, wanted.items or UNKNOWN, called)
        return Found(f"[{inner.text}]", Known(wanted), inner.needs)
    if known.pair or "object" in known.shape.kinds:
        return _object(found, wanted, called)
    has = _kinds(known.shape)
    if kinds == _TEXT and known.a_number:
        return replace(found, text=f"str({found.text})", known=Known(TEXT))
    if kinds == _WHOLE and not has <= _WHOLE and has <= _NUMBERS | _TEXT:
        return replace(found, text=f"int({found.text})", known=Known(wanted))
    if kinds <= _NUMBERS and not has <= _NUMBERS and has <= _NUMBERS | _TEXT:
        return replace(found, text=f"float({found.text})", known=Known(NUMBER))
    if not (has <= kinds or (has <= _NUMBERS and "number" in kinds)):
        _wrong(f"{called} is {known.in_words}, and {Known(wanted).in_words} is wanted")
    return found


def _list(found: Found, wanted: Shape, called: str) -> Found:
    """Fit a list, item by item."""
    if "array" not in wanted.kinds:
        _wrong(
            f"{called} is a list where one value is wanted: `for_each` goes through a list, `{called}[0]` is its first"
        )
    if found.known.each:
        _wrong(f"{called} holds pairs of item and result: name what is wanted, as in {called}[].result")
    inner = fitted(Found("each", found.known.item).there, wanted.items or UNKNOWN, f"{called}[]")
    if inner.text == "each" and not inner.needs:
        return found
    return replace(found, text=f"[{inner.text} for each in {found.text}{where(inner.needs)}]", known=Known(wanted))


def _object(found: Found, wanted: Shape, called: str) -> Found:
    """Fit an object, which is possible only if the wanted object has no known fields."""
    if "object" in wanted.kinds and not wanted.fields and not found.known.pair:
        return found
    fields = ["item", "result"] if found.known.pair else list(found.known.shape.fields)[:_NAMED]
    if "object" in wanted.kinds:
        field = next(iter(wanted.fields), "field")
        raise InvalidDecisionError(
            f"{called} is an object of another kind: give its fields one by one, as in parameter.{field}"
        )
    raise InvalidDecisionError(
        f"{called} is an object, and {Known(wanted).in_words} is wanted: name one of its fields, {', '.join(fields) or 'as in x.name'}"
    )


def constant(given: Value | JsonValue, wanted: Shape) -> Found:
    """Return a constant of the wanted shape, converting its type if the value stays the same.

    Raises:
        InvalidDecisionError: it has another value.
    """
    meant = _meant(given, wanted)
    if wanted.enum and meant not in wanted.enum and not isinstance(meant, list):
        _wrong(f"{_short(given)} is none of the values that are allowed: {', '.join(map(str, wanted.enum[:_NAMED]))}")
    return Found(repr(meant), Known(shape_of_value(meant)))


def _meant(given: Value | JsonValue, wanted: Shape) -> JsonValue:
    """Return the constant as a value of one of the wanted kinds."""
    kinds = _kinds(wanted)
    if isinstance(given, dict):
        return given
    if isinstance(given, list):
        if kinds and "array" not in kinds:
            _wrong(f"a list is given where {Known(wanted).in_words} is wanted")
        return [_meant(one, wanted.items or UNKNOWN) for one in given]
    if not kinds or given in wanted.enum:
        return given
    if kinds == _ARRAY:
        read = _read(given)
        return _meant(read if isinstance(read, list) else [given], wanted)
    if kinds == _TEXT and not isinstance(given, str):
        return str(given).lower() if isinstance(given, bool) else str(given)
    if kinds == _WHOLE and isinstance(given, float) and given.is_integer():
        return int(given)
    if any(type(given) in _TYPES[kind] for kind in kinds):
        return given
    read = _read(given.lower() if kinds == _TRUTH else given) if isinstance(given, str) else None
    if read is None or not any(type(read) in _TYPES[kind] for kind in kinds):
        _wrong(f"{_short(given)} is given where {Known(wanted).in_words} is wanted")
    return read


def comparable(left: Found, right: Found, called: str) -> tuple[str, str]:
    """Return two expressions that can be ordered: both numbers, or both texts.

    Raises:
        InvalidDecisionError: one of them is neither.
    """
    kinds = [_order(one, called) for one in (left, right)]
    if "number" in kinds:
        return number(left), number(right)
    return left.text, right.text


def ordered(found: Found, called: str) -> str:
    """Return an expression to sort by. Raises like ``comparable``."""
    return number(found) if _order(found, called) == "number" else found.text


def number(found: Found) -> str:
    """Return an expression as a number, since some APIs write numbers as text."""
    return f"float({found.text})" if "string" in found.known.shape.kinds else found.text


def _order(found: Found, called: str) -> Literal["number", "text", "unknown"]:
    """Return how an expression is ordered."""
    kinds, known = _kinds(found.known.shape), found.known
    if known.computed or (kinds and kinds & _NUMBERS and kinds <= _NUMBERS | _TEXT):
        return "number"
    if kinds == _TEXT:
        return "text"
    if not kinds and not known.pair and not known.each:
        return "unknown"
    fields = list(known.shape.fields)[:_NAMED] if "object" in kinds else []
    hint = f": name one of its fields, {', '.join(fields)}" if fields else ""
    raise InvalidDecisionError(
        f"{called} is {known.in_words or 'a pair of item and result'}, and a number or a text is wanted{hint}"
    )


def _kinds(shape: Shape) -> frozenset[Kind]:
    """Return the kinds of a shape, without null."""
    return frozenset(kind for kind in shape.kinds if kind != "null")


def _short(given: object) -> str:
    """Return a value for a message, clipped."""
    return repr(given)[:_SHOWN]


def _read(given: object) -> JsonValue:
    """Parse a text as JSON; None if it is none."""
    try:
        return json.loads(given) if isinstance(given, str) else None
    except (ValueError, RecursionError):
        return None


def _wrong(said: str) -> NoReturn:
    """Raise an error about the sentence."""
    raise InvalidDecisionError(said)
