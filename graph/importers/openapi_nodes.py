"""The nodes of an OpenAPI document as they are met in the wild, where anything stands anywhere."""

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
"""The type that a keyword is about, for schemas that name none."""
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

_NOTES = frozenset({"title", "description", "nullable", "deprecated", "readOnly", "writeOnly", "xml", "externalDocs", "$schema", "$id", "$comment"})  # fmt: skip
"""What a schema may say without saying anything of the value."""


class _KeysGivenTwice(dict[str, Any]):
    """A JSON object with keys that its text has twice; of each the last value counts, as parsers have it."""

    def __init__(self, members: Schema, twice: Iterable[str]) -> None:
        super().__init__(members)
        self.keys_twice = tuple(twice)


def build_object(pairs: Iterable[tuple[str, Any]]) -> Schema:
    """Build a JSON object from its members in order.

    A path (``/users``) that a document gives twice is one with the operations of both. Other keys given twice are kept in mind for
    :func:`given_twice`.
    """
    members = list(pairs)
    built: Schema = dict(members)
    if len(built) == len(members):
        return built
    seen: Schema = {}
    twice: dict[str, None] = {}
    for key, value in members:
        if key in seen and key.startswith("/") and isinstance(value, dict) and isinstance(seen[key], dict):
            seen[key] = build_object([*cast(Schema, seen[key]).items(), *cast(Schema, value).items()])
            continue
        if key in seen:
            twice[key] = None
        seen[key] = value
    return _KeysGivenTwice(seen, twice)


def remember_given_twice(made: Schema, source: Schema) -> Schema:
    """Return ``made``, which was made of ``source``, with what :func:`given_twice` tells of that."""
    twice = given_twice(source)
    return _KeysGivenTwice(made, twice) if twice else made


def given_twice(value: Schema) -> tuple[str, ...]:
    """Return the keys that the text of a JSON object has twice, paths left out; empty for objects that no text was read into."""
    return value.keys_twice if isinstance(value, _KeysGivenTwice) else ()


def mapping(value: object) -> Schema:
    """``value`` if it is a JSON object, else an empty one: documents in the wild put anything anywhere."""
    return cast(Schema, value) if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """``value`` if it is a JSON array, else an empty one."""
    return cast(list[Any], value) if isinstance(value, list) else []


def type_of(schema: Schema) -> ParameterType:
    """Return the JSON type of a schema: of several (3.1) the first that is not null, ``any`` where nothing tells.

    A schema without ``type`` is of the type that its other keywords or all its allowed values are of.
    """
    names = _type_names(schema)
    if names:
        return _TYPES.get(names[0], "string")
    for keyword, kind in _KEYWORDS.items():
        if keyword in schema:
            return kind
    if isinstance(named := schema.get("format"), str):
        return _NUMBER_FORMATS.get(named, "string")
    values: list[Any] = [schema["const"]] if "const" in schema else items(schema.get("enum"))
    kinds: set[ParameterType] = {_kind_of(value) for value in values if value is not None}
    if kinds == {"integer", "number"}:
        return "number"
    return kinds.pop() if len(kinds) == 1 else "any"


def _type_names(schema: Schema) -> list[str]:
    """The names of the types that a schema allows, null left out."""
    said = schema.get("type")
    return [
        name for name in ([said] if isinstance(said, str) else items(said)) if isinstance(name, str) and name != "null"
    ]


def _kind_of(value: object) -> JsonType:
    return _KINDS.get(type(value), "string")


def without_contradictions(schema: Schema) -> Schema:
    """Return a schema that some value can satisfy, its own examples among them, where its keywords exclude each other.

    Of a type and allowed values the values are what the author meant: ``true`` under ``type: string`` is a text that YAML read as a
    truth value, and texts under ``type: array`` are what its items may be. Bounds that cross, or that an example breaks, are left out.
    """
    if schema.keys().isdisjoint(_MAY_CONTRADICT):
        return schema
    examples = [one for one in _all_examples(schema) if one is not None]
    excluded = {
        name
        for lower, upper in _BOUNDS
        for name in (lower, upper)
        if _cross(schema.get(lower), schema.get(upper))
        or (name in schema and any(_breaks(name, schema[name], example) for example in examples))
    }
    if excluded:
        schema = {key: part for key, part in schema.items() if key not in excluded}
    keyword = "const" if "const" in schema else "enum"
    values: list[Any] = [schema["const"]] if keyword == "const" else items(schema.get("enum"))
    if values and "format" in schema:  # the values say more: ``now`` where a date-time is wanted
        schema = {key: part for key, part in schema.items() if key != "format"}
    kinds = [name for name in _type_names(schema) if name in _TYPES and name != "any"]
    if not kinds:
        return schema
    if any(value is not None and not _is_of(value, kinds) for value in values):
        return _with_values(schema, keyword, values, kinds)
    further = {_kind_of(one): None for one in examples if not values and not _can_be_read_as(one, kinds)}
    return (
        {**schema, "type": [*kinds, *further, *(["null"] if "null" in items(schema["type"]) else [])]}
        if further
        else schema
    )


def contradicts(schema: Schema, example: object) -> bool:
    """Return whether an example is no value of the schema as :func:`without_contradictions` sees it."""
    exemplified = {**schema, "example": example}
    return without_contradictions(exemplified) != exemplified


def _all_examples(schema: Schema) -> list[Any]:
    """The values that a schema itself gives as examples."""
    return [*([schema["example"]] if "example" in schema else []), *items(schema.get("examples"))]


def _breaks(bound: str, limit: object, value: Any) -> bool:
    """Whether a value is beyond a bound that is about values of its kind."""
    if not isinstance(limit, (int, float)):
        return False
    measured: object = value
    if bound not in ("minimum", "maximum"):
        measured = len(value) if _kind_of(value) == _KEYWORDS[bound] else None
    if not isinstance(measured, (int, float)) or isinstance(measured, bool):
        return False
    return measured < limit if bound.startswith("min") else measured > limit


def _can_be_read_as(value: object, kinds: list[str]) -> bool:
    """Whether an example is of one of the types, or is a text of it: documents write numbers, lists and objects as text, too."""
    if _is_of(value, kinds) or ("string" in kinds and isinstance(value, (bool, int, float))):
        return True
    if "array" in kinds and not isinstance(value, dict):
        return True  # one item, or several with commas
    if not isinstance(value, str):
        return False
    text = value.strip()
    if {"number", "integer"} & set(kinds) and re.fullmatch(r"[+-]?\d{1,18}(\.\d{1,18})?", text):
        return True
    return ("boolean" in kinds and text.lower() in ("true", "false")) or ("object" in kinds and text[:1] in ("{", ""))


def _cross(lower: object, upper: object) -> bool:
    return isinstance(lower, (int, float)) and isinstance(upper, (int, float)) and lower > upper


def _with_values(schema: Schema, keyword: str, values: list[Any], kinds: list[str]) -> Schema:
    """The schema with its allowed values in its types, or in its items, or else without its type."""
    if "array" in kinds and not any(isinstance(value, list) for value in values):
        part = mapping(schema.get("items"))
        others = {key: one for key, one in schema.items() if key != keyword}
        return {**others, "items": part if "enum" in part or "const" in part else {**part, "enum": values}}
    read: list[Any] = [value if value is None or _is_of(value, kinds) else _read_as(value, kinds) for value in values]
    found: list[Any] = [value for value, given in zip(read, values, strict=True) if value is not None or given is None]
    if all(value is None for value in found):
        return {key: one for key, one in schema.items() if key != "type"}
    unique: dict[tuple[str, str], Any] = {(_kind_of(value), str(value)): value for value in found}
    return {**schema, keyword: found[0] if keyword == "const" else list[Any](unique.values())}


def _is_of(value: object, kinds: list[str]) -> bool:
    kind = _kind_of(value)
    whole = isinstance(value, float) and value.is_integer()
    return kind in kinds or ("number" in kinds and kind == "integer") or ("integer" in kinds and whole)


def _read_as(value: object, kinds: list[str]) -> object:
    """A value in one of the types, by its text; None where its text is none of any."""
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
