"""The unit in which a tool's document says that a field of its response is measured."""

import re
from collections.abc import Iterator
from functools import lru_cache

from pydantic.types import JsonValue

from agent.parameters.needs import Need
from domain.tool import ToolDoc
from graph.literals import read_value
from offline.nlp.gazetteer import SHORT_UNITS
from offline.slots.slot_values import enum_value

_LONGEST = 4
"""Words of a unit's name: ``degrees Celsius`` has two, ``kilometres per hour`` three."""
_MAX_SCHEMA = 400_000
_MAX_DEPTH = 16
_INDEX = re.compile(r"\[\d*\]")


def unit_of(tool: ToolDoc, place: str, need: Need) -> JsonValue:
    """The unit, of those that ``need`` allows, in which the value at ``place`` (``items[2].wind_speed``) of a tool's response is told.

    None where the field's description names none of them; where it names several, the longest name counts.
    """
    if need.kind != "unit" or not need.enum:
        return None
    path = _INDEX.sub("[]", place)
    described = next((text for own, text in _fields(tool.response_schema or "") if own == path), "")
    tokens = re.findall(r"[^\W\d_]+", described.lower())
    for size in range(_LONGEST, 0, -1):
        for at in range(len(tokens) - size + 1):
            name = " ".join(tokens[at : at + size])
            unit = None if name in SHORT_UNITS else enum_value(name, need)
            if unit is not None:
                return unit
    return None


@lru_cache(maxsize=512)
def _fields(schema: str) -> tuple[tuple[str, str], ...]:
    """The fields of a JSON Schema: path (``items[].name``) and description."""
    return tuple(_walk(read_value(schema), "", 0)) if 2 < len(schema) <= _MAX_SCHEMA else ()


def _walk(schema: JsonValue, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return
    fields = schema.get("properties")
    for name, field in fields.items() if isinstance(fields, dict) else ():
        if isinstance(field, dict):
            own, text = f"{path}.{name}" if path else name, field.get("description")
            yield own, text if isinstance(text, str) else ""
            yield from _walk(field, own, depth + 1)
    yield from _walk(schema.get("items"), f"{path}[]", depth + 1)
    for key in ("anyOf", "oneOf", "allOf"):
        for one in many if isinstance(many := schema.get(key), list) else ():
            yield from _walk(one, path, depth + 1)
