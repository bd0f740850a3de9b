"""Shapes of JSON values: types, object fields and list items, without values other than those of enums."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from typing import Any, Literal, cast

from pydantic.types import JsonValue

from domain.tool import ToolDoc
from graph.lenient_json import read_value
from graph.response_fields import get_json_type

Kind = Literal["string", "number", "integer", "boolean", "array", "object", "null"]

_KIND_NAMES: dict[str, Kind] = {
    "string": "string", "str": "string", "text": "string", "date": "string", "file": "string",
    "number": "number", "float": "number", "double": "number", "decimal": "number",
    "integer": "integer", "int": "integer", "long": "integer",
    "boolean": "boolean", "bool": "boolean",
    "array": "array", "list": "array", "object": "object", "dict": "object", "null": "null", "none": "null",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class JsonShape:
    """Possible structure of a JSON value."""

    kinds: frozenset[Kind] = frozenset()
    """Possible types; empty if nothing is known."""
    fields: Mapping[str, "JsonShape"] = field(default_factory=dict[str, "JsonShape"], hash=False)
    """Fields of an object, in order."""
    items: "JsonShape | None" = None
    """Shape of a list's items."""
    values: "JsonShape | None" = None
    """Shape of the values of an object whose keys are data, such as a mapping from ids."""
    required: frozenset[str] = frozenset()
    """Fields that are always present."""
    enum: tuple[JsonValue, ...] = ()
    """The only possible values; empty if any value of the types is possible."""

    @property
    def is_known(self) -> bool:
        """True if any type other than null is known."""
        return bool(self.kinds - {"null"})

    @property
    def nullable(self) -> bool:
        """True if null is possible."""
        return "null" in self.kinds


UNKNOWN = JsonShape()


def infer_shape(value: JsonValue, depth: int = 8, items: int = 50) -> JsonShape:
    """Return the shape of a value down to ``depth`` levels; of a list the first ``items`` items are merged."""
    match value:
        case dict() if depth:
            fields = {name: infer_shape(one, depth - 1, items) for name, one in value.items()}
            return JsonShape(frozenset({"object"}), fields, required=frozenset(fields))
        case list() if depth:
            item_shapes = (infer_shape(one, depth - 1, items) for one in value[:items])
            return JsonShape(frozenset({"array"}), items=reduce(merge_shapes, item_shapes) if value else None)
        case _:
            return JsonShape(frozenset({get_json_type(value) or "null"}))


def merge_shapes(first: JsonShape, second: JsonShape) -> JsonShape:
    """Return the shape of values that match at least one of two shapes."""
    fields = {
        name: merge_shapes(part, second.fields[name]) if name in second.fields else part
        for name, part in first.fields.items()
    }
    fields |= {name: part for name, part in second.fields.items() if name not in first.fields}
    required = first.required & second.required
    if "object" not in first.kinds or "object" not in second.kinds:
        required = first.required | second.required
    return JsonShape(
        _widen_kinds(first.kinds | second.kinds),
        fields,
        _merge_optional(first.items, second.items),
        _merge_optional(first.values, second.values),
        required,
        _merge_enums(first, second),
    )


def _merge_enums(first: JsonShape, second: JsonShape) -> tuple[JsonValue, ...]:
    """Return the union of two enums; empty unless both shapes list their values.

    A shape that is only null counts as listed, since null is expressed by the type.
    """
    enums = [shape.enum for shape in (first, second) if shape.kinds != _NULL]
    if not all(enums):
        return ()
    return tuple(_deduplicate(value for values in enums for value in values))


def _deduplicate(values: Iterable[JsonValue]) -> Iterable[JsonValue]:
    """Return each value once, in order.

    Values that are equal in Python but not in JSON (``1``, ``true``) stay apart.
    """
    return {(type(value), repr(value)): value for value in values}.values()


def _widen_kinds(kinds: frozenset[Kind]) -> frozenset[Kind]:
    """Drop ``integer`` where ``number`` is possible, since a number may be whole."""
    integer: frozenset[Kind] = frozenset({"integer"})
    return kinds - integer if "number" in kinds else kinds


def _merge_optional(first: JsonShape | None, second: JsonShape | None) -> JsonShape | None:
    return merge_shapes(first, second) if first and second else first or second


def complete_shape(shape: JsonShape, example: JsonShape) -> JsonShape:
    """Add what only ``example`` shows: missing fields, and the whole structure where ``shape`` leaves it open."""
    if not shape.kinds or shape.kinds == _NULL:
        return JsonShape(example.kinds | shape.kinds, example.fields, example.items, example.values, example.required)
    if shape.kinds.isdisjoint(example.kinds):
        return shape
    fields = dict(shape.fields)
    if shape.values is None:
        for name, part in example.fields.items():
            fields[name] = complete_shape(fields[name], part) if name in fields else part
    items = complete_shape(shape.items or UNKNOWN, example.items) if example.items else shape.items
    return JsonShape(shape.kinds, fields, items, shape.values, shape.required, shape.enum)


def infer_shape_from_type_names(schema: JsonValue, depth: int = 8) -> JsonShape:
    """Return the shape of a catalogue's pseudo-schema, a response with type names or examples in place of values."""
    match schema:
        case dict() if depth:
            fields = {name: infer_shape_from_type_names(one, depth - 1) for name, one in schema.items()}
            return JsonShape(frozenset({"object"}), fields, required=frozenset(fields))
        case list() if depth:
            item_shapes = [infer_shape_from_type_names(one, depth - 1) for one in schema[:50]]
            return JsonShape(frozenset({"array"}), items=reduce(merge_shapes, item_shapes) if item_shapes else None)
        case str():
            return JsonShape(frozenset({_KIND_NAMES.get(schema.strip().lower(), "string")}))
        case _:
            return JsonShape(frozenset({get_json_type(schema) or "null"}))


def is_schema(value: Mapping[str, Any]) -> bool:
    """Return whether an object looks like a JSON Schema rather than an example of a response."""
    return not value.keys().isdisjoint(
        ("type", "properties", "items", "$ref", "anyOf", "oneOf", "allOf", "additionalProperties")
    )


def read_schema_shape(schema: JsonValue) -> JsonShape:
    """Return the shape of a JSON Schema, in OpenAPI's dialects too.

    References are followed within the schema, each at most once along a path, and nesting is read to a bounded depth.
    """
    return _SchemaReader(schema).read(schema, _MAX_DEPTH)


_MAX_DEPTH = 10
_OBJECT: frozenset[Kind] = frozenset({"object"})
_NULL: frozenset[Kind] = frozenset({"null"})
_ARRAY: frozenset[Kind] = frozenset({"array"})
_MAX_NODES = 5_000
_MAX_REFERENCES = 50


@dataclass(slots=True)
class _SchemaReader:
    """Reads one schema, within a limit of visited nodes."""

    root: JsonValue
    """The whole schema, in which references are resolved."""
    nodes_left: int = _MAX_NODES
    """How many nodes may still be visited."""

    def read(self, node: JsonValue, depth: int, followed: frozenset[str] = frozenset()) -> JsonShape:
        """Return the shape of a schema node; ``followed`` holds the references on the way to it."""
        self.nodes_left -= 1
        if not isinstance(node, dict) or depth <= 0 or self.nodes_left < 0:
            return UNKNOWN
        reference = node.get("$ref")
        if isinstance(reference, str):
            if reference in followed or len(followed) >= _MAX_REFERENCES:
                return UNKNOWN
            return self.read(_resolve_reference(self.root, reference), depth, followed | {reference})
        own = self._read_own(node, depth, followed)
        for option in _to_list(node.get("allOf")):
            own = _intersect_shapes(own, self.read(option, depth - 1, followed))
        for keyword in ("anyOf", "oneOf"):
            options = [self.read(option, depth - 1, followed) for option in _to_list(node.get(keyword))]
            known_options = [option for option in options if option.kinds]
            if known_options:
                own = _intersect_shapes(own, reduce(merge_shapes, known_options))
        return own

    def _read_own(self, node: dict[str, JsonValue], depth: int, followed: frozenset[str]) -> JsonShape:
        """Return the shape of a node without its references and its ``allOf``, ``anyOf`` and ``oneOf``."""
        kinds = _read_kinds(node)
        properties, items, values = node.get("properties"), node.get("items"), node.get("additionalProperties")
        fields: dict[str, JsonShape] = {}
        if isinstance(properties, dict):
            fields = {str(name): self.read(one, depth - 1, followed) for name, one in properties.items()}
        if isinstance(properties, dict) or isinstance(values, dict):
            kinds |= _OBJECT
        item_shape = self.read(items, depth - 1, followed) if isinstance(items, dict) else None
        if item_shape or "prefixItems" in node:
            kinds |= _ARRAY
        enum = node.get("enum", [node["const"]] if "const" in node else [])
        if not kinds and isinstance(enum, list):
            kinds = _collect_kinds((get_json_type(one) or "null") for one in enum)
        return JsonShape(
            kinds,
            fields,
            item_shape,
            self.read(values, depth - 1, followed) if isinstance(values, dict) and not fields else None,
            frozenset(name for name in _to_list(node.get("required")) if isinstance(name, str) and name in fields),
            tuple(_deduplicate(one for one in enum if one is not None)) if isinstance(enum, list) else (),
        )


def _collect_kinds(kinds: Iterable[Kind]) -> frozenset[Kind]:
    return _widen_kinds(frozenset(kinds))


def _read_kinds(node: dict[str, JsonValue]) -> frozenset[Kind]:
    declared = node.get("type")
    names = declared if isinstance(declared, list) else [declared]
    kinds: set[Kind] = {
        _KIND_NAMES[name.lower()] for name in names if isinstance(name, str) and name.lower() in _KIND_NAMES
    }
    if node.get("nullable") is True and kinds:
        kinds.add("null")
    return frozenset(kinds)


def _intersect_shapes(first: JsonShape, second: JsonShape) -> JsonShape:
    """Return the shape of values that match both shapes; if their types contradict each other, those of either."""
    if not first.kinds or not second.kinds:
        informative, rest = (second, first) if not first.kinds else (first, second)
        return JsonShape(informative.kinds, {**informative.fields, **rest.fields}, informative.items or rest.items, informative.values or rest.values,
                     informative.required | rest.required, informative.enum or rest.enum)  # fmt: skip
    joined = merge_shapes(first, second)
    return JsonShape(
        (first.kinds & second.kinds) or joined.kinds,
        joined.fields,
        joined.items,
        joined.values,
        first.required | second.required,
        first.enum or second.enum,
    )


def _to_list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _resolve_reference(root: JsonValue, reference: str) -> JsonValue:
    """Return the target of a local reference (``#/…``); None if it is remote or missing."""
    if reference == "#":
        return root
    if not reference.startswith("#/"):
        return None
    node = root
    for part in reference[2:].split("/"):
        node = node.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
    return node


def to_schema(shape: JsonShape) -> dict[str, JsonValue]:
    """Return the shape as a JSON Schema, which :func:`read_schema_shape` reads back."""
    schema: dict[str, JsonValue] = {}
    kinds = sorted(shape.kinds)
    if kinds:
        schema["type"] = kinds[0] if len(kinds) == 1 else cast("list[JsonValue]", kinds)
    if shape.fields:
        schema["properties"] = {name: to_schema(one) for name, one in shape.fields.items()}
    if shape.required:
        schema["required"] = cast("list[JsonValue]", sorted(shape.required))
    if shape.values is not None:
        schema["additionalProperties"] = to_schema(shape.values)
    if shape.items is not None:
        schema["items"] = to_schema(shape.items)
    if shape.enum:
        schema["enum"] = list(shape.enum)
    return schema


_MAX_TEXT = 400_000


def infer_response_shape(doc: ToolDoc) -> JsonShape:
    """Return the shape learnt from a tool's responses, or :func:`infer_documented_shape` if none was learnt."""
    return _read_learnt_shape(doc.learnt_response) if doc.learnt_response else infer_documented_shape(doc)


def infer_documented_shape(doc: ToolDoc) -> JsonShape:
    """Return the shape that a tool's schema gives, completed by its example; ``UNKNOWN`` if it has neither.

    Broken text is read as far as it is intact.
    """
    return _read_documented_shape(doc.response_schema or "", doc.example_response or "")


@lru_cache(maxsize=4096)
def _read_learnt_shape(text: str) -> JsonShape:
    return read_schema_shape(read_value(text))


@lru_cache(maxsize=4096)
def _read_documented_shape(schema_text: str, example_text: str) -> JsonShape:
    documented = _read_schema_text(schema_text)
    example = read_value(example_text) if 0 < len(example_text) <= _MAX_TEXT else None
    return documented if example is None else complete_shape(documented, infer_shape(example))


def _read_schema_text(text: str) -> JsonShape:
    schema = read_value(text) if 2 < len(text) <= _MAX_TEXT else None
    if not isinstance(schema, dict) or not schema:
        return UNKNOWN
    return read_schema_shape(schema) if is_schema(schema) else infer_shape_from_type_names(schema)
