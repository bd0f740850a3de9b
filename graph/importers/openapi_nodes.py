"""Tolerant access to the nodes of OpenAPI documents, whose values are often of the wrong type or contradictory."""

import re
from collections.abc import Iterable
from typing import Any, cast

from domain.tool import JsonType, ParameterType

Schema = dict[str, Any]

_TYPES: dict[str, ParameterType] = {
    "string": "string", "number": "number", "integer": "integer", "boolean": "boolean", "array": "array",
    "object": "object", "any": "any",
}  # fmt: skip
_KINDS: dict[type, JsonType] = {bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
_KEYWORDS: dict[str, JsonType] = {
    **dict.fromkeys(("items", "prefixItems", "minItems", "maxItems", "uniqueItems"), "array"),
    **dict.fromkeys(("properties", "additionalProperties", "patternProperties", "minProperties", "maxProperties"), "object"),
    **dict.fromkeys(("minLength", "maxLength", "pattern", "contentEncoding", "contentMediaType"), "string"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), "number"),
}  # fmt: skip
"""The type that a keyword applies to, for schemas without a type."""
_NUMBER_FORMATS: dict[object, JsonType] = {
    "int32": "integer", "int64": "integer", "integer": "integer", "float": "number", "double": "number", "decimal": "number",
}  # fmt: skip
_BOUNDS = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
)

_MAY_CONTRADICT = frozenset({"enum", "const", "example", "examples", *(name for pair in _BOUNDS for name in pair)})

_ANNOTATIONS = frozenset({"title", "description", "nullable", "deprecated", "readOnly", "writeOnly", "xml", "externalDocs", "$schema", "$id", "$comment"})  # fmt: skip
"""Keywords that do not restrict the value."""


class _ObjectWithDuplicateKeys(dict[str, Any]):
    """JSON object whose text has some keys twice. The last value of each is used, as parsers do."""

    def __init__(self, members: Schema, duplicates: Iterable[str]) -> None:
        super().__init__(members)
        self.duplicate_keys = tuple(duplicates)


def build_object(pairs: Iterable[tuple[str, Any]]) -> Schema:
    """Build a JSON object from its members in order.

    A path (``/users``) given twice becomes one with the operations of both. Other duplicate keys are remembered for
    :func:`get_duplicate_keys`.
    """
    members = list(pairs)
    built: Schema = dict(members)
    if len(built) == len(members):
        return built
    merged: Schema = {}
    duplicates: dict[str, None] = {}
    for key, value in members:
        if key in merged and key.startswith("/") and isinstance(value, dict) and isinstance(merged[key], dict):
            merged[key] = build_object([*cast(Schema, merged[key]).items(), *cast(Schema, value).items()])
            continue
        if key in merged:
            duplicates[key] = None
        merged[key] = value
    return _ObjectWithDuplicateKeys(merged, duplicates)


def copy_duplicate_keys(derived: Schema, source: Schema) -> Schema:
    """Return an object derived from another with the other's record of duplicate keys."""
    duplicates = get_duplicate_keys(source)
    return _ObjectWithDuplicateKeys(derived, duplicates) if duplicates else derived


def get_duplicate_keys(value: Schema) -> tuple[str, ...]:
    """Return the keys other than paths that occur twice in the text of a JSON object; empty if it was not parsed."""
    return value.duplicate_keys if isinstance(value, _ObjectWithDuplicateKeys) else ()


def to_mapping(value: object) -> Schema:
    """Return a value if it is a JSON object, else an empty one: documents in the wild put anything anywhere."""
    return cast(Schema, value) if isinstance(value, dict) else {}


def to_list(value: object) -> list[Any]:
    """Return a value if it is a JSON array, else an empty one."""
    return cast(list[Any], value) if isinstance(value, list) else []


def find_type(schema: Schema) -> ParameterType:
    """Return the JSON type of a schema: the first that is not null, or ``any`` if nothing indicates one.

    Without ``type`` the other keywords decide, or the allowed values, if all are of one type.
    """
    names = _list_types(schema)
    if names:
        return _TYPES.get(names[0], "string")
    for keyword, kind in _KEYWORDS.items():
        if keyword in schema:
            return kind
    if isinstance(format_name := schema.get("format"), str):
        return _NUMBER_FORMATS.get(format_name, "string")
    values: list[Any] = [schema["const"]] if "const" in schema else to_list(schema.get("enum"))
    kinds: set[ParameterType] = {_classify_value(value) for value in values if value is not None}
    if kinds == {"integer", "number"}:
        return "number"
    return kinds.pop() if len(kinds) == 1 else "any"


def _list_types(schema: Schema) -> list[str]:
    """List the types that a schema allows, except null."""
    declared = schema.get("type")
    return [
        name
        for name in ([declared] if isinstance(declared, str) else to_list(declared))
        if isinstance(name, str) and name != "null"
    ]


def _classify_value(value: object) -> JsonType:
    return _KINDS.get(type(value), "string")


def drop_contradictions(schema: Schema) -> Schema:
    """Return a schema without keywords that exclude each other or its own examples.

    If allowed values contradict the type, the author meant the values: ``true`` under ``type: string`` is a text that
    YAML read as a boolean, and texts under ``type: array`` are the allowed items. Bounds that cross, or that an example
    violates, are dropped.
    """
    if schema.keys().isdisjoint(_MAY_CONTRADICT):
        return schema
    examples = [one for one in _list_examples(schema) if one is not None]
    excluded = {
        name
        for lower, upper in _BOUNDS
        for name in (lower, upper)
        if _are_crossed(schema.get(lower), schema.get(upper))
        or (name in schema and any(_violates_bound(name, schema[name], example) for example in examples))
    }
    if excluded:
        schema = {key: part for key, part in schema.items() if key not in excluded}
    keyword = "const" if "const" in schema else "enum"
    values: list[Any] = [schema["const"]] if keyword == "const" else to_list(schema.get("enum"))
    if values and "format" in schema:  # the values are more exact: ``now`` for a date-time
        schema = {key: part for key, part in schema.items() if key != "format"}
    kinds = [name for name in _list_types(schema) if name in _TYPES and name != "any"]
    if not kinds:
        return schema
    if any(value is not None and not _is_of_type(value, kinds) for value in values):
        return _apply_values(schema, keyword, values, kinds)
    further = {_classify_value(one): None for one in examples if not values and not _can_be_read_as(one, kinds)}
    return (
        {**schema, "type": [*kinds, *further, *(["null"] if "null" in to_list(schema["type"]) else [])]}
        if further
        else schema
    )


def contradicts(schema: Schema, example: object) -> bool:
    """Return whether :func:`drop_contradictions` would change the schema because of this example."""
    exemplified = {**schema, "example": example}
    return drop_contradictions(exemplified) != exemplified


def _list_examples(schema: Schema) -> list[Any]:
    """List the values that a schema gives as its own examples."""
    return [*([schema["example"]] if "example" in schema else []), *to_list(schema.get("examples"))]


def _violates_bound(bound: str, limit: object, value: Any) -> bool:
    """Return whether a value violates a bound that applies to values of its type."""
    if not isinstance(limit, (int, float)):
        return False
    measured: object = value
    if bound not in ("minimum", "maximum"):
        measured = len(value) if _classify_value(value) == _KEYWORDS[bound] else None
    if not isinstance(measured, (int, float)) or isinstance(measured, bool):
        return False
    return measured < limit if bound.startswith("min") else measured > limit


def _can_be_read_as(value: object, kinds: list[str]) -> bool:
    """Return whether an example is a value of one of the types, possibly written as text, as documents often do."""
    if _is_of_type(value, kinds) or ("string" in kinds and isinstance(value, (bool, int, float))):
        return True
    if "array" in kinds and not isinstance(value, dict):
        return True  # one item, or several with commas
    if not isinstance(value, str):
        return False
    text = value.strip()
    if {"number", "integer"} & set(kinds) and re.fullmatch(r"[+-]?\d{1,18}(\.\d{1,18})?", text):
        return True
    return ("boolean" in kinds and text.lower() in ("true", "false")) or ("object" in kinds and text[:1] in ("{", ""))


def _are_crossed(lower: object, upper: object) -> bool:
    return isinstance(lower, (int, float)) and isinstance(upper, (int, float)) and lower > upper


def _apply_values(schema: Schema, keyword: str, values: list[Any], kinds: list[str]) -> Schema:
    """Return the schema with allowed values that fit its type.

    The values are moved to the items of an array, or converted to the declared types. If none can be converted, the
    type is dropped.
    """
    if "array" in kinds and not any(isinstance(value, list) for value in values):
        part = to_mapping(schema.get("items"))
        others = {key: one for key, one in schema.items() if key != keyword}
        return {**others, "items": part if "enum" in part or "const" in part else {**part, "enum": values}}
    parsed: list[Any] = [
        value if value is None or _is_of_type(value, kinds) else _convert_value(value, kinds) for value in values
    ]
    converted: list[Any] = [
        value for value, given in zip(parsed, values, strict=True) if value is not None or given is None
    ]
    if all(value is None for value in converted):
        return {key: one for key, one in schema.items() if key != "type"}
    unique: dict[tuple[str, str], Any] = {(_classify_value(value), str(value)): value for value in converted}
    return {**schema, keyword: converted[0] if keyword == "const" else list[Any](unique.values())}


def _is_of_type(value: object, kinds: list[str]) -> bool:
    kind = _classify_value(value)
    is_integral = isinstance(value, float) and value.is_integer()
    return kind in kinds or ("number" in kinds and kind == "integer") or ("integer" in kinds and is_integral)


def _convert_value(value: object, kinds: list[str]) -> object:
    """Convert a value to one of the types by its text; None if it fits none."""
    text = str(value).lower() if isinstance(value, bool) else str(value).strip()
    if "string" in kinds and isinstance(value, (bool, int, float)):
        return text
    if "boolean" in kinds and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if isinstance(value, str) and re.fullmatch(r"[+-]?\d{1,18}", text) and {"integer", "number"} & set(kinds):
        return int(text)
    if isinstance(value, str) and re.fullmatch(r"[+-]?\d{1,18}\.\d{1,18}", text) and "number" in kinds:
        return float(text)
    return None


def is_open(schema: Schema) -> bool:
    """Return whether a schema does not restrict its value, like ``{}``, which frameworks write for untyped answers."""
    return all(key in _ANNOTATIONS or key.startswith("x-") for key in schema)


def find_example(schema: Schema) -> Any:
    """Return ``example``, or the first of ``examples``: values in schemas, named objects in parameters."""
    if "example" in schema:
        return schema["example"]
    examples = schema.get("examples")
    if isinstance(examples, list):
        return next(iter(to_list(cast(object, examples))), None)
    return next((to_mapping(one).get("value") for one in to_mapping(examples).values()), None)


def merge_schemas(base: Schema, over: Schema) -> Schema:
    """Merge two schemas that both apply: properties and required names of both, otherwise the second overrides."""
    merged = {**base, **over}
    if "properties" in base or "properties" in over:
        merged["properties"] = {**to_mapping(base.get("properties")), **to_mapping(over.get("properties"))}
    if isinstance(merged.get("required"), list):
        merged["required"] = [*to_list(base.get("required")), *to_list(over.get("required"))]
    return merged
