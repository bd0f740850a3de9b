"""A place in a response, as ``items[0].lat``, and the value there."""

import re
from collections.abc import Iterator

from pydantic.types import JsonValue

from agent.execution.user_values import plain, stands
from graph.lenient_json import read_value

_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_DEEP = 3
"""Levels of an item that are looked at for what the request names."""
INDEX = re.compile(r"\[\d+\]")
"""In a field: the item of a list that stands there."""
ITEM = "[]"
"""In a field: the item of the list that the request names, else the first, is found when the response is there."""


def value_at(response: str, field: str) -> JsonValue:
    """The value at a place of a response; the whole of it for an empty field. None where there is none."""
    return value_in(read_value(response), field)


def value_in(value: JsonValue, field: str) -> JsonValue:
    """The value at a place of a value, as :func:`value_at`."""
    for part in _PART.finditer(field):
        if part[1] is not None:
            value = value[int(part[1])] if isinstance(value, list) and int(part[1]) < len(value) else None
        else:
            value = value.get(part[2]) if isinstance(value, dict) else None
    return value


def any_item(field: str) -> str:
    """A place with ``[]`` for each of its indices: ``items[2].lat`` → ``items[].lat``."""
    return INDEX.sub(ITEM, field)


def places(response: str, field: str) -> Iterator[tuple[str, JsonValue]]:
    """The places that a field such as ``items[].lat`` may mean (``items[2].lat``), each with its value."""
    yield from ((place, value) for place, value, _ in _places(read_value(response), field))


def named_item(response: str, field: str, request: str, *, only_named: bool = False) -> tuple[str, JsonValue] | None:
    """The value of a field such as ``items[].lat``, with its place (``items[2].lat``), in the item of which most texts stand in the request.

    The first item where none does, or several do as well; with ``only_named`` none then. None where no item has the field.
    """
    return named_in(read_value(response), field, request, only_named=only_named)


def named_in(whole: JsonValue, field: str, request: str, *, only_named: bool = False) -> tuple[str, JsonValue] | None:
    """The same of a value, as :func:`named_item` of a response."""
    asked = plain(request)
    found = [(place, value, item) for place, value, item in _places(whole, field) if value is not None]
    if not found:
        return None
    named = [sum(stands(text, asked) for text in _texts(item)) for _, _, item in found]
    best = max(range(len(found)), key=lambda at: named[at])
    if only_named and (not named[best] or named.count(named[best]) > 1):
        return None
    return found[best][:2]


def _places(
    value: JsonValue, field: str, before: str = "", item: JsonValue = None
) -> Iterator[tuple[str, JsonValue, JsonValue]]:
    """The places of a field, each with its value and the innermost item that holds it."""
    head, _, rest = field.partition(ITEM)
    name = head.strip(".")
    here = f"{before}.{name}".strip(".") if name else before
    inner = value_in(value, name)
    if ITEM not in field:
        yield here, inner, item
        return
    for index, one in enumerate(inner if isinstance(inner, list) else ()):
        yield from _places(one, rest, f"{here}[{index}]", one)


def _texts(item: JsonValue, depth: int = 0) -> Iterator[str]:
    """The single values of an item, as plain text."""
    if isinstance(item, (dict, list)) and depth < _DEEP:
        for inner in item.values() if isinstance(item, dict) else item:
            yield from _texts(inner, depth + 1)
    elif isinstance(item, (str, int, float)) and not isinstance(item, bool):
        yield plain(str(item))
