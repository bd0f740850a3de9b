"""Typed access to the fields of a parsed line."""

from typing import Any, TypeVar

T = TypeVar("T")


class LineError(ValueError):
    """An error in a line of an export."""


def field(content: dict[str, Any], name: str, kind: type[T] | tuple[type[T], ...]) -> T:
    """Return a field of the given type. Raises :class:`LineError`, as do all functions here."""
    value = content.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise LineError(f"{name} is missing or of the wrong type")
    return value


def text(content: dict[str, Any], name: str) -> str:
    """Return a text."""
    return field(content, name, str)


def whole(content: dict[str, Any], name: str) -> int:
    """Return an integer."""
    return field(content, name, int)


def number(content: dict[str, Any], name: str) -> float:
    """Return a number."""
    return float(field(content, name, (int, float)))
