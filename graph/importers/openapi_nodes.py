"""The nodes of an OpenAPI document as they are met in the wild, where anything stands anywhere."""

from typing import Any, cast

from domain.tool import JsonType

Schema = dict[str, Any]

_TYPES: dict[str, JsonType] = {
    "string": "string", "number": "number", "integer": "integer", "boolean": "boolean", "array": "array",
    "object": "object",
}  # fmt: skip
_KINDS: dict[type, JsonType] = {bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}

_NOTES = frozenset({"title", "description", "nullable", "deprecated", "readOnly", "writeOnly", "xml", "externalDocs", "$schema", "$id", "$comment"})  # fmt: skip
"""What a schema may say without saying anything of the value."""


def mapping(value: object) -> Schema:
    """``value`` if it is a JSON object, else an empty one: documents in the wild put anything anywhere."""
    return cast(Schema, value) if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """``value`` if it is a JSON array, else an empty one."""
    return cast(list[Any], value) if isinstance(value, list) else []


def type_of(schema: Schema) -> JsonType:
    """The JSON type; of several (3.1) the first that is not null; guessed where none is said."""
    said = schema.get("type")
    names = [name for name in ([said] if isinstance(said, str) else items(said)) if name != "null"]
    if names and isinstance(names[0], str):
        return _TYPES.get(names[0], "string")
    if "items" in schema:
        return "array"
    if "properties" in schema or "additionalProperties" in schema:
        return "object"
    values: list[Any] = [schema["const"]] if "const" in schema else items(schema.get("enum"))
    first: object = next((value for value in values if value is not None), "")
    return _KINDS.get(type(first), "string")


def is_open(schema: Schema) -> bool:
    """Whether a schema says nothing of its value, which may be anything: frameworks write ``{}`` for an answer without a declared type."""
    return all(key in _NOTES or key.startswith("x-") for key in schema)


def first_example(schema: Schema) -> Any:
    """``example``, or the first of ``examples``, whether those are values (schemas) or named objects (parameters)."""
    if "example" in schema:
        return schema["example"]
    given = schema.get("examples")
    if isinstance(given, list):
        return next(iter(items(cast(object, given))), None)
    return next((mapping(one).get("value") for one in mapping(given).values()), None)


def merge(base: Schema, over: Schema) -> Schema:
    """Two schemas that hold together: properties and required names of both, the rest of ``over`` where it says so."""
    merged = {**base, **over}
    if "properties" in base or "properties" in over:
        merged["properties"] = {**mapping(base.get("properties")), **mapping(over.get("properties"))}
    if isinstance(merged.get("required"), list):
        merged["required"] = [*items(base.get("required")), *items(over.get("required"))]
    return merged
