"""Resolves the schemas of an OpenAPI document: inlines references, bounds cycles and size, and builds examples."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import unquote

from graph.importers.openapi_nodes import (
    Schema,
    drop_contradictions,
    find_example,
    find_type,
    is_open,
    merge_schemas,
    to_list,
    to_mapping,
)

T = TypeVar("T")

MAX_DEPTH = 8
MAX_PROPERTIES = 200
MAX_NODES = 600
"""Maximum number of schemas visited for one result, since nested references can multiply without end."""
MAX_VISITS = 1_500_000
"""Maximum number of schemas visited for one document at full depth, and then as many again at depth ``SHALLOW``.

After that schemas are read without their parts. So the last operations of a huge document lose detail but are still
imported.
"""
SHALLOW = 2
MAX_TEXT = 500
MAX_NAME = 100
MAX_VARIANTS = 8
_MAX_OVERFLOWS = 20
"""Number of overflows at one depth after which it is no longer tried for this document."""
_SHAPE_KEYWORDS = ("type", "format", "enum", "const", "default", "minimum", "maximum", "description", "required")


class UnsupportedError(Exception):
    """Raised for an operation that cannot be called from here; the message says which part prevents it."""


class DanglingReferenceError(UnsupportedError):
    """Raised for a reference (``$ref``) that leads nowhere, in a circle, or out of the document."""


class _OverflowError(Exception):
    """Raised when one result takes more than ``MAX_NODES`` schemas."""


class SchemaResolver:
    """Resolves the references of one document; ``MAX_VISITS`` bounds the cost of all results together."""

    def __init__(self, document: Mapping[str, Any], visits: int = MAX_VISITS) -> None:
        """Create a resolver for a document with ``visits`` left, a budget that several documents may share."""
        self._document = document
        self._result_visits = 0
        self._remaining_visits = visits
        self._resolved: dict[str, Schema] = {}
        self._cache: dict[tuple[str, str], Any] = {}
        self._overflows: Counter[tuple[str, int]] = Counter()

    @property
    def remaining_visits(self) -> int:
        """Remaining visits; below zero, those used at depth ``SHALLOW``."""
        return self._remaining_visits

    def compute_once(self, purpose: str, value: object, make: Callable[[], T]) -> T:
        """Return the result of ``make``, cached by ``purpose`` if the schema is nothing but a reference."""
        schema = to_mapping(value)
        reference = schema.get("$ref")
        if not isinstance(reference, str) or len(schema) != 1:
            return make()
        key = (purpose, reference)
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    def follow(self, value: object) -> Schema:
        """Return a value, or the object at the end of its chain of ``$ref``. Keys beside a ``$ref`` are merged in.

        Raises:
            DanglingReferenceError: the chain leads nowhere, in a circle, or to another file.
        """
        return self.resolve(to_mapping(value))[0]

    def build_shape(self, value: object, depth: int = MAX_DEPTH) -> Schema:
        """Build a schema without references; cycles and parts beyond the depth end in ``{"type": "object"}``.

        Write-only fields are left out. Of alternatives the first that is not null is used. An open schema has no type.
        """
        return self.compute_once(f"shape {depth}", value, lambda: self._build_bounded_shape(value, depth))

    def _build_bounded_shape(self, value: object, depth: int) -> Schema:
        for level in self.list_depths("shape", depth):
            self._result_visits = 0
            try:
                return self._build_node_shape(value, level, frozenset())
            except _OverflowError:
                self.note_overflow("shape", level)
        return {"type": find_type(self.follow(value))} if self._is_spent else {"type": "object"}

    def build_example(self, value: object, depth: int = MAX_DEPTH) -> Any:
        """Build a value of the schema from the examples, defaults and enums of its parts; None if there are none."""
        return self.compute_once(f"example {depth}", value, lambda: self._build_bounded_example(value, depth))

    def _build_bounded_example(self, value: object, depth: int) -> Any:
        for level in self.list_depths("example", depth):
            self._result_visits = 0
            try:
                return self._build_node_example(value, level, frozenset())
            except _OverflowError:
                self.note_overflow("example", level)
        return None

    def list_depths(self, purpose: str, max_depth: int) -> list[int]:
        """Return the depths to try, deepest first, without those that overflowed too often.

        None are left once the visits of the document are used up.
        """
        if self._is_spent:
            return []
        limit = max_depth if self._remaining_visits > 0 else min(max_depth, SHALLOW)
        return [
            depth
            for depth in (8, 5, 3, 2, 1)
            if depth <= limit and (depth == 1 or self._overflows[purpose, depth] < _MAX_OVERFLOWS)
        ]

    @property
    def _is_spent(self) -> bool:
        return self._remaining_visits <= -MAX_VISITS

    def note_overflow(self, purpose: str, depth: int) -> None:
        """Record that a schema had too many parts at this depth."""
        self._overflows[purpose, depth] += 1

    def merge_all_of(self, value: object) -> Schema:
        """Return the schema merged with the parts of its ``allOf``, whose own parts stay unresolved."""
        if self._is_spent:
            return self.follow(value)
        self._result_visits = 0
        try:
            entered = self._enter(value, frozenset(), variants=False)
        except _OverflowError as error:
            raise UnsupportedError("a schema of it has too many parts") from error
        return entered[0] if entered else {}

    def resolve(self, schema: Schema) -> tuple[Schema, frozenset[str]]:
        """Return the object at the end of a chain of references, and the references followed. Raises as ``follow``."""
        self._remaining_visits -= 1
        followed: set[str] = set()
        overrides: Schema = {}
        while isinstance(reference := schema.get("$ref"), str):
            if reference in followed:
                raise DanglingReferenceError(f"{reference[:200]} refers to itself; correct the reference")
            followed.add(reference)
            overrides = merge_schemas({key: part for key, part in schema.items() if key != "$ref"}, overrides)
            schema = self._resolved.get(reference) or self._resolved.setdefault(reference, self._look_up(reference))
        return (merge_schemas(schema, overrides) if overrides else schema), frozenset(followed)

    def _look_up(self, reference: str) -> Schema:
        if not reference.startswith("#"):
            raise DanglingReferenceError(
                f"{reference[:200]} lies outside the document, and only local references are read; copy what it refers to into it"
            )
        node: object = self._document
        for step in reference[2:].split("/"):
            key = unquote(step).replace("~1", "/").replace("~0", "~")
            children: Schema = to_mapping(node) or {str(n): one for n, one in enumerate(to_list(node))}
            if not reference.startswith("#/") or key not in children:
                raise DanglingReferenceError(f"{reference[:200]} leads nowhere; add what it refers to, or correct it")
            node = children[key]
        return to_mapping(node)

    def _enter(
        self, value: object, stack: frozenset[str], level: int = 0, *, variants: bool = True
    ) -> tuple[Schema, frozenset[str]] | None:
        """Return the schema merged with its ``allOf``, and the references on the way; None in a cycle or too deep.

        With ``variants``, an object without properties is also merged with the first alternative that is not null.
        """
        schema, followed = self.resolve(to_mapping(value))
        self._result_visits += 1
        if self._result_visits > MAX_NODES:
            raise _OverflowError
        if followed & stack or level > MAX_DEPTH:
            return None
        inner_stack = stack | followed
        merged = dict(schema)
        for part in to_list(schema.get("allOf")):
            inner = self._enter(part, inner_stack, level + 1, variants=variants)
            if inner:
                merged = merge_schemas(inner[0], merged)
        if variants and merged.get("type", "object") == "object" and "properties" not in merged:
            for variant in (*to_list(schema.get("anyOf")), *to_list(schema.get("oneOf"))):
                inner = self._enter(variant, inner_stack, level + 1)
                if inner and inner[0].get("type") != "null":
                    return merge_schemas(inner[0], merged), inner_stack
        return merged, inner_stack

    def _build_node_shape(self, value: object, depth: int, stack: frozenset[str]) -> Schema:
        entered = self._enter(value, stack)
        if entered is None or depth == 0:
            type_name = self._find_name(value)
            return {"type": "object", "title": type_name} if type_name else {"type": "object"}
        schema, inner_stack = drop_contradictions(entered[0]), entered[1]
        shaped: Schema = {key: schema[key] for key in _SHAPE_KEYWORDS if key in schema}
        if is_open(schema):
            return shaped
        shaped.pop("type", None)
        if (kind := find_type(schema)) != "any":
            shaped["type"] = kind
        type_name = self._find_name(value)
        if type_name and kind == "object":
            shaped["title"] = type_name
        if isinstance(shaped.get("description"), str):
            shaped["description"] = " ".join(shaped["description"].split())[:MAX_TEXT]
        example = find_example(schema)
        if example is not None and not isinstance(example, (dict, list)):
            shaped["example"] = example
        if kind == "array":
            shaped["items"] = self._build_node_shape(schema.get("items"), depth - 1, inner_stack)
        properties = list(to_mapping(schema.get("properties")).items())[:MAX_PROPERTIES]
        if properties:
            shaped["properties"] = {
                name: self._build_node_shape(part, depth - 1, inner_stack)
                for name, part in properties
                if to_mapping(part).get("writeOnly") is not True
            }
        return shaped

    def _find_name(self, value: object) -> str:
        """Return the name by which a schema is referred to, or its title; those of alternatives are joined by ``|``."""
        schema = to_mapping(value)
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return reference.rpartition("/")[2][:MAX_NAME]
        if isinstance(title := schema.get("title"), str):
            return title[:MAX_NAME]
        variants = (*to_list(schema.get("oneOf")), *to_list(schema.get("anyOf")))
        parts = variants or to_list(schema.get("allOf"))
        return " | ".join(dict.fromkeys(name for part in parts[:MAX_VARIANTS] if (name := self._find_name(part))))

    def _build_node_example(self, value: object, depth: int, stack: frozenset[str]) -> Any:
        entered = self._enter(value, stack)
        if entered is None or depth == 0:
            return None
        schema, inner_stack = entered
        example = find_example(schema)
        if example is None:
            example = schema.get("default", next(iter(to_list(schema.get("enum"))), None))
        if example is not None:
            return example
        if find_type(schema) == "array":
            item = self._build_node_example(schema.get("items"), depth - 1, inner_stack)
            return None if item is None else [item]
        parts = list(to_mapping(schema.get("properties")).items())[:MAX_PROPERTIES]
        fields = {name: self._build_node_example(part, depth - 1, inner_stack) for name, part in parts}
        return {name: part for name, part in fields.items() if part is not None} or None
