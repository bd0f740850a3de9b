"""Messages for invalid arguments: sentences that say what would be right."""

import json
from typing import Any

from jsonschema import ValidationError

from agent.execution.formats import FORMATS
from domain.python_source import parse_literal
from domain.tool import ToolDoc

_BOUND_PHRASES = {
    "minimum": "at least", "maximum": "at most", "exclusiveMinimum": "more than", "exclusiveMaximum": "less than",
}  # fmt: skip
_SIZE_PHRASES = {
    "minLength": "at least {} characters long", "maxLength": "at most {} characters long", "minItems": "a list of at least {} items",
    "maxItems": "a list of at most {} items", "minProperties": "an object of at least {} fields", "maxProperties": "an object of at most {} fields",
}  # fmt: skip


def format_validation_error(error: ValidationError, tool: ToolDoc) -> str:
    """Describe one error of a call's arguments in a sentence."""
    name, keyword = _format_path(error), str(error.validator)
    value: Any = error.instance
    limit: Any = error.validator_value
    if keyword in _BOUND_PHRASES:
        return f"{name} must be {_BOUND_PHRASES[keyword]} {_format_number(limit)}, not {_format_value(value)}."
    if keyword in _SIZE_PHRASES:
        return f"{name} must be {_SIZE_PHRASES[keyword].format(limit)}, not {_format_value(value)}."
    match keyword:
        case "additionalProperties" | "required":
            return _describe_field_error(error, name, tool)
        case "type":
            kinds = limit if isinstance(limit, str) else " or ".join(limit)
            return f"{name} must be of type {kinds}, not {_format_value(value)}."
        case "enum":
            return f"{name} must be one of {_format_value(limit)}, not {_format_value(value)}."
        case "format":
            form = f" ({FORMATS[limit][1]})" if limit in FORMATS else ""
            return f"{name} must be written as {limit}{form}, not {_format_value(value)}."
        case "pattern":
            return f"{name} must match the regular expression {_format_value(limit)}, not {_format_value(value)}."
        case "anyOf" | "oneOf":
            return _describe_closest_alternative(error, name, tool)
        case _:
            return f"{name}: {error.message[:200]}."


def _format_path(error: ValidationError) -> str:
    """Return the parameter and the place in its value, such as ``filter.tags[0]``."""
    text = ""
    for step in list(error.absolute_path)[:12]:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text[:200]


def _describe_field_error(error: ValidationError, name: str, tool: ToolDoc) -> str:
    value: Any = error.instance
    if error.validator == "required":
        missing = str(parse_literal(error.message.removesuffix(" is a required property")))
        if name:
            return f"{name} must have the field {missing}."
        return f"Required parameter {missing} is missing{_format_description(tool, missing)}."
    if name:
        allowed = ", ".join(error.schema.get("properties", {})) or "none" if isinstance(error.schema, dict) else "none"
        return f"{name} has fields that are not allowed; its fields are: {allowed[:300]}."
    names = ", ".join(parameter.name for parameter in tool.parameters) or "none"
    unknown = ", ".join(sorted(set(value) - {parameter.name for parameter in tool.parameters}))
    return f"Unknown: {unknown}. The parameters are: {names}."


def _describe_closest_alternative(error: ValidationError, name: str, tool: ToolDoc) -> str:
    """Describe the first error of the alternative that is closest to the value (:func:`_measure_distance`)."""
    if not error.context:
        return f"{name} fits more than one of its alternatives; leave no doubt which is meant."
    errors_by_alternative: dict[object, list[ValidationError]] = {}
    for suberror in error.context:
        if suberror.validator_value != "null":
            errors_by_alternative.setdefault(suberror.relative_schema_path[0], []).append(suberror)
    closest = min(errors_by_alternative.values() or [list(error.context)], key=_measure_distance)[0]
    if closest.validator in ("enum", "const"):
        alike = [
            suberror
            for suberror in error.context
            if suberror.absolute_path == closest.absolute_path and suberror.validator in ("enum", "const")
        ]
        allowed = [value for suberror in alike for value in _list_allowed_values(suberror)]
        distinct = [value for at, value in enumerate(allowed) if value not in allowed[:at]]
        return (
            f"{_format_path(closest)} must be one of {_format_value(distinct)}, not {_format_value(closest.instance)}."
        )
    return format_validation_error(closest, tool)


def _list_allowed_values(error: ValidationError) -> list[Any]:
    limit: Any = error.validator_value
    return [limit] if error.validator == "const" else list(limit)


def _measure_distance(errors: list[ValidationError]) -> tuple[int, int]:
    """Return the distance of a value from an alternative, measured by that alternative's errors.

    It is the number of errors that show another kind of value; among equals, deeper errors are closer.
    """
    return sum(one.validator in ("type", "enum", "const") for one in errors), -max(
        len(one.absolute_path) for one in errors
    )


def _format_description(tool: ToolDoc, name: str) -> str:
    target = next((parameter for parameter in tool.parameters if parameter.name == name), None)
    return f" ({target.type}: {target.description[:120]})" if target and target.description else ""


def _format_number(limit: Any) -> str:
    """Format a limit, whole numbers without a decimal point."""
    return str(int(limit)) if isinstance(limit, float) and limit.is_integer() and abs(limit) < 1e15 else str(limit)


def _format_value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 160 else text[:157] + "..."
