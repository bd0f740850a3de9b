"""Lossless conversion of argument values to the types of parameters, since models and forms often give strings."""

from typing import Any, cast

from pydantic.types import JsonValue

from domain.tool import Parameter, ParameterType
from graph.lenient_json import read_value

_TRUE_WORDS, _FALSE_WORDS = frozenset({"true", "yes"}), frozenset({"false", "no"})
_MAX_EXACT_INTEGER = 2**53
_SCALAR_TYPES = frozenset({"string", "number", "integer", "boolean"})
_MAX_DEPTH = 12


def coerce_value(value: JsonValue, parameter: Parameter) -> JsonValue:
    """Convert a value to the parameter's type, or to its enum member of the same text.

    Return it unchanged if the conversion would lose something, so that validation refuses it.
    """
    if parameter.enum and value not in parameter.enum and isinstance(value, str):
        matching = [
            member for member in parameter.enum if str(member).casefold() == value.strip(" \t\r\n\"'").casefold()
        ]
        return matching[0] if len(matching) == 1 else value
    return convert_to_type(value, parameter.type)


def convert_to_type(value: JsonValue, kind: ParameterType) -> JsonValue:
    """Convert a value to a JSON type where nothing is lost; otherwise return it unchanged."""
    match kind, value:
        case ("string", bool()):
            return "true" if value else "false"
        case ("string", int() | float()):
            return str(value)
        case ("integer", float()) if value.is_integer() and abs(value) < _MAX_EXACT_INTEGER:
            return int(value)
        case ("integer" | "number", str()):
            return _parse_number(value, integer=kind == "integer")
        case ("boolean", str()) if value.strip().lower() in _TRUE_WORDS | _FALSE_WORDS:
            return value.strip().lower() in _TRUE_WORDS
        case ("array" | "object", str()):
            parsed = read_value(value)
            return parsed if isinstance(parsed, list if kind == "array" else dict) else value
        case _:
            return value


def convert_to_schema(value: JsonValue, schema: dict[str, Any], depth: int = _MAX_DEPTH) -> JsonValue:
    """Convert a value and all its items and fields to a schema's types.

    A scalar becomes a list where the schema expects a list of scalars.
    """
    for part in cast("list[Any]", schema.get("allOf") or ()):
        if depth and isinstance(part, dict):
            value = convert_to_schema(value, cast("dict[str, Any]", part), depth - 1)
    kind = schema.get("type")
    if depth == 0 or not isinstance(kind, str):
        return value
    if kind != "null":
        value = convert_to_type(value, cast(ParameterType, kind))
    items = cast(dict[str, Any], schema.get("items") or {})
    match kind, value:
        case "array", list() if isinstance(schema.get("items"), dict):
            return [convert_to_schema(item, items, depth - 1) for item in value]
        case "array", str() if pieces := _split_allowed_values(value, items.get("enum")):
            return [convert_to_schema(piece, items, depth - 1) for piece in pieces]
        case "array", str() | int() | float() if items.get("type") in _SCALAR_TYPES:
            return [convert_to_schema(value, items, depth - 1)]
        case "object", dict():
            fields = cast(dict[str, Any], schema.get("properties") or {})
            return {
                name: convert_to_schema(item, fields[name], depth - 1) if isinstance(fields.get(name), dict) else item
                for name, item in value.items()
            }
        case _:
            return value


def _split_allowed_values(text: str, allowed: object) -> list[str]:
    """Split a comma-separated text into allowed values, as URLs list them; empty if it holds any other value."""
    allowed_texts = (
        {str(member) for member in cast("list[object]", allowed)} if isinstance(allowed, list) else set[str]()
    )
    items = [piece.strip() for piece in text.split(",")]
    return items if text not in allowed_texts and set(items) <= allowed_texts else []


def _parse_number(text: str, *, integer: bool) -> JsonValue:
    stripped = text.strip()
    try:
        number = int(stripped) if len(stripped) < 20 and stripped.lstrip("+-").isdecimal() else float(stripped)
    except ValueError:
        return text
    if isinstance(number, float):
        if number != number or abs(number) == float("inf"):
            return text
        if integer:
            return int(number) if number.is_integer() and abs(number) < _MAX_EXACT_INTEGER else text
    return number
