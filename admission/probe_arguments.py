"""Arguments of a live call: given ones, the document's, or values from earlier answers of the same host."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic.types import JsonValue

from agent.execution.validation import validate_arguments
from agent.parameter_needs import derive_need
from domain.errors import InvalidArgumentsError
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc
from graph.coupling import MIN_COUPLING_SCORE, score_coupling
from graph.lenient_json import read_value
from graph.response_fields import read_fields

_MAX_ANSWERS = 40
"""Answers of one host that values are looked for in."""


@dataclass(slots=True)
class SeenAnswers:
    """Answers of a source's hosts to the calls of this examination.

    Answers of one host supply values for calls of that host only, so that nothing leaks to another.
    """

    answers: dict[str, list[tuple[ToolDoc, JsonValue]]] = field(
        default_factory=dict[str, list[tuple[ToolDoc, JsonValue]]]
    )

    def add(self, tool: ToolDoc, body: str) -> None:
        """Record an answer."""
        answers = self.answers.setdefault(tool.address, [])
        if len(answers) < _MAX_ANSWERS and isinstance(value := read_value(body), dict | list):
            answers.append((tool, value))

    def find_value(self, tool: ToolDoc, parameter: Parameter) -> tuple[JsonValue, str]:
        """Return the value that fits best, and its origin; None and empty if none fits."""
        best_score, best_value, origin = MIN_COUPLING_SCORE, None, ""
        for producer, answer in self.answers.get(tool.address, ()):
            producer_doc = producer.model_copy(update={"example_response": json.dumps(answer)[:20_000]})
            for response_field in read_fields(answer):
                if response_field.example in (None, "") or isinstance(response_field.example, dict | list):
                    continue
                score = score_coupling(response_field, producer_doc, parameter, tool, echoes=False)
                if score > best_score or (score == best_score and best_value is None):
                    best_score, best_value, origin = (
                        score,
                        response_field.example,
                        f"{producer.api}: {response_field.path}",
                    )
        return best_value, origin


@dataclass(frozen=True, slots=True)
class ProbeArguments:
    """Arguments of a live call."""

    arguments: JsonObject
    origins: dict[str, str]
    """Where each value is from, by parameter."""
    missing: tuple[str, ...] = ()
    """Required parameters without a value."""
    wrong: str = ""
    """Why the values cannot be sent; empty if they can."""


def choose_arguments(tool: ToolDoc, given_arguments: JsonObject | None, seen_answers: SeenAnswers) -> ProbeArguments:
    """Choose the arguments of a call. Optional parameters are sent only if given."""
    arguments: JsonObject = dict(given_arguments or {})
    origins = dict.fromkeys(arguments, "given")
    missing: list[str] = []
    for parameter in tool.required:
        if parameter.name in arguments:
            continue
        value, origin = find_documented_value(parameter)
        if value is None:
            value, origin = seen_answers.find_value(tool, parameter)
        if value is None:
            missing.append(parameter.name)
        else:
            arguments[parameter.name], origins[parameter.name] = value, origin
    if missing:
        return ProbeArguments(arguments, origins, tuple(missing))
    try:
        return ProbeArguments(validate_arguments(tool, arguments), origins)
    except InvalidArgumentsError as error:
        return ProbeArguments(arguments, origins, wrong=str(error))


def find_documented_value(parameter: Parameter) -> tuple[JsonValue, str]:
    """Return the document's value for a parameter and its origin: an example, a default or the first allowed value.

    A key never has one, whatever the document says.
    """
    if derive_need(parameter).kind == "secret":
        return None, ""
    allowed = ((value, "a value that is allowed") for value in parameter.enum)
    for value, origin in ((parameter.example, "its example"), (parameter.default, "its default"), *allowed):
        if value not in (None, ""):
            return value, origin
    schema_value = _build_schema_value(read_value(parameter.json_schema or ""))
    return (schema_value, "the examples of its schema") if schema_value is not None else (None, "")


def _build_schema_value(schema: JsonValue, depth: int = 6) -> JsonValue:
    """Build a value from the examples, defaults and enums of a schema's parts; None if a required part has none."""
    if not isinstance(schema, dict) or depth == 0:
        return None
    for value in _iterate_values(schema):
        return value
    kind = schema.get("type")
    if kind == "boolean":
        return True
    if kind == "array":
        item = _build_schema_value(schema.get("items"), depth - 1)
        return None if item is None else [item]
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return None
    required = schema.get("required")
    needed = [str(required_name) for required_name in required] if isinstance(required, list) else []
    fields: dict[str, Any] = {name: _build_schema_value(properties.get(name), depth - 1) for name in needed}
    return None if not fields or None in fields.values() else cast(JsonValue, fields)


def _iterate_values(schema: Mapping[str, JsonValue]) -> Iterator[JsonValue]:
    for key in ("example", "default", "const"):
        if schema.get(key) is not None:
            yield schema[key]
    for key in ("examples", "enum"):
        values = schema.get(key)
        if isinstance(values, list):
            yield from (value for value in values if value is not None)
