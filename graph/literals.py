"""Structured values out of text as it is found in catalogues and recordings: JSON, Python literals, or cut JSON."""

import ast
from typing import cast

import orjson
from pydantic.types import JsonValue

MAX_CHARACTERS = 2_000_000
_MAX_PYTHON_CHARACTERS = 100_000
_MAX_DEPTH = 60


def read_value(text: str) -> JsonValue:
    """The value that a text holds, or None where it holds none (or null).

    Tried in turn: JSON, a Python literal (``{'a': None}``), JSON that was cut off at some length (what is complete of
    it). Texts over ``MAX_CHARACTERS`` are not read. Never raises.
    """
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        return cast(JsonValue, orjson.loads(text))
    except orjson.JSONDecodeError:
        stripped = text.strip()
    if stripped[:1] not in ("{", "["):
        return None
    value = _python(stripped)
    return _cut_json(stripped) if value is None else value


def _python(text: str) -> JsonValue:
    if '"' not in text and "\\" not in text:
        # Every apostrophe is then a delimiter; orjson is 20 times as fast as ast on the many recorded calls.
        try:
            return cast(JsonValue, orjson.loads(text.replace("'", '"')))
        except orjson.JSONDecodeError:
            pass
    if len(text) > _MAX_PYTHON_CHARACTERS or max(text.count("["), text.count("{"), text.count("(")) > 5_000:
        return None
    try:
        return _as_json(ast.literal_eval(text), 0)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _as_json(value: object, depth: int) -> JsonValue:
    if depth > _MAX_DEPTH:
        raise ValueError("nested too deeply")
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, dict):
        items = cast(dict[object, object], value)
        return {str(key): _as_json(item, depth + 1) for key, item in items.items()}
    if isinstance(value, (list, tuple)):
        return [_as_json(item, depth + 1) for item in cast(list[object], value)]
    raise ValueError(f"{type(value).__name__} has no JSON form")


def _cut_json(text: str) -> JsonValue:
    """Close a cut JSON text after its last complete member."""
    kept = _last_complete(text)
    if kept is None:
        return None
    end, open_brackets = kept
    closing = "".join("}" if bracket == "{" else "]" for bracket in reversed(open_brackets))
    try:
        return cast(JsonValue, orjson.loads(text[:end] + closing))
    except orjson.JSONDecodeError:
        return None


def _last_complete(text: str) -> tuple[int, str] | None:
    """Where the last complete member ends, and the brackets that are open there; None where nothing is complete."""
    stack: list[str] = []
    kept: tuple[int, str] | None = None
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
            if len(stack) > _MAX_DEPTH:
                return None
            kept = (position + 1, "".join(stack))
        elif character in "}]":
            if not stack:
                return None
            stack.pop()
            kept = (position + 1, "".join(stack))
        elif character == ",":
            kept = (position, "".join(stack))
    return kept
