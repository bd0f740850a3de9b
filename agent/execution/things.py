"""Names of the things behind ids, taken from the items of responses that hold the ids."""

import re
from collections.abc import Iterator, Mapping

from pydantic.types import JsonValue

from agent.execution.wording import for_people, spoken
from agent.text import clean
from graph.identifiers import words
from graph.vocabulary import IDENTITY

_TELLS_APART = IDENTITY | {"code", "key", "number", "symbol", "reference"}
"""Last words of fields that identify a thing."""
_NAMES = ("name", "title", "label", "subject", "summary")
"""Last words of fields that hold the name of a thing, the most usual one first."""
_DETAILS = 3
_NAME = 80
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def tells_apart(place: str) -> bool:
    """Return whether a field identifies a thing by its name: ``id``, ``order_number``."""
    named = words(place.rpartition(".")[2])
    return bool(named) and named[-1] in _TELLS_APART


def is_of(place: str, parameter: str) -> bool:
    """Return whether a parameter is named after a field: ``task_id``, or the ``id`` of an item of ``tasks``."""
    wanted, (*holders, field) = words(parameter), [words(part.partition("[")[0]) for part in place.split(".")]
    return field == wanted or (bool(holders) and (*holders[-1], *field) == wanted)


def thing_at(whole: JsonValue, place: str) -> str:
    """Return the name of the item that holds the field at a place (``items[2].id``).

    It is empty where the field identifies nothing, or the item has no name and no details.
    """
    holder, _, field = place.rpartition(".")
    item = _at(whole, holder)
    if not isinstance(item, dict) or not tells_apart(field):
        return ""
    return _name(item) or _details(item, field)


def _name(item: Mapping[str, JsonValue]) -> str:
    """Return the name of an item, else that of its only named inner object, with a few details of the item."""
    own = _own_name(item)
    inside = [(name, _own_name(value)) for name, value in item.items() if isinstance(value, dict)] if not own else []
    named = [(name, told) for name, told in inside if told]
    if len(named) != 1:
        return own
    rest = _details({name: value for name, value in item.items() if name != named[0][0]}, "", _DETAILS - 1)
    return ", ".join(part for part in (named[0][1], rest) if part)


def _own_name(item: Mapping[str, JsonValue]) -> str:
    texts = {words(name): value for name, value in item.items() if isinstance(value, str) and value.strip()}
    exact = (texts[(word,)] for word in _NAMES if (word,) in texts)
    ending = (value for word in _NAMES for named, value in texts.items() if named and named[-1] == word)
    return clean(next(exact, next(ending, "")), _NAME)


def _details(item: Mapping[str, JsonValue], field: str, most: int = _DETAILS) -> str:
    """Describe an item without a name by its first telling values."""
    told = (f"{spoken(clean(name, 40))} {for_people(value)}" for name, value in _telling(item) if name != field)
    return clean(", ".join(one for one, _ in zip(told, range(most), strict=False)), 2 * _NAME)


def _telling(item: Mapping[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    for name, value in item.items():
        single = isinstance(value, (int, float)) and not isinstance(value, bool)
        text = isinstance(value, str) and 0 < len(value.strip()) <= _NAME and not _ADDRESS.match(value)
        if (single or text) and not tells_apart(name):
            yield name, value


def _at(whole: JsonValue, place: str) -> JsonValue:
    """Return the value at a place; None where there is none."""
    value = whole
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", place):
        if name and isinstance(value, dict):
            value = value.get(name)
        elif index and isinstance(value, list) and int(index) < len(value):
            value = value[int(index)]
        else:
            return None
    return value
