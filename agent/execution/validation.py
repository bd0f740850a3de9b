"""Validation of arguments against a tool's parameters by JSON Schema, with complaints that a model can act on.

A schema is untrusted text: it is applied without references, bounded in size and depth, and its patterns are matched
by an engine that does not backtrack (``graph.json_schema``, ``agent.execution.patterns``). Formats are checked as
leniently as servers do.
"""

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sized
from datetime import date, datetime, time
from fractions import Fraction
from functools import lru_cache, partial
from ipaddress import IPv4Address, IPv6Address
from itertools import islice
from typing import Any, cast
from urllib.parse import urlsplit
from uuid import UUID

from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from jsonschema.validators import extend  # pyright: ignore[reportUnknownVariableType]
from pydantic.types import JsonValue

from agent.execution.coercion import coerce_value, convert_to_schema
from agent.execution.patterns import is_supported_pattern, matches_pattern
from domain.errors import InvalidArgumentsError
from domain.model import JsonObject
from domain.python_source import parse_literal
from domain.tool import Parameter, ToolDoc
from graph.json_schema import Schema, sanitize_schema
from graph.lenient_json import BEYOND_64_BITS, contains_value, is_beyond_64_bits, is_too_deep

_DATE_PATTERN = re.compile(r"\d{4}-\d{2}-\d{2}")
_HOST_PATTERN = re.compile(
    r"(?=.{1,253}\.?$)([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*\.?"
)
_DURATION_PATTERN = re.compile(r"P(?=.)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?)")
_MAX_FORMATTED_LENGTH = 4_096


def _check_date(text: str) -> None:
    if not _DATE_PATTERN.fullmatch(text):
        raise ValueError
    date.fromisoformat(text)


def _check_date_time(text: str) -> None:
    """Check a date-time of RFC 3339; the offset and the seconds may be missing, as most servers allow."""
    if not _DATE_PATTERN.match(text) or text[10:11] not in ("T", "t", " "):
        raise ValueError
    datetime.fromisoformat(text.upper())


def _check_uri(text: str) -> None:
    parts = urlsplit(text)
    hierarchical = parts.scheme in ("http", "https", "ftp", "ws", "wss")
    if not parts.scheme or any(c.isspace() or c in '<>"{}|\\^`' for c in text) or (hierarchical and not parts.hostname):
        raise ValueError


def _check_email(text: str) -> None:
    name, separator, domain = text.rpartition("@")
    if not (name and separator and domain) or any(c.isspace() for c in text):
        raise ValueError


def _build_pattern_check(pattern: re.Pattern[str]) -> Callable[[str], None]:
    def check(text: str) -> None:
        if not pattern.fullmatch(text):
            raise ValueError

    return check


TEXT_FORMATS: Mapping[str, tuple[Callable[[str], object], str]] = {
    "date": (_check_date, "YYYY-MM-DD"),
    "date-time": (_check_date_time, "YYYY-MM-DDThh:mm:ssZ"),
    "time": (lambda text: time.fromisoformat(text.upper()), "hh:mm:ss"),
    "duration": (_build_pattern_check(_DURATION_PATTERN), "like P1DT2H"),
    "email": (_check_email, "name@host"),
    "hostname": (_build_pattern_check(_HOST_PATTERN), "like api.example.com"),
    "ipv4": (IPv4Address, "four decimal numbers"),
    "ipv6": (IPv6Address, "like 2001:db8::1"),
    "uri": (_check_uri, "scheme://host/path"),
    "url": (_check_uri, "scheme://host/path"),
    "uuid": (UUID, "8-4-4-4-12 hexadecimal digits"),
}
"""Check of each format, which raises ``ValueError``, and a description of the format."""


def matches_format(name: str, value: object) -> bool:
    """Return whether a value has the format; true for values other than strings and for unknown formats."""
    if name not in TEXT_FORMATS or not isinstance(value, str):
        return True
    if len(value) > _MAX_FORMATTED_LENGTH:
        return False
    try:
        TEXT_FORMATS[name][0](value)
    except ValueError:
        return False
    return True


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
        return f"{name} must be {_BOUND_PHRASES[keyword]} {_format_number(limit)}, not {_format_json(value)}."
    if keyword in _SIZE_PHRASES:
        return f"{name} must be {_SIZE_PHRASES[keyword].format(limit)}, not {_format_json(value)}."
    match keyword:
        case "additionalProperties" | "required":
            return _describe_field_error(error, name, tool)
        case "type":
            kinds = limit if isinstance(limit, str) else " or ".join(limit)
            return f"{name} must be of type {kinds}, not {_format_json(value)}."
        case "enum":
            return f"{name} must be one of {_format_json(limit)}, not {_format_json(value)}."
        case "format":
            form = f" ({TEXT_FORMATS[limit][1]})" if limit in TEXT_FORMATS else ""
            return f"{name} must be written as {limit}{form}, not {_format_json(value)}."
        case "pattern":
            return f"{name} must match the regular expression {_format_json(limit)}, not {_format_json(value)}."
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
        related_errors = [
            suberror
            for suberror in error.context
            if suberror.absolute_path == closest.absolute_path and suberror.validator in ("enum", "const")
        ]
        allowed = [value for suberror in related_errors for value in _list_allowed_values(suberror)]
        distinct = [value for position, value in enumerate(allowed) if value not in allowed[:position]]
        return f"{_format_path(closest)} must be one of {_format_json(distinct)}, not {_format_json(closest.instance)}."
    return format_validation_error(closest, tool)


def _list_allowed_values(error: ValidationError) -> list[Any]:
    limit: Any = error.validator_value
    return [limit] if error.validator == "const" else list(limit)


def _measure_distance(errors: list[ValidationError]) -> tuple[int, int]:
    """Return the distance of a value from an alternative, measured by that alternative's errors.

    It is the number of errors that show another kind of value; among equals, deeper errors are closer.
    """
    return sum(error.validator in ("type", "enum", "const") for error in errors), -max(
        len(error.absolute_path) for error in errors
    )


def _format_description(tool: ToolDoc, name: str) -> str:
    target = next((parameter for parameter in tool.parameters if parameter.name == name), None)
    return f" ({target.type}: {target.description[:120]})" if target and target.description else ""


def _format_number(limit: Any) -> str:
    """Format a limit, whole numbers without a decimal point."""
    return str(int(limit)) if isinstance(limit, float) and limit.is_integer() and abs(limit) < 1e15 else str(limit)


def _format_json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 160 else text[:157] + "..."


_KeywordCheck = Callable[[Any, Any, Any, Any], "Iterable[ValidationError] | None"]
_MAX_COMPLAINTS = 20
_MAX_ERRORS = 200
"""Most errors that are collected; they are sorted, and the first ``_MAX_COMPLAINTS`` are reported."""
_MAX_STEPS = 100_000
"""Most steps of one check; checking a large value by a large schema may take the product of their sizes, or more."""
_MAX_ARGUMENT_DEPTH = 60
"""Deepest nesting of an argument; stores and readers of events support little more."""


def build_arguments_schema(tool: ToolDoc) -> dict[str, JsonValue]:
    """Build the JSON Schema (2020-12) of a call's arguments: an object with the tool's parameters and nothing else."""
    required: list[JsonValue] = [parameter.name for parameter in tool.required]
    properties: dict[str, JsonValue] = {parameter.name: build_value_schema(parameter) for parameter in tool.parameters}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def build_value_schema(parameter: Parameter) -> Schema:
    """Build the JSON Schema of one parameter's value, reduced to keywords that can be checked safely."""
    schema = _get_document_schema(parameter)
    if schema is None:
        schema = _build_simple_schema(parameter)
    if not schema:  # any value, null among them
        return schema
    return {"anyOf": [schema, {"type": "null"}]} if parameter.nullable else schema


def _build_simple_schema(parameter: Parameter) -> Schema:
    schema: Schema = {} if parameter.type == "any" else {"type": parameter.type}
    if parameter.enum:
        schema["enum"] = list(parameter.enum)
    if parameter.format in TEXT_FORMATS and parameter.type == "string":
        schema["format"] = parameter.format
    if parameter.type in ("number", "integer"):
        bounds = {"minimum": parameter.minimum, "maximum": parameter.maximum}
        schema |= {keyword: bound for keyword, bound in bounds.items() if bound is not None}
    return schema


def _get_document_schema(parameter: Parameter) -> Schema | None:
    """Return the schema of the document; None if there is none or it is not a JSON object."""
    return None if parameter.json_schema is None else _parse_schema(parameter.json_schema)


@lru_cache(maxsize=1024)
def _parse_schema(text: str) -> Schema | None:
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return sanitize_schema(cast(object, parsed), is_supported_pattern) if isinstance(parsed, dict) else None


def validate_arguments(tool: ToolDoc, arguments: Mapping[str, JsonValue]) -> JsonObject:
    """Return the arguments, converted to the parameters' types where nothing is lost (``"3"`` → 3).

    Raises:
        InvalidArgumentsError: they are not valid; the message says for each parameter what is wrong and what is right.
    """
    coerced, complaints = check_arguments(tool, arguments)
    if complaints:
        text = " ".join(sentence for _, sentence in complaints)
        raise InvalidArgumentsError(f"The arguments do not fit {tool.api}: {text}")
    return coerced


def drop_omitted(tool: ToolDoc, arguments: Mapping[str, JsonValue]) -> JsonObject:
    """Return the arguments without those that are None, optional and not nullable."""
    optional = {parameter.name for parameter in tool.parameters if not parameter.required and not parameter.nullable}
    return {name: value for name, value in arguments.items() if value is not None or name not in optional}


def apply_corrections(
    tool: ToolDoc, arguments: Mapping[str, JsonValue], changes: Mapping[str, JsonValue]
) -> tuple[JsonObject, list[tuple[str, str]]]:
    """Apply a user's changes to the arguments and check the result; None removes an optional argument."""
    return check_arguments(tool, drop_omitted(tool, {**arguments, **changes}))


def check_arguments(tool: ToolDoc, arguments: Mapping[str, JsonValue]) -> tuple[JsonObject, list[tuple[str, str]]]:
    """Return the arguments as :func:`validate_arguments` does, and the complaints about them.

    A complaint is the name of the parameter, empty if it concerns no single one, and a sentence.
    """
    parameters = {parameter.name: parameter for parameter in tool.parameters}
    arguments = _match_parameter_case(arguments, parameters)
    unsendable = [(name, f"{name}: {why}.") for name, value in arguments.items() if (why := explain_unsendable(value))]
    if unsendable:
        return dict(arguments), unsendable
    coerced = {name: _coerce_argument(value, parameters.get(name)) for name, value in arguments.items()}
    errors = _collect_errors(tool, coerced)[:_MAX_COMPLAINTS]
    return coerced, [
        (str(next(iter(error.absolute_path), "")), format_validation_error(error, tool)) for error in errors
    ]


def _match_parameter_case(arguments: Mapping[str, JsonValue], names: Collection[str]) -> Mapping[str, JsonValue]:
    """Rename arguments that differ from a parameter only in the case of the name, as some documents' examples do."""
    folded = Counter(name.casefold() for name in {*names, *arguments})
    free = (name for name in names if name not in arguments)
    names_by_folded = {
        name.casefold(): name for name in free if folded[name.casefold()] == 2
    }  # one parameter and one argument: the match is unambiguous
    return {
        name if name in names else names_by_folded.get(name.casefold(), name): value
        for name, value in arguments.items()
    }


def explain_unsendable(value: JsonValue) -> str:
    """Explain why a value cannot be sent or stored under any schema; empty if it can."""
    if is_too_deep(value, _MAX_ARGUMENT_DEPTH):
        return f"is nested deeper than {_MAX_ARGUMENT_DEPTH} levels"
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:  # NaN or infinity, thousands of digits, or a lone surrogate
        return "holds a number or a character that cannot be sent"
    except TypeError as error:
        return f"is no JSON value ({error}); give text, a number, a list or an object"
    return BEYOND_64_BITS if contains_value(value, is_beyond_64_bits) else ""


def _coerce_argument(value: JsonValue, parameter: Parameter | None) -> JsonValue:
    if parameter is None or (value is None and parameter.nullable):
        return value
    if parameter.json_schema is None:
        return coerce_value(value, parameter)
    schema = build_value_schema(parameter)
    if _is_valid(schema, value):
        return value
    return convert_to_schema(
        coerce_value(value, parameter), schema["anyOf"][0] if schema and parameter.nullable else schema
    )


def _is_valid(schema: Schema, value: JsonValue) -> bool:
    return next(_iterate_errors(json.dumps(schema, sort_keys=True), value), None) is None


def _collect_errors(tool: ToolDoc, arguments: JsonObject) -> list[ValidationError]:
    errors = islice(_iterate_errors(json.dumps(build_arguments_schema(tool), sort_keys=True), arguments), _MAX_ERRORS)
    return sorted(errors, key=lambda error: ([str(part) for part in error.absolute_path], error.message))


def _iterate_errors(schema: str, value: JsonValue) -> Iterator[ValidationError]:
    _step_budget.remaining = _MAX_STEPS
    try:
        yield from _build_validator(schema).iter_errors(value)  # pyright: ignore[reportUnknownMemberType]
    except RecursionError:
        yield ValidationError("is nested too deeply")
    except _StepLimitError:
        yield ValidationError("is too much to be checked: give fewer or shorter values")


@lru_cache(maxsize=1024)
def _build_validator(schema: str) -> Draft202012Validator:
    return cast(
        Draft202012Validator, _build_validator_class()(json.loads(schema), format_checker=_build_format_checker())
    )


@lru_cache(maxsize=1)
def _build_validator_class() -> Any:
    """Build the validator class.

    Keywords that may take unbounded time or fail on large numbers are replaced, and all keywords count steps.
    """
    replaced = {"pattern": _check_pattern, "multipleOf": _check_multiple_of, "uniqueItems": _check_unique_items}
    keywords = cast("dict[str, _KeywordCheck]", dict(Draft202012Validator.VALIDATORS)) | replaced
    return cast(Any, extend(Draft202012Validator, {name: _count_steps(check) for name, check in keywords.items()}))


class _StepBudget(threading.local):
    """Steps that remain for the check in this thread."""

    remaining = _MAX_STEPS


_step_budget = _StepBudget()


class _StepLimitError(Exception):
    """A check has used all its steps."""


def _count_steps(check: _KeywordCheck) -> _KeywordCheck:
    def check_within_budget(
        validator: object, keyword_value: Any, value: object, schema: object
    ) -> Iterable[ValidationError] | None:
        _step_budget.remaining -= 1 + (
            len(cast("Sized", keyword_value)) if isinstance(keyword_value, (list, dict)) else 0
        )
        if _step_budget.remaining < 0:
            raise _StepLimitError
        return check(validator, keyword_value, value, schema)

    return check_within_budget


@lru_cache(maxsize=1)
def _build_format_checker() -> FormatChecker:
    checker = FormatChecker(())
    for name in TEXT_FORMATS:
        checker.checks(name)(partial(matches_format, name))
    return checker


def _check_pattern(_validator: object, pattern: str, value: object, _schema: object) -> Iterator[ValidationError]:
    if isinstance(value, str) and not matches_pattern(pattern, value):
        yield ValidationError(f"does not match {pattern[:200]!r}")


def _check_unique_items(_validator: object, unique: bool, value: object, _schema: object) -> Iterator[ValidationError]:
    """Compare items by their JSON text, which takes linear time, rather than in pairs."""
    if unique and isinstance(value, list):
        items = cast("list[object]", value)
        if len({json.dumps(_normalize_numbers(item), sort_keys=True) for item in items}) < len(items):
            yield ValidationError("has the same item twice")


def _normalize_numbers(value: object) -> object:
    """Return a value with 1.0 replaced by 1, the same number in JSON Schema, at any depth."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_normalize_numbers(item) for item in cast("list[object]", value)]
        case dict():
            return {name: _normalize_numbers(item) for name, item in cast("dict[str, object]", value).items()}
        case _:
            return value


def _check_multiple_of(_validator: object, step: float, value: object, _schema: object) -> Iterator[ValidationError]:
    """Check in exact decimals, so that 0.3 is a multiple of 0.1; numbers above 1e300 pass."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or abs(value) > 1e300:
        return
    if Fraction(str(value)) % Fraction(str(step)):
        yield ValidationError(f"is not a multiple of {step}")
