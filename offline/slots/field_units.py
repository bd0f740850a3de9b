"""The unit in which a tool's document says that a field of its response is measured."""

import re
from collections.abc import Iterator
from functools import lru_cache

from pydantic.types import JsonValue

from agent.parameters.needs import Need
from domain.tool import ToolDoc
from graph.lenient_json import read_value
from offline.nlp.gazetteer import SHORT_UNITS
from offline.slots.slot_values import enum_value

_LONGEST = 4
"""Words of a unit's name: ``degrees Celsius`` has two, ``kilometres per hour`` three."""
_MAX_SCHEMA = 400_000
_INDEX = re.compile(r"\[\d*\]")


def unit_of(tool: ToolDoc, place: str, need: Need) -> JsonValue:
    """The unit, of those that ``need`` allows, in which the value at ``place`` (``items[2].wind_speed``) of a tool's response is told.

    None where the field's description names none of them; where it names several, the longest name counts.
    """
    if need.kind != "unit" or not need.enum:
        return None
    tokens = re.findall(r"[^\W\d_]+", _described(tool.response_schema or "", _INDEX.sub("[]", place)).lower())
    for size in range(_LONGEST, 0, -1):
        for at in range(len(tokens) - size + 1):
            name = " ".join(tokens[at : at + size])
            unit = None if name in SHORT_UNITS else enum_value(name, need)
            if unit is not None:
                return unit
    return None


@lru_cache(maxsize=1024)
def _described(schema: str, path: str) -> str:
    """What a JSON Schema says of the field at a path (``items[].name``); empty where it says nothing."""
    if not 2 < len(schema) <= _MAX_SCHEMA:
        return ""
    found: JsonValue = read_value(schema)
    for name in _names(path):
        if not isinstance(found, dict):
            return ""
        inside = found.get("items") if name == "[]" else found.get("properties")
        found = inside if name == "[]" else inside.get(name) if isinstance(inside, dict) else None
    told = found.get("description") if isinstance(found, dict) else None
    return told if isinstance(told, str) else ""


def _names(path: str) -> Iterator[str]:
    for part in path.split("."):
        name, _, rest = part.partition("[]")
        if name:
            yield name
        yield from ["[]"] * (part.count("[]") if rest or part.endswith("[]") else 0)
