"""JSON values as expressions of a program's text, and back: whatever JSON holds, in a form that people can read and change."""

import ast
import json
import math
from collections.abc import Callable

from pydantic.types import JsonValue

_DEEPEST = 24
_MOST = 400
"""Levels and parts of a value that is written as Python writes it; beyond, it stands as JSON in a text, which no reader finds too deep."""
_MOST_READ = 20_000
"""Parts of a value that are read."""
LOADS = "json.loads"
_NUMBERS = ("nan", "inf", "-inf")


def literal(value: JsonValue) -> str:
    """A value as an expression."""
    return f"{LOADS}({quoted(json.dumps(value))})" if _large(value) else _literal(value)


def quoted(text: str) -> str:
    """A text in double quotes where it has nothing that must be escaped but these; else as Python writes it, in ASCII where it is not to be seen."""
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


class NotConstantError(ValueError):
    """An expression whose value is not the same each time, or that JSON has no form for."""


def constant(expression: ast.expr, named: Callable[[str], ast.expr | None] = lambda _: None) -> JsonValue:
    """The value of an expression that is the same one each time. ``named``: what a name of the text stands for.

    Raises:
        NotConstantError: it is none.
    """
    return _Constants(named).value(expression)


class _Constants:
    """Reads one expression; so many parts of it at most, since names may hold names."""

    def __init__(self, named: Callable[[str], ast.expr | None]) -> None:
        self._named = named
        self._within: list[str] = []
        self._left = _MOST_READ

    def value(self, expression: ast.expr) -> JsonValue:
        self._left -= 1
        if self._left < 0:
            raise NotConstantError
        match expression:
            case ast.Constant(None | bool() | int() | float() | str() as value):
                return value
            case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as number)):
                return -number
            case ast.List(parts) | ast.Tuple(parts):
                return [self.value(part) for part in parts]
            case ast.Dict(keys, values):
                return {_text(key): self.value(one) for key, one in zip(keys, values, strict=True)}
            case ast.Name(name):
                return self._of_name(name)
            case ast.Call(ast.Name("float"), [ast.Constant(str() as text)], []) if text in _NUMBERS:
                return float(text)
            case ast.Call(ast.Attribute(ast.Name("json"), "loads"), [ast.Constant(str() as text)], []):
                return _read(text)
            case _:
                raise NotConstantError

    def _of_name(self, name: str) -> JsonValue:
        held = self._named(name)
        if held is None or name in self._within:
            raise NotConstantError
        self._within.append(name)
        value = self.value(held)
        self._within.pop()
        return value


def _text(key: ast.expr | None) -> str:
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        return key.value
    raise NotConstantError


def _read(text: str) -> JsonValue:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise NotConstantError from None
