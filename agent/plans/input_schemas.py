"""Check of the JSON Schemas that people write for inputs, so that no schema seems to check what it does not."""

from collections.abc import Iterator
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match  # pyright: ignore[reportUnknownVariableType]
from pydantic.types import JsonValue

from agent.text import clean
from domain.model import JsonObject

_VALUES = frozenset({"const", "default", "enum", "examples"})
"""Keywords that hold values, not schemas."""
_REFERENCES = frozenset({"$dynamicRef", "$ref"})


def fault_of_schema(schema: JsonObject) -> str:
    """Return the fault of a schema as a sentence; empty if there is none."""
    try:
        meta = cast("Any", Draft202012Validator)(Draft202012Validator.META_SCHEMA)
        wrong = cast("Any", best_match(meta.iter_errors(schema)))
        named = next(_references(schema), "")
    except RecursionError:
        return "it is nested too deeply: write it more simply."
    if wrong is not None:
        place = ".".join(str(part) for part in wrong.absolute_path)
        return f"{clean(place, 80)}: {clean(wrong.message, 200)}." if place else f"{clean(wrong.message, 200)}."
    return f"references are not followed ({clean(named, 80)}): write what it refers to in its place." if named else ""


def _references(schema: JsonValue) -> Iterator[str]:
    """Yield the targets of all references within a schema, but not within literal values."""
    match schema:
        case dict():
            yield from (value for name, value in schema.items() if name in _REFERENCES and isinstance(value, str))
            for name, value in schema.items():
                if name not in _VALUES:
                    yield from _references(value)
        case list():
            for value in schema:
                yield from _references(value)
        case _:
            return
