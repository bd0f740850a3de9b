"""Arguments against a tool's parameters: JSON Schema, with complaints that a model can act on."""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from pydantic.types import JsonValue

from domain.errors import InvalidArgumentsError
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc
from graph.literals import read_value

_FORMATS = ("date", "email", "ipv4", "ipv6", "uuid", "regex")
_CHECKER = FormatChecker(_FORMATS)
_TRUE, _FALSE = frozenset({"true", "yes"}), frozenset({"false", "no"})
_MAX_EXACT = 2**53


def schema_of(tool: ToolDoc) -> dict[str, JsonValue]:
    """JSON Schema (2020-12) of a call's arguments: an object with the tool's parameters and nothing else."""
    required: list[JsonValue] = [parameter.name for parameter in tool.required]
    properties: dict[str, JsonValue] = {parameter.name: _property(parameter) for parameter in tool.parameters}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _property(parameter: Parameter) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {"type": parameter.type}
    if parameter.enum:
        found["enum"] = list(parameter.enum)
    if parameter.format in _FORMATS and parameter.type == "string":
        found["format"] = parameter.format
    if parameter.type in ("number", "integer"):
        bounds = {"minimum": parameter.minimum, "maximum": parameter.maximum}
        found |= {keyword: bound for keyword, bound in bounds.items() if bound is not None}
    return found


def validate(tool: ToolDoc, arguments: Mapping[str, JsonValue]) -> JsonObject:
    """The arguments, with strings turned into the parameter's type where nothing is lost (``"3"`` → 3).

    Raises ``InvalidArgumentsError`` with every complaint: the parameter, what is wrong, what would be right.
    """
    known = {parameter.name: parameter for parameter in tool.parameters}
    coerced = {name: coerce(value, known[name]) if name in known else value for name, value in arguments.items()}
    complaints = [_complaint(error, tool) for error in _errors(tool, coerced)]
    if complaints:
        raise InvalidArgumentsError(f"The arguments do not fit {tool.api}: " + " ".join(complaints))
    return coerced


def _errors(tool: ToolDoc, arguments: JsonObject) -> Iterator[ValidationError]:
    validator = _validator(json.dumps(schema_of(tool), sort_keys=True))
    errors: list[ValidationError] = list(validator.iter_errors(arguments))  # pyright: ignore[reportUnknownMemberType]
    return iter(sorted(errors, key=lambda error: ([str(part) for part in error.absolute_path], error.message)))


@lru_cache(maxsize=1024)
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema), format_checker=_CHECKER)


def _complaint(error: ValidationError, tool: ToolDoc) -> str:
    name = str(error.absolute_path[0]) if error.absolute_path else ""
    value: Any = error.instance
    limit: Any = error.validator_value
    match error.validator:
        case "additionalProperties":
            names = ", ".join(parameter.name for parameter in tool.parameters) or "none"
            unknown = ", ".join(sorted(set(value) - {parameter.name for parameter in tool.parameters}))
            return f"Unknown: {unknown}. The parameters are: {names}."
        case "required":
            absent = error.message.split("'")[1]
            return f"Required parameter {absent} is missing{_described(tool, absent)}."
        case "type":
            return f"{name} must be of type {limit}, not {_shown(value)}."
        case "enum":
            return f"{name} must be one of {_shown(limit)}, not {_shown(value)}."
        case "format":
            return (
                f"{name} must be written as {limit}{' (YYYY-MM-DD)' if limit == 'date' else ''}, not {_shown(value)}."
            )
        case "minimum" | "maximum":
            return (
                f"{name} must be at {'least' if error.validator == 'minimum' else 'most'} {limit}, not {_shown(value)}."
            )
        case _:
            return f"{name}: {error.message[:200]}."


def _described(tool: ToolDoc, name: str) -> str:
    found = next((parameter for parameter in tool.parameters if parameter.name == name), None)
    return f" ({found.type}: {found.description[:120]})" if found and found.description else ""


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 160 else text[:157] + "..."


def coerce(value: JsonValue, parameter: Parameter) -> JsonValue:
    """A value in the parameter's type where that loses nothing; otherwise the value as it is, for the schema to refuse."""
    if parameter.enum and value not in parameter.enum and isinstance(value, str):
        same = [member for member in parameter.enum if str(member).casefold() == value.strip().casefold()]
        return same[0] if len(same) == 1 else value
    match parameter.type, value:
        case ("string", bool()):
            return "true" if value else "false"
        case ("string", int() | float()):
            return str(value)
        case ("integer", float()) if value.is_integer() and abs(value) < _MAX_EXACT:
            return int(value)
        case ("integer" | "number", str()):
            return _number(value, whole=parameter.type == "integer")
        case ("boolean", str()) if value.strip().lower() in _TRUE | _FALSE:
            return value.strip().lower() in _TRUE
        case ("array" | "object", str()):
            read = read_value(value)
            return read if isinstance(read, list if parameter.type == "array" else dict) else value
        case _:
            return value


def _number(text: str, *, whole: bool) -> JsonValue:
    stripped = text.strip()
    try:
        number = int(stripped) if len(stripped) < 20 and stripped.lstrip("+-").isdecimal() else float(stripped)
    except ValueError:
        return text
    if isinstance(number, float):
        if number != number or abs(number) == float("inf"):
            return text
        if whole:
            return int(number) if number.is_integer() and abs(number) < _MAX_EXACT else text
    return number
