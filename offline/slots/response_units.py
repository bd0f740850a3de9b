"""What a number in a response is counted in, where only the document, the arguments or a field beside it tell."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from pydantic.types import JsonValue

from domain.model import JsonObject
from domain.tool import ToolDoc
from graph.identifiers import words
from graph.lenient_json import read_value

_COUNTED = re.compile(
    r"\b(?:(?:in|of) )?((?:kilo|centi|milli)?met(?:re|er)s(?: per (?:hour|second))?|kilomet(?:re|er)s|miles(?: per hour)?|feet|inches|yards|hectares"
    r"|(?:kilo|milli)?grams|pounds|degrees (?:celsius|fahrenheit)|celsius|fahrenheit|lit(?:re|er)s|millilit(?:re|er)s|hectopascals?|minutes|seconds|hours)\b",
    re.IGNORECASE,
)  # fmt: skip
_MONEY = re.compile(r"\bin (?:the )?([A-Z]{3})\b")
_RESULT = frozenset({"converted", "result", "received", "target"})
_TARGET = frozenset({"to", "target", "into", "destination"})
_MOST_DEPTH = 8


def units_of(tool: ToolDoc, arguments: JsonObject) -> Mapping[str, str]:
    """Units by field name, lower case: those that the response's schema describes, and the currency that was asked for."""
    found = dict(_described(tool.response_schema or ""))
    aim = next((v for k, v in arguments.items() if "currency" in words(k) and _TARGET & set(words(k))), None)
    if isinstance(aim, str):
        found |= {name: aim for name in _names(tool.response_schema or "") if _RESULT & set(words(name))}
    return found


@lru_cache(maxsize=512)
def _described(schema: str) -> Mapping[str, str]:
    """A name that is described in two ways has no unit: nobody knows which is meant."""
    told: dict[str, set[str]] = {}
    for name, field in _fields(schema):
        numeric = field.get("type") in ("number", "integer") or "anyOf" in field
        text = field.get("description")
        hit = (_COUNTED.search(text) or _MONEY.search(text)) if numeric and isinstance(text, str) else None
        unit = hit[1] if hit else ""
        unit = unit if unit.isupper() else unit.lower()
        told.setdefault(name.lower(), set()).add(unit if not set(words(unit)) <= set(words(name)) else "")
    return {name: next(iter(units)) for name, units in told.items() if len(units) == 1 and "" not in units}


@lru_cache(maxsize=512)
def _names(schema: str) -> tuple[str, ...]:
    return tuple(name.lower() for name, _ in _fields(schema))


def _fields(schema: str) -> Iterator[tuple[str, Mapping[str, JsonValue]]]:
    yield from _walk(read_value(schema) if schema else None, 0)


def _walk(value: JsonValue, depth: int) -> Iterator[tuple[str, Mapping[str, JsonValue]]]:
    if depth > 2 * _MOST_DEPTH:
        return
    if isinstance(value, dict):
        fields = value.get("properties")
        if isinstance(fields, dict):
            yield from ((name, field) for name, field in fields.items() if isinstance(field, dict))
        for inner in value.values():
            yield from _walk(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value[:20]:
            yield from _walk(inner, depth + 1)
