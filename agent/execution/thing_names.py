"""Names of the things that ids stand for, taken from the response items that hold the ids."""

import re
from collections.abc import Iterator, Mapping

from pydantic.types import JsonValue

from agent.execution.wording import format_for_people, split_identifier
from agent.text import clean
from graph.entity_vocabulary import IDENTITY
from graph.identifiers import split_words

_IDENTIFYING_WORDS = IDENTITY | {"code", "key", "number", "symbol", "reference"}
"""Last words of fields that identify a thing."""
_NAME_WORDS = ("name", "title", "label", "subject", "summary")
"""Last words of fields that hold the name of a thing, the most common one first."""
_MAX_DETAILS = 3
_MAX_NAME_LENGTH = 80
_ADDRESS_PATTERN = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def is_identifying(place: str) -> bool:
    """Return whether a field's name says that it identifies a thing, such as ``id`` or ``order_number``."""
    name_words = split_words(place.rpartition(".")[2])
    return bool(name_words) and name_words[-1] in _IDENTIFYING_WORDS


def is_named_after(place: str, parameter: str) -> bool:
    """Return whether a parameter such as ``task_id`` is named after a field: ``task_id``, or ``id`` in ``tasks``."""
    parameter_words, (*holders, field) = (
        split_words(parameter),
        [split_words(part.partition("[")[0]) for part in place.split(".")],
    )
    return field == parameter_words or (bool(holders) and (*holders[-1], *field) == parameter_words)


def find_thing_name_at(document: JsonValue, place: str) -> str:
    """Return the name or details of the item that holds the field at a place such as ``items[2].id``.

    It is empty if the field identifies nothing, or if the item has neither a name nor details.
    """
    holder, _, field = place.rpartition(".")
    item = _find_value_at(document, holder)
    if not isinstance(item, dict) or not is_identifying(field):
        return ""
    return _find_name(item) or _format_details(item, field)


def _find_name(item: Mapping[str, JsonValue]) -> str:
    """Return an item's own name, else that of its only named inner object followed by details of the item."""
    own = _find_own_name(item)
    inside = (
        [(name, _find_own_name(value)) for name, value in item.items() if isinstance(value, dict)] if not own else []
    )
    named_parts = [(name, told) for name, told in inside if told]
    if len(named_parts) != 1:
        return own
    rest = _format_details(
        {name: value for name, value in item.items() if name != named_parts[0][0]}, "", _MAX_DETAILS - 1
    )
    return ", ".join(part for part in (named_parts[0][1], rest) if part)


def _find_own_name(item: Mapping[str, JsonValue]) -> str:
    texts = {split_words(name): value for name, value in item.items() if isinstance(value, str) and value.strip()}
    exact = (texts[(word,)] for word in _NAME_WORDS if (word,) in texts)
    ending = (value for word in _NAME_WORDS for named, value in texts.items() if named and named[-1] == word)
    return clean(next(exact, next(ending, "")), _MAX_NAME_LENGTH)


def _format_details(item: Mapping[str, JsonValue], field: str, most: int = _MAX_DETAILS) -> str:
    """Describe an item that has no name by its first informative values."""
    parts = (
        f"{split_identifier(clean(name, 40))} {format_for_people(value)}"
        for name, value in _iter_details(item)
        if name != field
    )
    return clean(", ".join(one for one, _ in zip(parts, range(most), strict=False)), 2 * _MAX_NAME_LENGTH)


def _iter_details(item: Mapping[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    for name, value in item.items():
        single = isinstance(value, (int, float)) and not isinstance(value, bool)
        text = (
            isinstance(value, str) and 0 < len(value.strip()) <= _MAX_NAME_LENGTH and not _ADDRESS_PATTERN.match(value)
        )
        if (single or text) and not is_identifying(name):
            yield name, value


def _find_value_at(document: JsonValue, place: str) -> JsonValue:
    """Return the value at a place; None if there is none."""
    value = document
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", place):
        if name and isinstance(value, dict):
            value = value.get(name)
        elif index and isinstance(value, list) and int(index) < len(value):
            value = value[int(index)]
        else:
            return None
    return value
