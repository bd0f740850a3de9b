"""The units in which the fields of a response are told: by its schema, by the arguments, or by a field beside."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from pydantic.types import JsonValue

from agent.parameters.needs import Need
from domain.model import JsonObject
from domain.tool import ToolDoc
from graph.identifiers import words
from graph.literals import read_value
from offline.nlp.gazetteer import SHORT_UNITS
from offline.slots.slot_values import enum_value

_LONGEST = 4
"""Words of a unit's name: ``degrees Celsius`` has two, ``kilometres per hour`` three."""
_MAX_SCHEMA = 400_000
_MAX_DEPTH = 16
_INDEX = re.compile(r"\[\d*\]")
_MEASURE = re.compile(
    r"\b(?:(?:in|of) )?((?:kilo|centi|milli)?met(?:re|er)s(?: per (?:hour|second))?|kilomet(?:re|er)s|miles(?: per hour)?|feet|inches|yards|hectares"
    r"|(?:kilo|milli)?grams|pounds|degrees (?:celsius|fahrenheit)|celsius|fahrenheit|lit(?:re|er)s|millilit(?:re|er)s|hectopascals?|minutes|seconds|hours)\b",
    re.IGNORECASE,
)  # fmt: skip
_MONEY = re.compile(r"\bin (?:the )?([A-Z]{3})\b")
_RESULT = frozenset({"converted", "result", "received", "target"})
_TARGET = frozenset({"to", "target", "into", "destination"})


def unit_of(tool: ToolDoc, place: str, need: Need) -> JsonValue:
    """The unit, of those that ``need`` allows, in which the value at ``place`` (``items[2].wind_speed``) of a tool's response is told.

    None where the field's description names none of them; where it names several, the longest name counts.
    """
    if need.kind != "unit" or not need.enum:
        return None
    path = _INDEX.sub("[]", place)
    described = next((text for own, _, text in _fields(tool.response_schema or "") if own == path), "")
    tokens = re.findall(r"[^\W\d_]+", described.lower())
    for size in range(_LONGEST, 0, -1):
        for at in range(len(tokens) - size + 1):
            name = " ".join(tokens[at : at + size])
            unit = None if name in SHORT_UNITS else enum_value(name, need)
            if unit is not None:
                return unit
    return None


def units_of(tool: ToolDoc, arguments: JsonObject) -> Mapping[str, str]:
    """Units by field name, lower case: those that the response's schema describes, and the currency that was asked for."""
    schema = tool.response_schema or ""
    found = dict(_measured(schema))
    aim = next((v for k, v in arguments.items() if "currency" in words(k) and _TARGET & set(words(k))), None)
    if isinstance(aim, str):
        names = {path.rpartition(".")[2].lower() for path, _, _ in _fields(schema)}
        found |= {name: aim for name in names if _RESULT & set(words(name))}
    return found


@lru_cache(maxsize=512)
def _measured(schema: str) -> Mapping[str, str]:
    """A name that is described in two ways has no unit: nobody knows which is meant."""
    told: dict[str, set[str]] = {}
    for path, numeric, text in _fields(schema):
        name = path.rpartition(".")[2]
        hit = (_MEASURE.search(text) or _MONEY.search(text)) if numeric else None
        unit = hit[1] if hit else ""
        unit = unit if unit.isupper() else unit.lower()
        told.setdefault(name.lower(), set()).add(unit if not set(words(unit)) <= set(words(name)) else "")
    return {name: next(iter(units)) for name, units in told.items() if len(units) == 1 and "" not in units}


@lru_cache(maxsize=512)
def _fields(schema: str) -> tuple[tuple[str, bool, str], ...]:
    """The fields of a JSON Schema: path (``items[].name``), whether a number, and description."""
    return tuple(_walk(read_value(schema), "", 0)) if 2 < len(schema) <= _MAX_SCHEMA else ()


def _walk(schema: JsonValue, path: str, depth: int) -> Iterator[tuple[str, bool, str]]:
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return
    fields = schema.get("properties")
    for name, field in fields.items() if isinstance(fields, dict) else ():
        if isinstance(field, dict):
            own, text = f"{path}.{name}" if path else name, field.get("description")
            numeric = field.get("type") in ("number", "integer") or "anyOf" in field
            yield own, numeric, text if isinstance(text, str) else ""
            yield from _walk(field, own, depth + 1)
    yield from _walk(schema.get("items"), f"{path}[]", depth + 1)
    for key in ("anyOf", "oneOf", "allOf"):
        for one in many if isinstance(many := schema.get(key), list) else ():
            yield from _walk(one, path, depth + 1)
