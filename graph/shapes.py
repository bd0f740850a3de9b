"""The structure of a JSON value: which types it may have, the fields of an object, the items of a list. Never values."""

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
    """What a value may look like. Without ``kinds`` nothing is known of it.

    ``fields``: of an object, in order, those in ``required`` always there. ``values``: of an object whose names are data, as a
    mapping from ids is. ``items``: of a list. ``enum``: the only values.
    """

    kinds: frozenset[Kind] = frozenset()
    fields: Mapping[str, "Shape"] = field(default_factory=dict[str, "Shape"], hash=False)
    items: "Shape | None" = None
    values: "Shape | None" = None
    required: frozenset[str] = frozenset()
    enum: tuple[JsonValue, ...] = ()

    @property
    def known(self) -> bool:
        """Whether anything is known of it besides, perhaps, that it may be null."""
        return bool(self.kinds - {"null"})

    @property
    def nullable(self) -> bool:
        """Whether it may be null."""
        return "null" in self.kinds


UNKNOWN = Shape()


def shape_of_value(value: JsonValue, depth: int = 8, items: int = 50) -> Shape:
    """The structure of a value at hand; of a list the first ``items`` tell, each of which may have fields that others lack."""
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
    """What a value may look like that is as one of the two."""
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
    """Both must name their values; being null is told by the type."""
    named = [shape.enum for shape in (one, other) if shape.kinds != _NULL]
    if not all(named):
        return ()
    return tuple(_once(value for values in named for value in values))


def _once(values: Iterable[JsonValue]) -> Iterable[JsonValue]:
    """Each value once, in order; what is equal in Python and differs in JSON (``1``, ``true``) stays apart."""
    return {(type(value), repr(value)): value for value in values}.values()


def _widest(kinds: frozenset[Kind]) -> frozenset[Kind]:
    """A number may be whole."""
    whole: frozenset[Kind] = frozenset({"integer"})
    return kinds - whole if "number" in kinds else kinds


def _either(one: Shape | None, other: Shape | None) -> Shape | None:
    return merged(one, other) if one and other else one or other


def completed(shape: Shape, example: Shape) -> Shape:
    """The shape with what only an example tells: fields that it does not name, of what it leaves open all."""
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
    """From a form that catalogues use instead of a schema: a response with the names of types, or with examples, for its values."""
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
    """Whether an object reads as a JSON Schema rather than as an example of a response."""
    return not value.keys().isdisjoint(
        ("type", "properties", "items", "$ref", "anyOf", "oneOf", "allOf", "additionalProperties")
    )


def shape_of_schema(schema: JsonValue) -> Shape:
    """From a JSON Schema, OpenAPI's dialects among them. References are followed within it, cycles once; it is read to a bounded depth."""
    return _Reading(schema).shape(schema, _DEPTH)


_DEPTH = 10
_OBJECT: frozenset[Kind] = frozenset({"object"})
_NULL: frozenset[Kind] = frozenset({"null"})
_ARRAY: frozenset[Kind] = frozenset({"array"})
_NODES = 5_000
_REFERENCES = 50


@dataclass(slots=True)
class _Reading:
    """One schema as it is read."""

    root: JsonValue
    left: int = _NODES

    def shape(self, node: JsonValue, depth: int, followed: frozenset[str] = frozenset()) -> Shape:
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
    """What a value looks like that is as both say; where they contradict each other, as either says."""
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
    """What ``#/…`` names; None for what lies elsewhere or is not there."""
    if reference == "#":
        return root
    if not reference.startswith("#/"):
        return None
    node = root
    for part in reference[2:].split("/"):
        node = node.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
    return node


def schema_of(shape: Shape) -> dict[str, JsonValue]:
    """The shape as a JSON Schema, for :func:`shape_of_schema`."""
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
