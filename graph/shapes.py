"""Shapes of JSON values: possible types, object fields and list items, but no values except those of enums."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Literal, cast

from pydantic.types import JsonValue

from graph.response_fields import json_type

Kind = Literal["string", "number", "integer", "boolean", "array", "object", "null"]

_KINDS: dict[str, Kind] = {
    "string": "string", "str": "string", "text": "string", "date": "string", "file": "string",
    "number": "number", "float": "number", "double": "number", "decimal": "number",
    "integer": "integer", "int": "integer", "long": "integer",
    "boolean": "boolean", "bool": "boolean",
    "array": "array", "list": "array", "object": "object", "dict": "object", "null": "null", "none": "null",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shape:
    """Possible structure of a JSON value."""

    kinds: frozenset[Kind] = frozenset()
    """Possible types; empty if nothing is known."""
    fields: Mapping[str, "Shape"] = field(default_factory=dict[str, "Shape"], hash=False)
    """Fields of an object, in order."""
    items: "Shape | None" = None
    """Shape of a list's items."""
    values: "Shape | None" = None
    """Shape of the values of an object whose keys are data, such as a mapping from ids."""
    required: frozenset[str] = frozenset()
    """Fields that are always present."""
    enum: tuple[JsonValue, ...] = ()
    """The only possible values; empty if any value of the types is possible."""

    @property
    def known(self) -> bool:
        """True if any type other than null is known."""
        return bool(self.kinds - {"null"})

    @property
    def nullable(self) -> bool:
        """True if null is possible."""
        return "null" in self.kinds


UNKNOWN = Shape()


def shape_of_value(value: JsonValue, depth: int = 8, items: int = 50) -> Shape:
    """Return the shape of a value; of a list, the first ``items`` items are merged, whose fields may differ."""
    match value:
        case dict() if depth:
            made = {name: shape_of_value(one, depth - 1, items) for name, one in value.items()}
            return Shape(frozenset({"object"}), made, required=frozenset(made))
        case list() if depth:
            found = (shape_of_value(one, depth - 1, items) for one in value[:items])
            return Shape(frozenset({"array"}), items=reduce(merged, found) if value else None)
        case _:
            return Shape(frozenset({json_type(value) or "null"}))


def merged(one: Shape, other: Shape) -> Shape:
    """Return the shape of values that match at least one of two shapes."""
    fields = {
        name: merged(part, other.fields[name]) if name in other.fields else part for name, part in one.fields.items()
    }
    fields |= {name: part for name, part in other.fields.items() if name not in one.fields}
    required = one.required & other.required
    if "object" not in one.kinds or "object" not in other.kinds:
        required = one.required | other.required
    return Shape(
        _widest(one.kinds | other.kinds),
        fields,
        _either(one.items, other.items),
        _either(one.values, other.values),
        required,
        _options(one, other),
    )


def _options(one: Shape, other: Shape) -> tuple[JsonValue, ...]:
    """Return the union of two enums; empty unless both shapes list their values.

    A shape that is only null counts as listed, since null is expressed by the type.
    """
    named = [shape.enum for shape in (one, other) if shape.kinds != _NULL]
    if not all(named):
        return ()
    return tuple(_once(value for values in named for value in values))


def _once(values: Iterable[JsonValue]) -> Iterable[JsonValue]:
    """Return each value once, in order.

    Values that are equal in Python but not in JSON (``1``, ``true``) stay apart.
    """
    return {(type(value), repr(value)): value for value in values}.values()


def _widest(kinds: frozenset[Kind]) -> frozenset[Kind]:
    """Drop ``integer`` where ``number`` is possible, since a number may be whole."""
    whole: frozenset[Kind] = frozenset({"integer"})
    return kinds - whole if "number" in kinds else kinds


def _either(one: Shape | None, other: Shape | None) -> Shape | None:
    return merged(one, other) if one and other else one or other


def completed(shape: Shape, example: Shape) -> Shape:
    """Add what only ``example`` shows: fields that the shape does not name, and everything where the shape is open."""
    if not shape.kinds or shape.kinds == _NULL:
        return Shape(example.kinds | shape.kinds, example.fields, example.items, example.values, example.required)
    if shape.kinds.isdisjoint(example.kinds):
        return shape
    fields = dict(shape.fields)
    if shape.values is None:
        for name, part in example.fields.items():
            fields[name] = completed(fields[name], part) if name in fields else part
    items = completed(shape.items or UNKNOWN, example.items) if example.items else shape.items
    return Shape(shape.kinds, fields, items, shape.values, shape.required, shape.enum)


def shape_of_names(schema: JsonValue, depth: int = 8) -> Shape:
    """Return the shape of a catalogue's pseudo-schema: a response with type names or examples as its values."""
    match schema:
        case dict() if depth:
            made = {name: shape_of_names(one, depth - 1) for name, one in schema.items()}
            return Shape(frozenset({"object"}), made, required=frozenset(made))
        case list() if depth:
            found = [shape_of_names(one, depth - 1) for one in schema[:50]]
            return Shape(frozenset({"array"}), items=reduce(merged, found) if found else None)
        case str():
            return Shape(frozenset({_KINDS.get(schema.strip().lower(), "string")}))
        case _:
            return Shape(frozenset({json_type(schema) or "null"}))


def is_schema(value: Mapping[str, Any]) -> bool:
    """Return whether an object looks like a JSON Schema rather than an example of a response."""
    return not value.keys().isdisjoint(
        ("type", "properties", "items", "$ref", "anyOf", "oneOf", "allOf", "additionalProperties")
    )


def shape_of_schema(schema: JsonValue) -> Shape:
    """Return the shape of a JSON Schema, in OpenAPI's dialects too.

    References are followed within the schema, each at most once along a path, and nesting is read to a bounded depth.
    """
    return _Reading(schema).shape(schema, _DEPTH)


_DEPTH = 10
_OBJECT: frozenset[Kind] = frozenset({"object"})
_NULL: frozenset[Kind] = frozenset({"null"})
_ARRAY: frozenset[Kind] = frozenset({"array"})
_NODES = 5_000
_REFERENCES = 50


@dataclass(slots=True)
class _Reading:
    """Reads one schema, within a limit of visited nodes."""

    root: JsonValue
    """The whole schema, in which references are resolved."""
    left: int = _NODES
    """How many nodes may still be visited."""

    def shape(self, node: JsonValue, depth: int, followed: frozenset[str] = frozenset()) -> Shape:
        """Return the shape of a schema node; ``followed`` holds the references on the way to it."""
        self.left -= 1
        if not isinstance(node, dict) or depth <= 0 or self.left < 0:
            return UNKNOWN
        reference = node.get("$ref")
        if isinstance(reference, str):
            if reference in followed or len(followed) >= _REFERENCES:
                return UNKNOWN
            return self.shape(_resolved(self.root, reference), depth, followed | {reference})
        own = self._own(node, depth, followed)
        for option in _list(node.get("allOf")):
            own = _both(own, self.shape(option, depth - 1, followed))
        for way in ("anyOf", "oneOf"):
            options = [self.shape(option, depth - 1, followed) for option in _list(node.get(way))]
            known = [option for option in options if option.kinds]
            if known:
                own = _both(own, reduce(merged, known))
        return own

    def _own(self, node: dict[str, JsonValue], depth: int, followed: frozenset[str]) -> Shape:
        """Return the shape of a node without its references and its ``allOf``, ``anyOf`` and ``oneOf``."""
        kinds = _kinds(node)
        properties, items, values = node.get("properties"), node.get("items"), node.get("additionalProperties")
        fields: dict[str, Shape] = {}
        if isinstance(properties, dict):
            fields = {str(name): self.shape(one, depth - 1, followed) for name, one in properties.items()}
        if isinstance(properties, dict) or isinstance(values, dict):
            kinds |= _OBJECT
        listed = self.shape(items, depth - 1, followed) if isinstance(items, dict) else None
        if listed or "prefixItems" in node:
            kinds |= _ARRAY
        enum = node.get("enum", [node["const"]] if "const" in node else [])
        if not kinds and isinstance(enum, list):
            kinds = _those((json_type(one) or "null") for one in enum)
        return Shape(
            kinds,
            fields,
            listed,
            self.shape(values, depth - 1, followed) if isinstance(values, dict) and not fields else None,
            frozenset(name for name in _list(node.get("required")) if isinstance(name, str) and name in fields),
            tuple(_once(one for one in enum if one is not None)) if isinstance(enum, list) else (),
        )


def _those(kinds: Iterable[Kind]) -> frozenset[Kind]:
    return _widest(frozenset(kinds))


def _kinds(node: dict[str, JsonValue]) -> frozenset[Kind]:
    told = node.get("type")
    names = told if isinstance(told, list) else [told]
    found: set[Kind] = {_KINDS[name.lower()] for name in names if isinstance(name, str) and name.lower() in _KINDS}
    if node.get("nullable") is True and found:
        found.add("null")
    return frozenset(found)


def _both(one: Shape, other: Shape) -> Shape:
    """Return the shape of values that match both shapes; if their types contradict each other, those of either."""
    if not one.kinds or not other.kinds:
        known, rest = (other, one) if not one.kinds else (one, other)
        return Shape(known.kinds, {**known.fields, **rest.fields}, known.items or rest.items, known.values or rest.values,
                     known.required | rest.required, known.enum or rest.enum)  # fmt: skip
    joined = merged(one, other)
    return Shape(
        (one.kinds & other.kinds) or joined.kinds,
        joined.fields,
        joined.items,
        joined.values,
        one.required | other.required,
        one.enum or other.enum,
    )


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _resolved(root: JsonValue, reference: str) -> JsonValue:
    """Return the target of a local reference (``#/…``); None if it is remote or missing."""
    if reference == "#":
        return root
    if not reference.startswith("#/"):
        return None
    node = root
    for part in reference[2:].split("/"):
        node = node.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
    return node


def schema_of(shape: Shape) -> dict[str, JsonValue]:
    """Return the shape as a JSON Schema, which :func:`shape_of_schema` reads back."""
    told: dict[str, JsonValue] = {}
    kinds = sorted(shape.kinds)
    if kinds:
        told["type"] = kinds[0] if len(kinds) == 1 else cast("list[JsonValue]", kinds)
    if shape.fields:
        told["properties"] = {name: schema_of(one) for name, one in shape.fields.items()}
    if shape.required:
        told["required"] = cast("list[JsonValue]", sorted(shape.required))
    if shape.values is not None:
        told["additionalProperties"] = schema_of(shape.values)
    if shape.items is not None:
        told["items"] = schema_of(shape.items)
    if shape.enum:
        told["enum"] = list(shape.enum)
    return told
