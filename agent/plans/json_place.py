"""A place in a response, as ``items[0].lat``, and the value there."""

import re

from pydantic.types import JsonValue

from graph.literals import read_value

_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
INDEX = re.compile(r"\[\d+\]")
"""In a field: the item of a list that stands there."""
ITEM = "[]"
"""In a field: the item of the list that the request names or means, else the first, is found when the response is there."""


def value_at(response: str, field: str) -> JsonValue:
    """The value at a place of a response; the whole of it for an empty field. None where there is none."""
    value = read_value(response)
    for part in _PART.finditer(field):
        if part[1] is not None:
            value = value[int(part[1])] if isinstance(value, list) and int(part[1]) < len(value) else None
        else:
            value = value.get(part[2]) if isinstance(value, dict) else None
    return value


def any_item(field: str) -> str:
    """A place with ``[]`` for each of its indices: ``items[2].lat`` → ``items[].lat``."""
    return INDEX.sub(ITEM, field)
