"""What an id stands for, as the response that holds it tells: the name of the item that it was taken from."""

import re
from collections.abc import Iterator, Mapping

from pydantic.types import JsonValue

from agent.execution.wording import for_people, spoken
from agent.text import clean
from graph.identifiers import words
from graph.vocabulary import IDENTITY

_TELLS_APART = IDENTITY | {"code", "key", "number", "symbol", "reference"}
"""What a field ends in that tells one thing from all others."""
_NAMES = ("name", "title", "label", "subject", "summary")
"""What a field ends in that says what a thing is called, the most usual one first."""
_DETAILS = 3
_NAME = 80
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def tells_apart(place: str) -> bool:
    """Whether a field, by its name, tells one thing from all others: ``id``, ``order_number``."""
    named = words(place.rpartition(".")[2])
    return bool(named) and named[-1] in _TELLS_APART


def is_of(place: str, parameter: str) -> bool:
    """Whether a field is what a parameter is called after: ``task_id``, or the ``id`` of one of the ``tasks``."""
    wanted, (*holders, field) = words(parameter), [words(part.partition("[")[0]) for part in place.split(".")]
    return field == wanted or (bool(holders) and (*holders[-1], *field) == wanted)


def thing_at(whole: JsonValue, place: str) -> str:
    """What the item is called that holds the field at a place (``items[2].id``); empty where that field tells no thing, or nothing is known of it."""
    holder, _, field = place.rpartition(".")
    item = _at(whole, holder)
    if not isinstance(item, dict) or not tells_apart(field):
        return ""
    return _name(item) or _details(item, field)


def _name(item: Mapping[str, JsonValue]) -> str:
    """Its own name; else that of the one thing inside it that has one."""
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
    """Of a thing without a name, its first values that say something."""
    told = (f"{spoken(clean(name, 40))} {for_people(value)}" for name, value in _telling(item) if name != field)
    return clean(", ".join(one for one, _ in zip(told, range(most), strict=False)), 2 * _NAME)


def _telling(item: Mapping[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    for name, value in item.items():
        single = isinstance(value, (int, float)) and not isinstance(value, bool)
        text = isinstance(value, str) and 0 < len(value.strip()) <= _NAME and not _ADDRESS.match(value)
        if (single or text) and not tells_apart(name):
            yield name, value


def _at(whole: JsonValue, place: str) -> JsonValue:
    """What stands at a place; None where nothing does."""
    value = whole
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", place):
        if name and isinstance(value, dict):
            value = value.get(name)
        elif index and isinstance(value, list) and int(index) < len(value):
            value = value[int(index)]
        else:
            return None
    return value
