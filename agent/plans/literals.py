"""Write JSON values as Python expressions that people can read and change."""

import json
import math

from pydantic.types import JsonValue

# Limits of a value that is written as a Python literal: levels and parts. Larger values are written as JSON in a string
# literal, which Python's parser cannot find too deeply nested.
_DEEPEST = 24
_MOST = 400
LOADS = "json.loads"
"""Function that reads such a string in the program."""


def to_expression(value: JsonValue) -> str:
    """Return a JSON value as an expression: a literal, or ``json.loads`` of a text if it is large."""
    return f"{LOADS}({quote_text(json.dumps(value))})" if _is_large(value) else _to_python(value)


def quote_text(text: str) -> str:
    """Return a text as a string literal, with double quotes where possible.

    Texts with double quotes or invisible characters are written as ``repr`` does.
    """
    if not text.isprintable() or '"' in text:
        return repr(text)
    return '"' + text.replace("\\", "\\\\") + '"'


def _to_python(value: JsonValue) -> str:
    match value:
        case str():
            return quote_text(value)
        case float() if not math.isfinite(value):
            return f'float("{value}")'
        case list():
            return f"[{', '.join(map(_to_python, value))}]"
        case dict():
            return f"{{{', '.join(f'{quote_text(name)}: {_to_python(one)}' for name, one in value.items())}}}"
        case _:
            return repr(value)


def _is_large(value: JsonValue) -> bool:
    """Return True if a value has too many levels or parts for a literal."""
    values, count = [value], 0
    for _ in range(_DEEPEST):
        count += len(values)
        values = [inner for one in values for inner in _get_parts(one)]
        if not values or count > _MOST:
            break
    return bool(values)


def _get_parts(value: JsonValue) -> list[JsonValue]:
    match value:
        case list():
            return value
        case dict():
            return list(value.values())
        case _:
            return []
