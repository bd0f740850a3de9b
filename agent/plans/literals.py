"""JSON values as Python expressions that people can read and change."""

import json
import math

from pydantic.types import JsonValue

_DEEPEST = 24
_MOST = 400
"""Limits of a value that is written as a Python literal: levels (``_DEEPEST``) and parts.

Larger values are written as JSON in a text, which no parser finds too deeply nested.
"""
LOADS = "json.loads"


def literal(value: JsonValue) -> str:
    """Return a value as an expression."""
    return f"{LOADS}({quoted(json.dumps(value))})" if _large(value) else _literal(value)


def quoted(text: str) -> str:
    """Return a text as a string literal, with double quotes where possible.

    Texts with quotes or invisible characters are written as Python's ``repr`` does.
    """
    if not text.isprintable() or '"' in text:
        return repr(text)
    return '"' + text.replace("\\", "\\\\") + '"'


def _literal(value: JsonValue) -> str:
    match value:
        case str():
            return quoted(value)
        case float() if not math.isfinite(value):
            return f'float("{value}")'
        case list():
            return f"[{', '.join(map(_literal, value))}]"
        case dict():
            return f"{{{', '.join(f'{quoted(name)}: {_literal(one)}' for name, one in value.items())}}}"
        case _:
            return repr(value)


def _large(value: JsonValue) -> bool:
    """Return True if a value has too many levels or parts for a literal."""
    level, parts = [value], 0
    for _ in range(_DEEPEST):
        parts += len(level)
        level = [inner for one in level for inner in _inner(one)]
        if not level or parts > _MOST:
            break
    return bool(level)


def _inner(value: JsonValue) -> list[JsonValue]:
    match value:
        case list():
            return value
        case dict():
            return list(value.values())
        case _:
            return []
