"""Schemas of an OpenAPI document: references resolved, cycles and size bounded, examples made from those of the parts."""

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import unquote

from domain.tool import JsonType

Schema = dict[str, Any]

MAX_DEPTH = 8
MAX_PROPERTIES = 200
MAX_NODES = 1_500
"""Schemas visited for one result: parts that share parts can multiply without end."""
MAX_VISITS = 10_000_000
"""Schemas visited for one document."""
MAX_TEXT = 500
_KEPT = ("type", "format", "enum", "const", "default", "minimum", "maximum", "description", "required")
_TYPES: dict[str, JsonType] = {
    "string": "string", "number": "number", "integer": "integer", "boolean": "boolean", "array": "array",
    "object": "object",
}  # fmt: skip
_KINDS: dict[type, JsonType] = {bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


class UnsupportedError(Exception):
    """An operation that our calls cannot express; the message says what of it."""


class DanglingReferenceError(UnsupportedError):
    """A ``$ref`` that leads nowhere, or out of the document."""


class _OverflowError(Exception):
    """More schemas than ``MAX_NODES`` belong to one result."""


def mapping(value: object) -> Schema:
    """``value`` if it is a JSON object, else an empty one: documents in the wild put anything anywhere."""
    return cast(Schema, value) if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """``value`` if it is a JSON array, else an empty one."""
    return cast(list[Any], value) if isinstance(value, list) else []


class Schemas:
    """Resolves the references of one document. ``MAX_VISITS`` bounds what all results together may cost: ``UnsupportedError``."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._visits = 0
        self._left = MAX_VISITS

    def follow(self, value: object) -> Schema:
        """The object that ``value`` is, or that its chain of ``$ref`` leads to; what stands beside a ``$ref`` is added.

        Raises:
            DanglingReferenceError: it leads nowhere, in a circle, or to another file.
        """
        return self.target(mapping(value))[0]

    def shape(self, value: object, depth: int = MAX_DEPTH) -> Schema:
        """A schema without references. What refers to itself ends in ``{"type": "object"}``, as does what lies deeper.

        Fields that are only written (``writeOnly``) are left out. Of alternatives the first that is not null is taken.
        """
        for level in (depth, *(less for less in (5, 3, 2, 1) if less < depth)):
            self._visits = 0
            try:
                return self._shape(value, level, frozenset())
            except _OverflowError:
                continue
        return {"type": "object"}

    def example(self, value: object, depth: int = MAX_DEPTH) -> Any:
        """A value of the schema, from the examples, defaults and enums of its parts; None where they say nothing."""
        self._visits = 0
        try:
            return self._example(value, depth, frozenset())
        except _OverflowError:
            return None

    def merged(self, value: object) -> Schema:
        """The schema with the parts of its ``allOf`` merged into it, the parts of those as they stand."""
        self._visits = 0
        try:
            entered = self._enter(value, frozenset(), variants=False)
        except _OverflowError as error:
            raise UnsupportedError("a schema of it has too many parts") from error
        return entered[0] if entered else {}

    def target(self, schema: Schema) -> tuple[Schema, frozenset[str]]:
        """The object at the end of a chain of references, and the references followed. Raises as ``follow``."""
        self._left -= 1
        if self._left < 0:
            raise UnsupportedError("the schemas of the document are too entangled to be read")
        passed: set[str] = set()
        beside: Schema = {}
        while isinstance(reference := schema.get("$ref"), str):
            if reference in passed:
                raise DanglingReferenceError(f"{reference[:200]} refers to itself")
            passed.add(reference)
            beside = merge({key: part for key, part in schema.items() if key != "$ref"}, beside)
            schema = self._at(reference)
        return (merge(schema, beside) if beside else schema), frozenset(passed)

    def _at(self, reference: str) -> Schema:
        if not reference.startswith("#"):
            raise DanglingReferenceError(
                f"{reference[:200]} lies outside the document, and only local references are read"
            )
        node: object = self._document
        for step in reference[2:].split("/"):
            key = unquote(step).replace("~1", "/").replace("~0", "~")
            inside: Schema = mapping(node) or {str(n): one for n, one in enumerate(items(node))}
            if not reference.startswith("#/") or key not in inside:
                raise DanglingReferenceError(f"{reference[:200]} leads nowhere")
            node = inside[key]
        return mapping(node)

    def _enter(
        self, value: object, stack: frozenset[str], level: int = 0, *, variants: bool = True
    ) -> tuple[Schema, frozenset[str]] | None:
        """The schema, merged with its parts, and the stack of references; None inside a cycle and beyond the bounds."""
        schema, passed = self.target(mapping(value))
        self._visits += 1
        if self._visits > MAX_NODES:
            raise _OverflowError
        if passed & stack or level > MAX_DEPTH:
            return None
        inside = stack | passed
        merged = dict(schema)
        for part in items(schema.get("allOf")):
            inner = self._enter(part, inside, level + 1, variants=variants)
            if inner:
                merged = merge(inner[0], merged)
        if variants and "type" not in merged and "properties" not in merged:
            for variant in (*items(schema.get("anyOf")), *items(schema.get("oneOf"))):
                inner = self._enter(variant, inside, level + 1)
                if inner and inner[0].get("type") != "null":
                    return merge(inner[0], merged), inside
        return merged, inside

    def _shape(self, value: object, depth: int, stack: frozenset[str]) -> Schema:
        entered = self._enter(value, stack)
        if entered is None or depth == 0:
            return {"type": "object"}
        schema, inside = entered
        shaped: Schema = {key: schema[key] for key in _KEPT if key in schema}
        shaped["type"] = type_of(schema)
        if isinstance(shaped.get("description"), str):
            shaped["description"] = " ".join(shaped["description"].split())[:MAX_TEXT]
        example = first_example(schema)
        if example is not None and not isinstance(example, (dict, list)):
            shaped["example"] = example
        if shaped["type"] == "array":
            shaped["items"] = self._shape(schema.get("items"), depth - 1, inside)
        properties = list(mapping(schema.get("properties")).items())[:MAX_PROPERTIES]
        if properties:
            shaped["properties"] = {
                name: self._shape(part, depth - 1, inside)
                for name, part in properties
                if mapping(part).get("writeOnly") is not True
            }
        return shaped

    def _example(self, value: object, depth: int, stack: frozenset[str]) -> Any:
        entered = self._enter(value, stack)
        if entered is None or depth == 0:
            return None
        schema, inside = entered
        given = first_example(schema)
        if given is None:
            given = schema.get("default", next(iter(items(schema.get("enum"))), None))
        if given is not None:
            return given
        if type_of(schema) == "array":
            item = self._example(schema.get("items"), depth - 1, inside)
            return None if item is None else [item]
        parts = list(mapping(schema.get("properties")).items())[:MAX_PROPERTIES]
        made = {name: self._example(part, depth - 1, inside) for name, part in parts}
        return {name: part for name, part in made.items() if part is not None} or None


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
