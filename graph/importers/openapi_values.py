"""Converts OpenAPI 3.0, 3.1 and Swagger 2 schemas to the JSON Schemas that arguments are checked with."""

import re
from typing import Any, cast

import orjson

from graph.importers.openapi_nodes import Schema, drop_contradictions, find_example, to_list, to_mapping
from graph.importers.openapi_schema import SchemaResolver
from graph.json_schema import sanitize_schema

MAX_TEXT = 20_000
"""Characters of a schema as JSON. A larger one is cut to less depth."""
_MAX_NODES = 400
_CUT: Schema = {"$ref": ""}
"""Marks where a schema is cut off. ``sanitize_schema`` leaves such a part open, and does not count it as exact."""
_PARAMETER_KEYWORDS = frozenset({"type", "enum", "format", "minimum", "maximum", "description", "default"})
"""Keywords that :class:`domain.tool.Parameter` has fields for."""
_COPIED = (
    "type", "enum", "const", "format", "minimum", "maximum", "multipleOf", "minLength", "maxLength", "pattern", "minItems", "maxItems",
    "uniqueItems", "minProperties", "maxProperties", "description", "if", "patternProperties",
)  # fmt: skip


def build_value_schema(schemas: SchemaResolver, raw_schema: object) -> str | None:
    """Return the JSON Schema of a value as text; None if type, enum, format and bounds say everything.

    Read-only fields are left out. Cycles, and parts too deep to fit, are left open.
    """
    return schemas.compute_once("value", raw_schema, lambda: _build_bounded_schema(schemas, raw_schema))


def _build_bounded_schema(schemas: SchemaResolver, raw_schema: object) -> str | None:
    for depth in schemas.list_depths("value", 8):
        try:
            converted = _SchemaConverter(schemas).convert(raw_schema, depth, frozenset())
        except _TooManyNodesError:
            schemas.note_overflow("value", depth)
            continue
        sound = sanitize_schema(converted)
        sound.pop("description", None)  # the parameter has it already
        text = orjson.dumps(sound).decode()
        if len(text) <= MAX_TEXT:
            return None if _is_plain(sound) else text
    return None


def is_nullable(schemas: SchemaResolver, raw_schema: object) -> bool:
    """Return whether the schema allows null."""
    schema = schemas.merge_all_of(raw_schema)
    declared_type = schema.get("type")
    allows_null = schema.get("nullable") is True or schema.get("x-nullable") is True
    alternatives = (*to_list(schema.get("anyOf")), *to_list(schema.get("oneOf")))
    if allows_null or declared_type == "null" or "null" in to_list(declared_type):
        return True
    if declared_type is None and None in to_list(schema.get("enum")):
        return True
    return any(to_mapping(kind).get("type") == "null" for kind in alternatives)


def _is_plain(schema: Schema) -> bool:
    return schema.keys() <= _PARAMETER_KEYWORDS and (
        not isinstance(schema.get("type"), list) or _is_one_type(schema["type"])
    )


def _is_one_type(names: list[str]) -> bool:
    return len([name for name in names if name != "null"]) <= 1


class _TooManyNodesError(Exception):
    """Raised when one value has too many schemas."""


class _SchemaConverter:
    """Converter of one value's schema, of bounded size."""

    def __init__(self, schemas: SchemaResolver) -> None:
        self._schemas = schemas
        self._remaining = _MAX_NODES

    def convert(self, raw_schema: object, depth: int, stack: frozenset[str], *, part: bool = False) -> Any:
        """Convert a schema.

        ``part`` marks a part of an ``allOf``, where ``additionalProperties: false`` would forbid the fields of the
        other parts.
        """
        self._remaining -= 1
        if self._remaining < 0:
            raise _TooManyNodesError
        if isinstance(raw_schema, bool):
            return raw_schema
        schema, followed = self._schemas.resolve(to_mapping(raw_schema))
        if depth == 0 or followed & stack:
            return _CUT
        inner_stack = stack | followed
        schema = drop_contradictions(schema)
        converted: Schema = {key: schema[key] for key in _COPIED if key in schema}
        if isinstance(converted.get("description"), str):
            converted["description"] = " ".join(converted["description"].split())[:200]
        self._convert_bounds(converted, schema)
        self._convert_structure(converted, schema, depth - 1, inner_stack, part=part)
        self._convert_alternatives(converted, schema, depth, inner_stack)
        return _allow_null(converted, schema)

    def _convert_bounds(self, converted: Schema, schema: Schema) -> None:
        """Convert the bounds: in 3.0, exclusive bounds are booleans beside the bound."""
        for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            exclusive_value = schema.get(exclusive)
            if exclusive_value is True and bound in converted:
                converted[exclusive] = converted.pop(bound)
            elif exclusive in schema and not isinstance(exclusive_value, bool):
                converted[exclusive] = exclusive_value
        if isinstance(pattern := converted.pop("pattern", None), str) and (usable := _to_usable_pattern(pattern)):
            converted["pattern"] = usable
        if converted.get("type") == "file":
            converted["type"] = "string"
        elif converted.get("type") == "any":
            del converted["type"]

    def _convert_structure(
        self, converted: Schema, schema: Schema, depth: int, stack: frozenset[str], *, part: bool
    ) -> None:
        if "items" in schema:
            converted["items"] = self.convert(schema["items"], depth, stack)
        if isinstance(schema.get("prefixItems"), list):
            converted["prefixItems"] = [self.convert(one, depth, stack) for one in to_list(schema["prefixItems"])]
        hidden: set[str] = set()
        properties: Schema = {}
        for name, one in to_mapping(schema.get("properties")).items():
            if self._schemas.follow(one).get("readOnly") is True:
                hidden.add(name)
            else:
                properties[name] = self.convert(one, depth, stack)
        if properties:
            converted["properties"] = properties
        required = [name for name in to_list(schema.get("required")) if isinstance(name, str) and name not in hidden]
        if required:
            converted["required"] = sorted(set(required))
        additional: object = schema.get("additionalProperties")
        closed = additional is False and not part and not _has_parts(schema) and set(required) <= properties.keys()
        if to_mapping(additional) or closed:
            converted["additionalProperties"] = self.convert(additional, depth, stack)

    def _convert_alternatives(self, converted: Schema, schema: Schema, depth: int, stack: frozenset[str]) -> None:
        if isinstance(schema.get("allOf"), list):
            converted["allOf"] = [self.convert(one, depth - 1, stack, part=True) for one in to_list(schema["allOf"])]
            _drop_disjoint_types(converted)
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                variants = [
                    self._convert_variant(one, schema, depth - 1, stack)
                    for one in to_list(schema[keyword])
                    if one is not None
                ]
                _require_any(converted, variants)
        if "not" in schema:
            converted["not"] = self.convert(schema["not"], depth - 1, stack)

    def _convert_variant(self, alternative: object, schema: Schema, depth: int, stack: frozenset[str]) -> Any:
        """Convert an alternative; with a discriminator, its tag field is restricted to the values that select it.

        The variant's own ``enum`` or ``const`` takes precedence over the names in the discriminator, because servers
        check the former.
        """
        converted: object = self.convert(alternative, depth, stack)
        discriminator = to_mapping(schema.get("discriminator"))
        field, reference = discriminator.get("propertyName"), to_mapping(alternative).get("$ref")
        if not isinstance(field, str) or not isinstance(reference, str) or isinstance(converted, bool):
            return converted
        last = reference.rpartition("/")[2]
        mapped = to_mapping(discriminator.get("mapping")).items()
        mapped_names = [name for name, target in mapped if target in (reference, last)] or [last]
        own_values, examples = self._collect_field_values(alternative, field)
        names = (
            [name for name in mapped_names if name in own_values] or own_values
            if own_values
            else [*mapped_names, *examples]
        )
        tag_schema: Schema = {"type": "object", "required": [field], "properties": {field: {"enum": names}}}
        variant = cast(Schema, converted)
        if field not in to_mapping(variant.get("properties")):
            variant.pop("additionalProperties", None)  # otherwise no value could have the field
        return {"allOf": [tag_schema, variant]}

    def _collect_field_values(self, alternative: object, field: str) -> tuple[list[Any], list[Any]]:
        """Return the values that a variant allows for a field (empty if it names none), and those in its examples."""
        variant = self._schemas.merge_all_of(alternative)
        field_schema = to_mapping(variant.get("properties")).get(field)
        declared = drop_contradictions(self._schemas.merge_all_of(field_schema)) if field_schema is not None else {}
        allowed: list[Any] = [declared["const"]] if "const" in declared else to_list(declared.get("enum"))
        examples = (find_example(declared), declared.get("default"), to_mapping(find_example(variant)).get(field))
        return allowed, list(dict.fromkeys(one for one in examples if isinstance(one, str)))


def _to_usable_pattern(pattern: str) -> str:
    """Return a pattern without JavaScript's slashes; empty if an anchor in its middle keeps any text from matching."""
    if literal := re.fullmatch(r"/(.*)/[gimsuy]*", pattern, re.DOTALL):
        pattern = literal[1]
    bare = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "x", pattern, flags=re.DOTALL)  # escapes and classes
    return "" if re.search(r"\$(?![)|]|$)|(?<![(|:])(?<!^)\^", bare) else pattern


def _drop_disjoint_types(converted: Schema) -> None:
    """Drop the types of ``allOf`` and its holder if no value is of all of them."""
    typed = [one for one in (converted, *map(to_mapping, converted["allOf"])) if "type" in one]
    kinds: list[set[str]] = [
        {"number", *_to_type_set(one["type"])} if "integer" in _to_type_set(one["type"]) else _to_type_set(one["type"])
        for one in typed
    ]
    if kinds and not kinds[0].intersection(*kinds[1:]):
        for one in typed:
            del one["type"]


def _to_type_set(kind: object) -> set[str]:
    return {kind} if isinstance(kind, str) else {str(one) for one in to_list(kind)}


def _has_parts(schema: Schema) -> bool:
    return any(isinstance(schema.get(keyword), list) for keyword in ("allOf", "anyOf", "oneOf"))


def _require_any(converted: Schema, variants: list[Any]) -> None:
    """Add alternatives of which at least one must fit.

    ``oneOf`` is checked as ``anyOf``: documents list variants that overlap (an integer and a number, two objects
    without required fields), where "exactly one" never holds.
    """
    if "anyOf" in converted:
        converted["allOf"] = [*to_list(converted.get("allOf")), {"anyOf": variants}]
    else:
        converted["anyOf"] = variants


def _allow_null(converted: Schema, schema: Schema) -> Schema:
    """Allow null where ``nullable`` says so: JSON Schema 2020-12 has no such keyword."""
    if schema.get("nullable") is not True and schema.get("x-nullable") is not True:
        return converted
    if converted.keys() <= {"type", "format", "description"} and isinstance(converted.get("type"), str):
        return {**converted, "type": [converted["type"], "null"]}
    return {"anyOf": [converted, {"type": "null"}]}
