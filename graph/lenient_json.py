"""Lenient parsing of values found in catalogues and recordings: JSON, Python literals, or truncated JSON."""

import math
import re
import sys
from collections.abc import Callable
from typing import cast

import orjson
from pydantic.types import JsonValue

from domain.python_source import parse_literal

MAX_CHARACTERS = 2_000_000
MAX_DEPTH = 250
"""Maximum nesting of lists and objects.

No API needs more, and recursive functions here and in libraries stay within Python's recursion limit at this depth.
"""
_MAX_PYTHON_CHARACTERS = 100_000
_MAX_GUESSED_DEPTH = 60
_MAX_BITS = 64
_SURROGATES = re.compile("[\ud800-\udfff]")
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


def read_value(text: str) -> JsonValue:
    """Parse the value in a text; return None if there is none, or if it is null.

    Tries JSON, then a Python literal (``{'a': None}``), then JSON that was cut off, of which the complete part is
    returned. Texts over ``MAX_CHARACTERS`` and values nested deeper than ``MAX_DEPTH`` are not read. Never raises.
    """
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        value = cast(JsonValue, orjson.loads(text))
    except orjson.JSONDecodeError:
        stripped = text.strip()
    else:
        return None if _may_be_deep(text) and is_too_deep(value) else value
    if stripped[:1] not in ("{", "["):
        return None
    value = _parse_python(stripped)
    return _parse_truncated_json(stripped) if value is None else value


BEYOND_64_BITS = "holds a whole number beyond 64 bits, which cannot be sent; give it as text where that is taken"
"""Error message for arguments of which :func:`is_beyond_64_bits` is true."""


def contains_value(value: object, predicate: Callable[[object], bool], depth: int = MAX_DEPTH) -> bool:
    """Return whether ``predicate`` is true of a value, or of one nested in it down to ``depth`` levels.

    Containers themselves are not tested, except at the depth limit.
    """
    match value:
        case dict() if depth:
            return any(contains_value(one, predicate, depth - 1) for one in cast(dict[object, object], value).values())
        case list() | tuple() | set() | frozenset() if depth:
            return any(contains_value(one, predicate, depth - 1) for one in cast(list[object], value))
        case _:
            return predicate(value)


def is_beyond_64_bits(value: object) -> bool:
    """Return whether a value is an integer too large for events and stores."""
    return isinstance(value, int) and not -(2**63) <= value < 2**63


def is_too_deep(value: JsonValue, max_depth: int = MAX_DEPTH) -> bool:
    """Return whether a value is nested deeper than ``max_depth`` levels."""
    level = [value]
    for _ in range(max_depth):
        nested = (
            outer.values() if isinstance(outer, dict) else outer for outer in level if isinstance(outer, (dict, list))
        )
        level = [inner for members in nested for inner in members if isinstance(inner, (dict, list))]
        if not level:
            return False
    return True


def is_text_too_deep(text: str) -> bool:
    """Return whether a JSON-like text is nested deeper than ``MAX_DEPTH``, whether or not it is valid."""
    if not _may_be_deep(text):
        return False
    depth = 0
    for bracket in _BRACKETS.finditer(text):
        if bracket[0] in "[{":
            depth += 1
        elif bracket[0] in "]}":
            depth -= 1
        if depth > MAX_DEPTH:
            return True
    return False


def _may_be_deep(text: str) -> bool:
    """Cheap test that rules out deep nesting: a text needs more opening brackets than ``MAX_DEPTH`` to exceed it."""
    return text.count("[") + text.count("{") > MAX_DEPTH


def _parse_python(text: str) -> JsonValue:
    """Parse a Python literal; return None if the text is not one that can be represented as JSON."""
    if '"' not in text and "\\" not in text:
        # Every apostrophe is then a delimiter; orjson is 20 times as fast as ast on the many recorded calls.
        try:
            value = cast(JsonValue, orjson.loads(text.replace("'", '"')))
        except orjson.JSONDecodeError:
            pass
        else:
            return None if _may_be_deep(text) and is_too_deep(value) else value
    if len(text) > _MAX_PYTHON_CHARACTERS or max(text.count("["), text.count("{"), text.count("(")) > 5_000:
        return None
    try:
        return _to_json(parse_literal(text), 0)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _to_json(value: object, depth: int) -> JsonValue:
    """Convert a Python literal to JSON.

    Lone surrogates are replaced, integers beyond 64 bits become floats, and non-finite numbers become null.
    """
    if depth > _MAX_GUESSED_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        value = float(value) if value.bit_length() < sys.float_info.max_exp else None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, dict):
        items = cast(dict[object, object], value)
        return {_SURROGATES.sub("\ufffd", str(key)): _to_json(item, depth + 1) for key, item in items.items()}
    if isinstance(value, (list, tuple)):
        return [_to_json(item, depth + 1) for item in cast(list[object], value)]
    raise ValueError(f"{type(value).__name__} has no JSON form")


def _parse_truncated_json(text: str) -> JsonValue:
    """Parse truncated JSON by closing it after its last complete member."""
    last_complete = _find_last_complete(text)
    if last_complete is None:
        return None
    end, open_brackets = last_complete
    closing = "".join("}" if bracket == "{" else "]" for bracket in reversed(open_brackets))
    try:
        return cast(JsonValue, orjson.loads(text[:end] + closing))
    except orjson.JSONDecodeError:
        return None


def _find_last_complete(text: str) -> tuple[int, str] | None:
    """Return the end of the last complete member and the brackets open there, or None if nothing is complete."""
    stack: list[str] = []
    last: tuple[int, str] | None = None
    in_string = escaped = False
    for position, character in enumerate(text):
        if in_string:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character in "{[":
            stack.append(character)
            if len(stack) > _MAX_GUESSED_DEPTH:
                return None
            last = (position + 1, "".join(stack))
        elif character in "}]":
            if not stack:
                return None
            stack.pop()
            last = (position + 1, "".join(stack))
        elif character == ",":
            last = (position, "".join(stack))
    return last
