"""Typed access to the fields of a parsed export line."""

from typing import Any, TypeVar

T = TypeVar("T")


class LineError(ValueError):
    """An error in a line of an export."""


def get_field(content: dict[str, Any], name: str, kind: type[T] | tuple[type[T], ...]) -> T:
    """Return a field of the given type. Raises :class:`LineError`, as do all functions here."""
    value = content.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise LineError(f"{name} is missing or of the wrong type")
    return value


def get_text(content: dict[str, Any], name: str) -> str:
    """Return a text."""
    return get_field(content, name, str)


def get_integer(content: dict[str, Any], name: str) -> int:
    """Return an integer."""
    return get_field(content, name, int)


def get_number(content: dict[str, Any], name: str) -> float:
    """Return a number."""
    return float(get_field(content, name, (int, float)))
