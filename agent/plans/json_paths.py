"""Paths into a response, such as ``items[0].lat``, and the values at them."""

import re
from collections.abc import Iterator

from pydantic.types import JsonValue

from agent.execution.value_search import normalize_text, occurs_in
from graph.lenient_json import read_value

_PATH_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_MAX_ITEM_DEPTH = 3
"""Levels of a list item that are searched for values that the request names."""
INDEX_PATTERN = re.compile(r"\[\d+\]")
"""Index of a list in a path."""
NAMED_ITEM = "[]"
"""Open index in a path: the item that the request names, else the first one, chosen when there is a response."""


def get_value_at(response: str, field: str) -> JsonValue:
    """Return the value at a path of a response, the whole response for an empty path.

    The result is None if there is none.
    """
    return get_value_in(read_value(response), field)


def get_value_in(value: JsonValue, field: str) -> JsonValue:
    """Return the value at a path of a value, as :func:`get_value_at` does."""
    for part in _PATH_PART.finditer(field):
        if part[1] is not None:
            value = value[int(part[1])] if isinstance(value, list) and int(part[1]) < len(value) else None
        else:
            value = value.get(part[2]) if isinstance(value, dict) else None
    return value


def generalize_indices(field: str) -> str:
    """Return a path with all indices left open: ``items[2].lat`` becomes ``items[].lat``."""
    return INDEX_PATTERN.sub(NAMED_ITEM, field)


def expand_places(response: str, field: str) -> Iterator[tuple[str, JsonValue]]:
    """Yield each path that an open one such as ``items[].lat`` stands for in a response, with its value."""
    yield from ((place, value) for place, value, _ in _expand_places(read_value(response), field))


def find_named_item(
    response: str, field: str, request: str, *, only_named: bool = False
) -> tuple[str, JsonValue] | None:
    """Return the place and value of a path such as ``items[].lat`` in the item that the request names.

    That is the item with the most values that occur in the request; of several equal ones, the first. With
    ``only_named``, the request must name exactly one item best. None if there is no such item with a value at the path.
    """
    return find_named_value(read_value(response), field, request, only_named=only_named)


def find_named_value(
    response: JsonValue, field: str, request: str, *, only_named: bool = False
) -> tuple[str, JsonValue] | None:
    """Return the place and value within a JSON value, as :func:`find_named_item` does for a response."""
    plain_request = normalize_text(request)
    candidates = [(place, value, item) for place, value, item in _expand_places(response, field) if value is not None]
    if not candidates:
        return None
    mentions = [sum(occurs_in(text, plain_request) for text in _collect_item_texts(item)) for _, _, item in candidates]
    best = max(range(len(candidates)), key=lambda at: mentions[at])
    if only_named and (not mentions[best] or mentions.count(mentions[best]) > 1):
        return None
    return candidates[best][:2]


def _expand_places(
    value: JsonValue, field: str, prefix: str = "", item: JsonValue = None
) -> Iterator[tuple[str, JsonValue, JsonValue]]:
    """Yield each place that a path stands for, with its value and the innermost list item around it."""
    head, _, rest = field.partition(NAMED_ITEM)
    name = head.strip(".")
    path = f"{prefix}.{name}".strip(".") if name else prefix
    inner = get_value_in(value, name)
    if NAMED_ITEM not in field:
        yield path, inner, item
        return
    for index, element in enumerate(inner if isinstance(inner, list) else ()):
        yield from _expand_places(element, rest, f"{path}[{index}]", element)


def _collect_item_texts(item: JsonValue, depth: int = 0) -> Iterator[str]:
    """Yield the texts and numbers within an item, normalized like the request."""
    if isinstance(item, (dict, list)) and depth < _MAX_ITEM_DEPTH:
        for inner in item.values() if isinstance(item, dict) else item:
            yield from _collect_item_texts(inner, depth + 1)
    elif isinstance(item, (str, int, float)) and not isinstance(item, bool):
        yield normalize_text(str(item))
