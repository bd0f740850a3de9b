"""Validation errors of arguments as sentences that say what would be right."""

import json
from typing import Any

from jsonschema import ValidationError

from agent.execution.formats import FORMATS
from domain.python_source import parse_literal
from domain.tool import ToolDoc

_BOUNDS = {
    "minimum": "at least", "maximum": "at most", "exclusiveMinimum": "more than", "exclusiveMaximum": "less than",
}  # fmt: skip
_SIZES = {
    "minLength": "at least {} characters long", "maxLength": "at most {} characters long", "minItems": "a list of at least {} items",
    "maxItems": "a list of at most {} items", "minProperties": "an object of at least {} fields", "maxProperties": "an object of at most {} fields",
}  # fmt: skip


def complaint(error: ValidationError, tool: ToolDoc) -> str:
    """Return a sentence on one error of a call's arguments."""
    name, keyword = _place(error), str(error.validator)
    value: Any = error.instance
    limit: Any = error.validator_value
    if keyword in _BOUNDS:
        return f"{name} must be {_BOUNDS[keyword]} {_number(limit)}, not {_shown(value)}."
    if keyword in _SIZES:
        return f"{name} must be {_SIZES[keyword].format(limit)}, not {_shown(value)}."
    match keyword:
        case "additionalProperties" | "required":
            return _names(error, name, tool)
        case "type":
            kinds = limit if isinstance(limit, str) else " or ".join(limit)
            return f"{name} must be of type {kinds}, not {_shown(value)}."
        case "enum":
            return f"{name} must be one of {_shown(limit)}, not {_shown(value)}."
        case "format":
            form = f" ({FORMATS[limit][1]})" if limit in FORMATS else ""
            return f"{name} must be written as {limit}{form}, not {_shown(value)}."
        case "pattern":
            return f"{name} must match the regular expression {_shown(limit)}, not {_shown(value)}."
        case "anyOf" | "oneOf":
            return _alternatives(error, name, tool)
        case _:
            return f"{name}: {error.message[:200]}."


def _place(error: ValidationError) -> str:
    """Return the parameter and the place in its value, as ``filter.tags[0]``."""
    text = ""
    for step in list(error.absolute_path)[:12]:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text[:200]


def _names(error: ValidationError, name: str, tool: ToolDoc) -> str:
    value: Any = error.instance
    if error.validator == "required":
        wanted = str(parse_literal(error.message.removesuffix(" is a required property")))
        if name:
            return f"{name} must have the field {wanted}."
        return f"Required parameter {wanted} is missing{_described(tool, wanted)}."
    if name:
        known = ", ".join(error.schema.get("properties", {})) or "none" if isinstance(error.schema, dict) else "none"
        return f"{name} has fields that are not allowed; its fields are: {known[:300]}."
    names = ", ".join(parameter.name for parameter in tool.parameters) or "none"
    unknown = ", ".join(sorted(set(value) - {parameter.name for parameter in tool.parameters}))
    return f"Unknown: {unknown}. The parameters are: {names}."


def _alternatives(error: ValidationError, name: str, tool: ToolDoc) -> str:
    """Describe the first error of the alternative that is closest to the value.

    That is the one of the value's kind, else the one that fits most deeply.
    """
    if not error.context:
        return f"{name} fits more than one of its alternatives; leave no doubt which is meant."
    faults: dict[object, list[ValidationError]] = {}
    for one in error.context:
        if one.validator_value != "null":
            faults.setdefault(one.relative_schema_path[0], []).append(one)
    closest = min(faults.values() or [list(error.context)], key=_distance)[0]
    if closest.validator in ("enum", "const"):
        alike = [
            one
            for one in error.context
            if one.absolute_path == closest.absolute_path and one.validator in ("enum", "const")
        ]
        allowed = [value for one in alike for value in _allowed(one)]
        told = [value for at, value in enumerate(allowed) if value not in allowed[:at]]
        return f"{_place(closest)} must be one of {_shown(told)}, not {_shown(closest.instance)}."
    return complaint(closest, tool)


def _allowed(error: ValidationError) -> list[Any]:
    wanted: Any = error.validator_value
    return [wanted] if error.validator == "const" else list(wanted)


def _distance(faults: list[ValidationError]) -> tuple[int, int]:
    """Return the distance of a value from an alternative, by the errors of the latter.

    It counts the errors that show another kind of value; ties go to the alternative whose errors lie deeper.
    """
    return sum(one.validator in ("type", "enum", "const") for one in faults), -max(
        len(one.absolute_path) for one in faults
    )


def _described(tool: ToolDoc, name: str) -> str:
    found = next((parameter for parameter in tool.parameters if parameter.name == name), None)
    return f" ({found.type}: {found.description[:120]})" if found and found.description else ""


def _number(limit: Any) -> str:
    """Return a limit as text, whole numbers without a decimal point."""
    return str(int(limit)) if isinstance(limit, float) and limit.is_integer() and abs(limit) < 1e15 else str(limit)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 160 else text[:157] + "..."
