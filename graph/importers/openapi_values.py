"""JSON Schemas of values that are sent: from the dialects of OpenAPI 3.0, 3.1 and Swagger 2, with references inlined."""

import re
from typing import Any, cast

import orjson

from graph.importers.openapi_nodes import Schema, first_example, items, mapping, without_contradictions
from graph.importers.openapi_schema import Schemas
from graph.json_schema import sound_schema

MAX_TEXT = 20_000
"""Characters of a schema as JSON. A larger one is cut to less depth."""
_MAX_NODES = 400
_CUT: Schema = {"$ref": ""}
"""Marks where a schema is cut off; ``sound_schema`` leaves that part open and can tell that it did."""
_TOLD_APART = frozenset({"type", "enum", "format", "minimum", "maximum", "description", "default"})
"""Keywords for which a parameter has fields of its own."""
_COPIED = (
    "type", "enum", "const", "format", "minimum", "maximum", "multipleOf", "minLength", "maxLength", "pattern", "minItems", "maxItems",
    "uniqueItems", "minProperties", "maxProperties", "description", "if", "patternProperties",
)  # fmt: skip


def value_schema(schemas: Schemas, given: object) -> str | None:
    """Return the JSON Schema of a value as text; None if type, enum, format and bounds say everything.

    Read-only fields are left out. Cycles, and parts too deep to fit, are left open.
    """
    return schemas.once("value", given, lambda: _value_schema(schemas, given))


def _value_schema(schemas: Schemas, given: object) -> str | None:
    for depth in schemas.depths("value", 8):
        try:
            made = _Converting(schemas).schema(given, depth, frozenset())
        except _TooManyError:
            schemas.too_deep("value", depth)
            continue
        sound = sound_schema(made)
        sound.pop("description", None)  # the parameter has it already
        text = orjson.dumps(sound).decode()
        if len(text) <= MAX_TEXT:
            return None if _plain(sound) else text
    return None


def is_nullable(schemas: Schemas, given: object) -> bool:
    """Return whether the schema allows null."""
    schema = schemas.merged(given)
    said = schema.get("type")
    nothing = schema.get("nullable") is True or schema.get("x-nullable") is True
    kinds = (*items(schema.get("anyOf")), *items(schema.get("oneOf")))
    if nothing or said == "null" or "null" in items(said):
        return True
    if said is None and None in items(schema.get("enum")):
        return True
    return any(mapping(kind).get("type") == "null" for kind in kinds)


def _plain(schema: Schema) -> bool:
    return schema.keys() <= _TOLD_APART and (not isinstance(schema.get("type"), list) or _one_type(schema["type"]))


def _one_type(names: list[str]) -> bool:
    return len([name for name in names if name != "null"]) <= 1


class _TooManyError(Exception):
    """Raised when one value has too many schemas."""


class _Converting:
    """Converter of one value's schema, of bounded size."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._left = _MAX_NODES

    def schema(self, given: object, depth: int, stack: frozenset[str], *, part: bool = False) -> Any:
        """Convert a schema.

        ``part`` marks a part of an ``allOf``, where ``additionalProperties: false`` would forbid the fields of the other parts.
        """
        self._left -= 1
        if self._left < 0:
            raise _TooManyError
        if isinstance(given, bool):
            return given
        schema, passed = self._schemas.target(mapping(given))
        if depth == 0 or passed & stack:
            return _CUT
        inside = stack | passed
        schema = without_contradictions(schema)
        made: Schema = {key: schema[key] for key in _COPIED if key in schema}
        if isinstance(made.get("description"), str):
            made["description"] = " ".join(made["description"].split())[:200]
        self._limits(made, schema)
        self._structure(made, schema, depth - 1, inside, part=part)
        self._alternatives(made, schema, depth, inside)
        return _or_null(made, schema)

    def _limits(self, made: Schema, schema: Schema) -> None:
        """Convert the bounds: in 3.0, exclusive bounds are booleans beside the bound."""
        for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            said = schema.get(exclusive)
            if said is True and bound in made:
                made[exclusive] = made.pop(bound)
            elif exclusive in schema and not isinstance(said, bool):
                made[exclusive] = said
        if isinstance(pattern := made.pop("pattern", None), str) and (usable := _usable_pattern(pattern)):
            made["pattern"] = usable
        if made.get("type") == "file":
            made["type"] = "string"
        elif made.get("type") == "any":
            del made["type"]

    def _structure(self, made: Schema, schema: Schema, depth: int, inside: frozenset[str], *, part: bool) -> None:
        if "items" in schema:
            made["items"] = self.schema(schema["items"], depth, inside)
        if isinstance(schema.get("prefixItems"), list):
            made["prefixItems"] = [self.schema(one, depth, inside) for one in items(schema["prefixItems"])]
        hidden: set[str] = set()
        properties: Schema = {}
        for name, one in mapping(schema.get("properties")).items():
            if self._schemas.follow(one).get("readOnly") is True:
                hidden.add(name)
            else:
                properties[name] = self.schema(one, depth, inside)
        if properties:
            made["properties"] = properties
        required = [name for name in items(schema.get("required")) if isinstance(name, str) and name not in hidden]
        if required:
            made["required"] = sorted(set(required))
        more: object = schema.get("additionalProperties")
        closed = more is False and not part and not _has_parts(schema) and set(required) <= properties.keys()
        if mapping(more) or closed:
            made["additionalProperties"] = self.schema(more, depth, inside)

    def _alternatives(self, made: Schema, schema: Schema, depth: int, inside: frozenset[str]) -> None:
        if isinstance(schema.get("allOf"), list):
            made["allOf"] = [self.schema(one, depth - 1, inside, part=True) for one in items(schema["allOf"])]
            _keep_types_that_agree(made)
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                variants = [
                    self._variant(one, schema, depth - 1, inside) for one in items(schema[keyword]) if one is not None
                ]
                _require_any(made, variants)
        if "not" in schema:
            made["not"] = self.schema(schema["not"], depth - 1, inside)

    def _variant(self, one: object, schema: Schema, depth: int, inside: frozenset[str]) -> Any:
        """Convert an alternative; with a discriminator, its tag field is restricted to the values that select it.

        The variant's own ``enum`` or ``const`` takes precedence over the names in the discriminator, because servers check the former.
        """
        made: object = self.schema(one, depth, inside)
        discriminator = mapping(schema.get("discriminator"))
        field, reference = discriminator.get("propertyName"), mapping(one).get("$ref")
        if not isinstance(field, str) or not isinstance(reference, str) or isinstance(made, bool):
            return made
        last = reference.rpartition("/")[2]
        mapped = mapping(discriminator.get("mapping")).items()
        named = [name for name, target in mapped if target in (reference, last)] or [last]
        own, examples = self._values_of_field(one, field)
        names = [name for name in named if name in own] or own if own else [*named, *examples]
        told_apart: Schema = {"type": "object", "required": [field], "properties": {field: {"enum": names}}}
        variant = cast(Schema, made)
        if field not in mapping(variant.get("properties")):
            variant.pop("additionalProperties", None)  # otherwise no value could have the field
        return {"allOf": [told_apart, variant]}

    def _values_of_field(self, one: object, field: str) -> tuple[list[Any], list[Any]]:
        """Return the values that a variant allows for a field (empty if it names none), and those in its examples."""
        variant = self._schemas.merged(one)
        held = mapping(variant.get("properties")).get(field)
        declared = without_contradictions(self._schemas.merged(held)) if held is not None else {}
        allowed: list[Any] = [declared["const"]] if "const" in declared else items(declared.get("enum"))
        given = (first_example(declared), declared.get("default"), mapping(first_example(variant)).get(field))
        return allowed, list(dict.fromkeys(one for one in given if isinstance(one, str)))


def _usable_pattern(pattern: str) -> str:
    """Return a regular expression without JavaScript's slashes; empty if an anchor inside keeps any text from matching."""
    if literal := re.fullmatch(r"/(.*)/[gimsuy]*", pattern, re.DOTALL):
        pattern = literal[1]
    bare = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "x", pattern, flags=re.DOTALL)  # escapes and classes
    return "" if re.search(r"\$(?![)|]|$)|(?<![(|:])(?<!^)\^", bare) else pattern


def _keep_types_that_agree(made: Schema) -> None:
    """Drop the types of ``allOf`` and its holder if no value is of all of them."""
    typed = [one for one in (made, *map(mapping, made["allOf"])) if "type" in one]
    kinds: list[set[str]] = [
        {"number", *_names(one["type"])} if "integer" in _names(one["type"]) else _names(one["type"]) for one in typed
    ]
    if kinds and not kinds[0].intersection(*kinds[1:]):
        for one in typed:
            del one["type"]


def _names(kind: object) -> set[str]:
    return {kind} if isinstance(kind, str) else {str(one) for one in items(kind)}


def _has_parts(schema: Schema) -> bool:
    return any(isinstance(schema.get(keyword), list) for keyword in ("allOf", "anyOf", "oneOf"))


def _require_any(made: Schema, variants: list[Any]) -> None:
    """Add alternatives of which at least one must fit.

    ``oneOf`` is checked as ``anyOf``: documents list variants that overlap (an integer and a number, two objects without required
    fields), where "exactly one" never holds.
    """
    if "anyOf" in made:
        made["allOf"] = [*items(made.get("allOf")), {"anyOf": variants}]
    else:
        made["anyOf"] = variants


def _or_null(made: Schema, schema: Schema) -> Schema:
    """Allow null where ``nullable`` says so: JSON Schema 2020-12 has no such keyword."""
    if schema.get("nullable") is not True and schema.get("x-nullable") is not True:
        return made
    if made.keys() <= {"type", "format", "description"} and isinstance(made.get("type"), str):
        return {**made, "type": [made["type"], "null"]}
    return {"anyOf": [made, {"type": "null"}]}
