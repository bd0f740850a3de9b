"""Arguments of a live call: given ones, the document's, or values from earlier answers of the same host."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic.types import JsonValue

from agent.execution.validation import validate
from agent.parameters.needs import need_of
from domain.errors import InvalidArgumentsError
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc
from graph.coupling import COUPLED, match
from graph.lenient_json import read_value
from graph.response_fields import fields_of_value

_MOST_SEEN = 40
"""Answers of one host that values are looked for in."""


@dataclass(slots=True)
class Seen:
    """Answers of a source's hosts to the calls of this examination.

    Answers of one host supply values for calls of that host only, so that nothing leaks to another.
    """

    answers: dict[str, list[tuple[ToolDoc, JsonValue]]] = field(
        default_factory=dict[str, list[tuple[ToolDoc, JsonValue]]]
    )

    def add(self, tool: ToolDoc, body: str) -> None:
        """Record an answer."""
        known = self.answers.setdefault(tool.address, [])
        if len(known) < _MOST_SEEN and isinstance(value := read_value(body), dict | list):
            known.append((tool, value))

    def value(self, tool: ToolDoc, parameter: Parameter) -> tuple[JsonValue, str]:
        """Return the value that fits best, and its origin; None and empty if none fits."""
        best, found, origin = COUPLED, None, ""
        for producer, answer in self.answers.get(tool.address, ()):
            shown = producer.model_copy(update={"example_response": json.dumps(answer)[:20_000]})
            for one in fields_of_value(answer):
                if one.example in (None, "") or isinstance(one.example, dict | list):
                    continue
                score = match(one, shown, parameter, tool, echoes=False)
                if score > best or (score == best and found is None):
                    best, found, origin = score, one.example, f"{producer.api}: {one.path}"
        return found, origin


@dataclass(frozen=True, slots=True)
class Chosen:
    """Arguments of a live call."""

    arguments: JsonObject
    origins: dict[str, str]
    """Where each value is from, by parameter."""
    missing: tuple[str, ...] = ()
    """Required parameters without a value."""
    wrong: str = ""
    """Why the values cannot be sent; empty if they can."""


def choose(tool: ToolDoc, given: JsonObject | None, seen: Seen) -> Chosen:
    """Choose the arguments of a call. Optional parameters are sent only if given."""
    arguments: JsonObject = dict(given or {})
    origins = dict.fromkeys(arguments, "given")
    missing: list[str] = []
    for one in tool.required:
        if one.name in arguments:
            continue
        value, origin = documented(one)
        if value is None:
            value, origin = seen.value(tool, one)
        if value is None:
            missing.append(one.name)
        else:
            arguments[one.name], origins[one.name] = value, origin
    if missing:
        return Chosen(arguments, origins, tuple(missing))
    try:
        return Chosen(validate(tool, arguments), origins)
    except InvalidArgumentsError as error:
        return Chosen(arguments, origins, wrong=str(error))


def documented(one: Parameter) -> tuple[JsonValue, str]:
    """Return the document's value for a parameter and its origin: an example, a default or the first allowed value.

    A key never has one, whatever the document says.
    """
    if need_of(one).kind == "secret":
        return None, ""
    allowed = ((value, "a value that is allowed") for value in one.enum)
    for value, origin in ((one.example, "its example"), (one.default, "its default"), *allowed):
        if value not in (None, ""):
            return value, origin
    made = _of_schema(read_value(one.json_schema or ""))
    return (made, "the examples of its schema") if made is not None else (None, "")


def _of_schema(schema: JsonValue, depth: int = 6) -> JsonValue:
    """Build a value from the examples, defaults and enums of a schema's parts; None if a required part has none."""
    if not isinstance(schema, dict) or depth == 0:
        return None
    for value in _said(schema):
        return value
    kind = schema.get("type")
    if kind == "boolean":
        return True
    if kind == "array":
        item = _of_schema(schema.get("items"), depth - 1)
        return None if item is None else [item]
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return None
    required = schema.get("required")
    needed = [str(one) for one in required] if isinstance(required, list) else []
    made: dict[str, Any] = {name: _of_schema(properties.get(name), depth - 1) for name in needed}
    return None if not made or None in made.values() else cast(JsonValue, made)


def _said(schema: Mapping[str, JsonValue]) -> Iterator[JsonValue]:
    for key in ("example", "default", "const"):
        if schema.get(key) is not None:
            yield schema[key]
    for key in ("examples", "enum"):
        values = schema.get(key)
        if isinstance(values, list):
            yield from (value for value in values if value is not None)
