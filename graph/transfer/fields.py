"""The fields of a parsed line, each of the type that it must have."""

from typing import Any, TypeVar

T = TypeVar("T")


class LineError(ValueError):
    """What is wrong with a line."""


def field(content: dict[str, Any], name: str, kind: type[T] | tuple[type[T], ...]) -> T:
    """A field of that type. Raises :class:`LineError`, as all here."""
    value = content.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise LineError(f"{name} is missing or of the wrong type")
    return value


def text(content: dict[str, Any], name: str) -> str:
    """A text."""
    return field(content, name, str)


def whole(content: dict[str, Any], name: str) -> int:
    """An integer."""
    return field(content, name, int)


def number(content: dict[str, Any], name: str) -> float:
    """A number."""
    return float(field(content, name, (int, float)))
