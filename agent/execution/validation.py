"""Validation of arguments against a tool's parameters by JSON Schema, with complaints that a model can act on.

A schema is untrusted text: it is applied without references, bounded in size and depth, and its patterns are matched
by an engine that does not backtrack (``graph.json_schema``, ``agent.execution.patterns``). Formats are checked as
leniently as servers do.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sized
from fractions import Fraction
from functools import lru_cache, partial
from itertools import islice
from typing import Any, cast

from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from jsonschema.validators import extend  # pyright: ignore[reportUnknownVariableType]
from pydantic.types import JsonValue

from agent.execution.coercion import coerce, convert_to_schema
from agent.execution.formats import FORMATS, matches_format
from agent.execution.patterns import has_match, is_supported
from agent.execution.validation_messages import format_validation_error
from domain.errors import InvalidArgumentsError
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc
from graph.json_schema import Schema, sanitize_schema
from graph.lenient_json import BEYOND_64_BITS, contains_value, is_beyond_64_bits, is_too_deep

__all__ = [
    "apply_corrections",
    "build_arguments_schema",
    "check_arguments",
    "coerce",
    "drop_omitted",
    "explain_unsendable",
    "validate",
]

_Keyword = Callable[[Any, Any, Any, Any], "Iterable[ValidationError] | None"]
_MAX_COMPLAINTS = 20
_MAX_ERRORS = 200
"""Most errors that are collected; they are sorted, and the first ``_MAX_COMPLAINTS`` are reported."""
_MAX_STEPS = 100_000
"""Most steps of one check; checking a large value by a large schema may take the product of their sizes, or more."""
_MAX_LEVELS = 60
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
    if parameter.format in FORMATS and parameter.type == "string":
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
    return sanitize_schema(cast(object, parsed), is_supported) if isinstance(parsed, dict) else None


def validate(tool: ToolDoc, arguments: Mapping[str, JsonValue]) -> JsonObject:
    """Return the arguments, converted to the parameters' types where nothing is lost (``"3"`` → 3).

    Raises:
        InvalidArgumentsError: they are not valid; the message says for each parameter what is wrong and what is right.
    """
    coerced, complaints = check_arguments(tool, arguments)
    if complaints:
        text = " ".join(said for _, said in complaints)
        raise InvalidArgumentsError(f"The arguments do not fit {tool.api}: {text}")
    return coerced


def drop_omitted(tool: ToolDoc, arguments: Mapping[str, JsonValue]) -> JsonObject:
    """Return the arguments without those that are None, optional and not nullable."""
    optional = {one.name for one in tool.parameters if not one.required and not one.nullable}
    return {name: value for name, value in arguments.items() if value is not None or name not in optional}


def apply_corrections(
    tool: ToolDoc, arguments: Mapping[str, JsonValue], changes: Mapping[str, JsonValue]
) -> tuple[JsonObject, list[tuple[str, str]]]:
    """Apply a user's changes to the arguments and check the result; None removes an optional argument."""
    return check_arguments(tool, drop_omitted(tool, {**arguments, **changes}))


def check_arguments(tool: ToolDoc, arguments: Mapping[str, JsonValue]) -> tuple[JsonObject, list[tuple[str, str]]]:
    """Return the arguments as :func:`validate` does, and the complaints about them.

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
    if is_too_deep(value, _MAX_LEVELS):
        return f"is nested deeper than {_MAX_LEVELS} levels"
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
        return coerce(value, parameter)
    schema = build_value_schema(parameter)
    if _accepts(schema, value):
        return value
    return convert_to_schema(coerce(value, parameter), schema["anyOf"][0] if schema and parameter.nullable else schema)


def _accepts(schema: Schema, value: JsonValue) -> bool:
    return next(_iter_errors(json.dumps(schema, sort_keys=True), value), None) is None


def _collect_errors(tool: ToolDoc, arguments: JsonObject) -> list[ValidationError]:
    errors = islice(_iter_errors(json.dumps(build_arguments_schema(tool), sort_keys=True), arguments), _MAX_ERRORS)
    return sorted(errors, key=lambda error: ([str(part) for part in error.absolute_path], error.message))


def _iter_errors(schema: str, value: JsonValue) -> Iterator[ValidationError]:
    _steps.remaining = _MAX_STEPS
    try:
        yield from _build_validator(schema).iter_errors(value)  # pyright: ignore[reportUnknownMemberType]
    except RecursionError:
        yield ValidationError("is nested too deeply")
    except _TooMuchError:
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
    keywords = cast("dict[str, _Keyword]", dict(Draft202012Validator.VALIDATORS)) | replaced
    return cast(Any, extend(Draft202012Validator, {name: _count_steps(check) for name, check in keywords.items()}))


class _StepBudget(threading.local):
    """Steps that remain for the check in this thread."""

    remaining = _MAX_STEPS


_steps = _StepBudget()


class _TooMuchError(Exception):
    """A check has used all its steps."""


def _count_steps(check: _Keyword) -> _Keyword:
    def counted(validator: object, wanted: Any, value: object, schema: object) -> Iterable[ValidationError] | None:
        _steps.remaining -= 1 + (len(cast("Sized", wanted)) if isinstance(wanted, (list, dict)) else 0)
        if _steps.remaining < 0:
            raise _TooMuchError
        return check(validator, wanted, value, schema)

    return counted


@lru_cache(maxsize=1)
def _build_format_checker() -> FormatChecker:
    checker = FormatChecker(())
    for name in FORMATS:
        checker.checks(name)(partial(matches_format, name))
    return checker


def _check_pattern(_validator: object, pattern: str, value: object, _schema: object) -> Iterator[ValidationError]:
    if isinstance(value, str) and not has_match(pattern, value):
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
