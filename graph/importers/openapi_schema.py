"""Schemas of an OpenAPI document: references resolved, cycles and size bounded, examples built from those of the parts."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import unquote

from graph.importers.openapi_nodes import (
    Schema,
    first_example,
    is_open,
    items,
    mapping,
    merge,
    type_of,
    without_contradictions,
)

T = TypeVar("T")

MAX_DEPTH = 8
MAX_PROPERTIES = 200
MAX_NODES = 600
"""Schemas visited for one result. Parts that share parts can multiply without end."""
MAX_VISITS = 1_500_000
"""Schemas visited for one document at full depth, and then as many again at depth ``SHALLOW``.

After that, schemas are read without their parts, so the last operations of a huge document lose detail but are still imported.
"""
SHALLOW = 2
MAX_TEXT = 500
MAX_NAME = 100
MAX_VARIANTS = 8
_PATIENCE = 20
"""Overflows at one depth before it is no longer tried for this document."""
_KEPT = ("type", "format", "enum", "const", "default", "minimum", "maximum", "description", "required")


class UnsupportedError(Exception):
    """Operation that our calls cannot express; the message says which part of it."""


class DanglingReferenceError(UnsupportedError):
    """Reference (``$ref``) that leads nowhere or out of the document."""


class _OverflowError(Exception):
    """Raised when one result takes more than ``MAX_NODES`` schemas."""


class Schemas:
    """Resolver of the references of one document. ``MAX_VISITS`` bounds the cost of all results together."""

    def __init__(self, document: Mapping[str, Any], visits: int = MAX_VISITS) -> None:
        """Take the document and the remaining visits, which several documents may share; below zero they count those at ``SHALLOW``."""
        self._document = document
        self._visits = 0
        self._left = visits
        self._resolved: dict[str, Schema] = {}
        self._made: dict[tuple[str, str], Any] = {}
        self._failed: Counter[tuple[str, int]] = Counter()

    @property
    def left(self) -> int:
        """Remaining visits; below zero, those used at depth ``SHALLOW``."""
        return self._left

    def once(self, what: str, given: object, make: Callable[[], T]) -> T:
        """Return the result of ``make``, cached for schemas that are only a reference: documents repeat the same references."""
        schema = mapping(given)
        reference = schema.get("$ref")
        if not isinstance(reference, str) or len(schema) != 1:
            return make()
        key = (what, reference)
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def follow(self, value: object) -> Schema:
        """Return a value, or the object at the end of its chain of ``$ref``. Keys beside a ``$ref`` are merged in.

        Raises:
            DanglingReferenceError: the chain leads nowhere, in a circle, or to another file.
        """
        return self.target(mapping(value))[0]

    def shape(self, value: object, depth: int = MAX_DEPTH) -> Schema:
        """Build a schema without references; cycles and parts beyond the depth end in ``{"type": "object"}``.

        Write-only fields are left out. Of alternatives the first that is not null is used. An open schema has no type.
        """
        return self.once(f"shape {depth}", value, lambda: self._shaped(value, depth))

    def _shaped(self, value: object, depth: int) -> Schema:
        for level in self.depths("shape", depth):
            self._visits = 0
            try:
                return self._shape(value, level, frozenset())
            except _OverflowError:
                self.too_deep("shape", level)
        return {"type": type_of(self.follow(value))} if self._is_spent else {"type": "object"}

    def example(self, value: object, depth: int = MAX_DEPTH) -> Any:
        """Build a value of the schema from the examples, defaults and enums of its parts; None if there are none."""
        return self.once(f"example {depth}", value, lambda: self._exemplified(value, depth))

    def _exemplified(self, value: object, depth: int) -> Any:
        for level in self.depths("example", depth):
            self._visits = 0
            try:
                return self._example(value, level, frozenset())
            except _OverflowError:
                self.too_deep("example", level)
        return None

    def depths(self, what: str, most: int) -> list[int]:
        """List the depths to try, except those that overflowed too often; none once the document's visits are used up."""
        if self._is_spent:
            return []
        bound = most if self._left > 0 else min(most, SHALLOW)
        return [
            depth
            for depth in (8, 5, 3, 2, 1)
            if depth <= bound and (depth == 1 or self._failed[what, depth] < _PATIENCE)
        ]

    @property
    def _is_spent(self) -> bool:
        return self._left <= -MAX_VISITS

    def too_deep(self, what: str, depth: int) -> None:
        """Record that a schema had too many parts at this depth."""
        self._failed[what, depth] += 1

    def merged(self, value: object) -> Schema:
        """Return the schema merged with the parts of its ``allOf``, whose own parts stay unresolved."""
        if self._is_spent:
            return self.follow(value)
        self._visits = 0
        try:
            entered = self._enter(value, frozenset(), variants=False)
        except _OverflowError as error:
            raise UnsupportedError("a schema of it has too many parts") from error
        return entered[0] if entered else {}

    def target(self, schema: Schema) -> tuple[Schema, frozenset[str]]:
        """Return the object at the end of a chain of references, and the references followed. Raises as ``follow``."""
        self._left -= 1
        passed: set[str] = set()
        beside: Schema = {}
        while isinstance(reference := schema.get("$ref"), str):
            if reference in passed:
                raise DanglingReferenceError(f"{reference[:200]} refers to itself; correct the reference")
            passed.add(reference)
            beside = merge({key: part for key, part in schema.items() if key != "$ref"}, beside)
            schema = self._resolved.get(reference) or self._resolved.setdefault(reference, self._at(reference))
        return (merge(schema, beside) if beside else schema), frozenset(passed)

    def _at(self, reference: str) -> Schema:
        if not reference.startswith("#"):
            raise DanglingReferenceError(
                f"{reference[:200]} lies outside the document, and only local references are read; copy what it refers to into it"
            )
        node: object = self._document
        for step in reference[2:].split("/"):
            key = unquote(step).replace("~1", "/").replace("~0", "~")
            inside: Schema = mapping(node) or {str(n): one for n, one in enumerate(items(node))}
            if not reference.startswith("#/") or key not in inside:
                raise DanglingReferenceError(f"{reference[:200]} leads nowhere; add what it refers to, or correct it")
            node = inside[key]
        return mapping(node)

    def _enter(
        self, value: object, stack: frozenset[str], level: int = 0, *, variants: bool = True
    ) -> tuple[Schema, frozenset[str]] | None:
        """Return the schema merged with its parts, and the stack of references; None in a cycle and beyond the bounds."""
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
        if variants and merged.get("type", "object") == "object" and "properties" not in merged:
            for variant in (*items(schema.get("anyOf")), *items(schema.get("oneOf"))):
                inner = self._enter(variant, inside, level + 1)
                if inner and inner[0].get("type") != "null":
                    return merge(inner[0], merged), inside
        return merged, inside

    def _shape(self, value: object, depth: int, stack: frozenset[str]) -> Schema:
        entered = self._enter(value, stack)
        if entered is None or depth == 0:
            named = self._named(value)
            return {"type": "object", "title": named} if named else {"type": "object"}
        schema, inside = without_contradictions(entered[0]), entered[1]
        shaped: Schema = {key: schema[key] for key in _KEPT if key in schema}
        if is_open(schema):
            return shaped
        shaped.pop("type", None)
        if (kind := type_of(schema)) != "any":
            shaped["type"] = kind
        named = self._named(value)
        if named and kind == "object":
            shaped["title"] = named
        if isinstance(shaped.get("description"), str):
            shaped["description"] = " ".join(shaped["description"].split())[:MAX_TEXT]
        example = first_example(schema)
        if example is not None and not isinstance(example, (dict, list)):
            shaped["example"] = example
        if kind == "array":
            shaped["items"] = self._shape(schema.get("items"), depth - 1, inside)
        properties = list(mapping(schema.get("properties")).items())[:MAX_PROPERTIES]
        if properties:
            shaped["properties"] = {
                name: self._shape(part, depth - 1, inside)
                for name, part in properties
                if mapping(part).get("writeOnly") is not True
            }
        return shaped

    def _named(self, value: object) -> str:
        """Return the name of a schema: the one it is referred to by, or its title; of alternatives all, joined by ``|``."""
        schema = mapping(value)
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return reference.rpartition("/")[2][:MAX_NAME]
        if isinstance(title := schema.get("title"), str):
            return title[:MAX_NAME]
        variants = (*items(schema.get("oneOf")), *items(schema.get("anyOf")))
        parts = variants or items(schema.get("allOf"))
        return " | ".join(dict.fromkeys(name for part in parts[:MAX_VARIANTS] if (name := self._named(part))))

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
