"""Reads the scalar fields of a tool's response from its schema and its example."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from pydantic.types import JsonValue

from domain.model import JsonObject
from domain.tool import JsonType, ToolDoc
from graph.identifiers import split_words
from graph.lenient_json import read_value

MAX_FIELDS = 400
_MAX_DEPTH = 8
_MAX_PARTS = 5_000
_MAX_REFERENCES = 50
_MAX_ITEMS = 3
_MAX_TEXT = 400_000
_TYPES: dict[str, JsonType] = {
    "string": "string", "str": "string", "text": "string", "date": "string",
    "number": "number", "float": "number", "double": "number",
    "integer": "integer", "int": "integer", "long": "integer",
    "boolean": "boolean", "bool": "boolean",
    "array": "array", "list": "array", "object": "object", "dict": "object",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class OutputField:
    """A scalar of a response."""

    path: str
    """Path like ``items[].location.lat`` or ``[].id``; empty if the response is itself the scalar."""
    name: str
    """The last name in the path."""
    holder: tuple[str, ...] = ()
    """Words of the name of the object or list that holds the field; empty for the response as a whole."""
    type: JsonType | None = None
    """None if unknown."""
    example: JsonValue = None
    """None if unknown."""
    position: int = 0
    """Place in the response, from 0."""
    title: str = ""
    """Name of the schema of the object that holds the field, like ``ArtistObject``."""


def output_fields(doc: ToolDoc) -> tuple[OutputField, ...]:
    """Return the scalar fields of a tool's response, in order, at most ``MAX_FIELDS``.

    Reads the learnt response if there is one, else ``response_schema`` (JSON Schema, or ToolBench's ``{"code":
    "int"}``) and then the fields that only ``example_response`` has, since authors forget some in the schema. Broken
    text is read as far as it is intact. References (``$ref``) are followed within the schema, each at most once along a
    path.
    """
    if doc.learnt_response:
        return _read_documented_fields(doc.learnt_response, "")
    return _read_documented_fields(doc.response_schema or "", doc.example_response or "")


@lru_cache(maxsize=4096)
def _read_documented_fields(schema_text: str, example_text: str) -> tuple[OutputField, ...]:
    return tuple(_number_fields(chain(_read_schema_text(schema_text), _read_example_text(example_text))))


def _read_schema_text(text: str) -> Iterator[OutputField]:
    schema = read_value(text) if 2 < len(text) <= _MAX_TEXT else None
    if isinstance(schema, dict) and schema:
        shaped = any(key in schema for key in ("type", "properties", "items", "$ref", "anyOf", "oneOf", "allOf"))
        yield from _walk_schema(schema, schema, "", "", 0, [_MAX_PARTS]) if shaped else _walk_type_names(schema)


def _read_example_text(text: str) -> Iterator[OutputField]:
    if 0 < len(text) <= _MAX_TEXT:
        yield from _walk_value(read_value(text), "", "", 0)


def read_fields(value: JsonValue) -> tuple[OutputField, ...]:
    """Return the scalar fields of a response value; of each list only the first items are read."""
    return tuple(_number_fields(_walk_value(value, "", "", 0)))


def _number_fields(fields: Iterator[OutputField]) -> Iterator[OutputField]:
    """Drop repeated paths, set each field's position, and stop after ``MAX_FIELDS``."""
    seen: set[str] = set()
    for field in fields:
        if field.path in seen:
            continue
        yield OutputField(field.path, field.name, field.holder, field.type, field.example, len(seen), field.title)
        seen.add(field.path)
        if len(seen) >= MAX_FIELDS:
            return


def _join_path(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _make_field(
    path: str, holder: str, kind: JsonType | None, example: JsonValue = None, title: str = ""
) -> OutputField:
    name = path.replace("[]", "").rpartition(".")[2]
    return OutputField(path, name, split_words(holder), kind, example, 0, title)


def _walk_value(value: JsonValue, path: str, holder: str, depth: int) -> Iterator[OutputField]:
    """Yield the scalars below a value, to a bounded depth."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        inner = _make_field(path, "", None).name or holder
        for key, item in value.items():
            yield from _walk_value(item, _join_path(path, key), inner, depth + 1)
    elif isinstance(value, list):
        for item in value[:_MAX_ITEMS]:
            yield from _walk_value(item, path + "[]", holder, depth + 1)
    elif value is not None:
        yield _make_field(path, holder, get_json_type(value), value)


def get_json_type(value: JsonValue) -> JsonType | None:
    """Return the JSON type of a value; None for null."""
    match value:
        case None:
            return None
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _walk_type_names(
    schema: dict[str, JsonValue], path: str = "", holder: str = "", depth: int = 0
) -> Iterator[OutputField]:
    """Yield the fields of ToolBench's own notation: names mapped to type names, nested like the response."""
    for key, kind in schema.items():
        inner = _join_path(path, key)
        nested, listed = (kind[0], True) if isinstance(kind, list) and kind else (kind, False)
        if listed or (isinstance(kind, dict) and key.endswith("_list")):
            inner += "[]" if listed else ""
        if isinstance(nested, dict) and depth < _MAX_DEPTH:
            yield from _walk_type_names(nested, inner, key, depth + 1)
        elif isinstance(nested, str):
            yield _make_field(inner, holder, _TYPES.get(nested.lower()))


def _walk_schema(
    node: JsonValue,
    root: dict[str, JsonValue],
    path: str,
    holder: str,
    depth: int,
    budget: list[int],
    followed: frozenset[str] = frozenset(),
    title: str = "",
) -> Iterator[OutputField]:
    """Yield the scalar fields that a schema node describes.

    ``budget`` holds the number of nodes that may still be visited, in a list so that all recursive calls reduce the
    same one. ``followed`` are the references on the way to this node, which are not followed again.
    """
    budget[0] -= 1
    if not isinstance(node, dict) or depth > _MAX_DEPTH or budget[0] < 0:
        return
    reference = node.get("$ref")
    if isinstance(reference, str):
        if reference not in followed and len(followed) < _MAX_REFERENCES:
            name = reference.rpartition("/")[2]
            inner = followed | {reference}
            yield from _walk_schema(_resolve(root, reference), root, path, holder, depth, budget, inner, name)
        return
    for keyword in ("anyOf", "oneOf", "allOf"):
        options = node.get(keyword)
        for option in options if isinstance(options, list) else ():
            yield from _walk_schema(option, root, path, holder, depth + 1, budget, followed, title)
    properties = node.get("properties")
    if isinstance(properties, dict):
        inner = _make_field(path, "", None).name or holder
        schema_title = node.get("title")
        title = schema_title if isinstance(schema_title, str) else title
        for key, item in properties.items():
            if key:
                yield from _walk_schema(item, root, _join_path(path, key), inner, depth + 1, budget, followed, title)
    elif "items" in node:
        yield from _walk_schema(node["items"], root, path + "[]", holder, depth + 1, budget, followed, title)
    else:
        kind = _read_schema_type(node)
        if kind not in (None, "object", "array") or (_allows_any_value(node) and path and not path.endswith("[]")):
            yield _make_field(path, holder, kind, node.get("example"), title)


def _allows_any_value(node: dict[str, JsonValue]) -> bool:
    """Return whether a schema has no constraints, only a title or description."""
    return node.keys() <= {"title", "description"}


def _read_schema_type(node: dict[str, JsonValue]) -> JsonType | None:
    kind = node.get("type")
    if isinstance(kind, list):
        kind = next((item for item in kind if item != "null"), None)
    return _TYPES.get(kind.lower()) if isinstance(kind, str) else None


def _resolve(root: dict[str, JsonValue], reference: str) -> JsonValue:
    if not reference.startswith("#/"):
        return None
    node: JsonValue = root
    for part in reference[2:].split("/"):
        node = node.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
    return node


_MAX_DESCRIPTION_DEPTH = 8


def iterate_descriptions(schema: JsonValue) -> Iterator[tuple[str, str]]:
    """Yield the path and description of each described part of a schema.

    In paths ``[]`` stands for the items of a list: ``items[].price``.
    """
    if isinstance(schema, dict):
        yield from _iterate_node(schema, schema, "", 0)


def _iterate_node(node: JsonValue, root: JsonObject, path: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the descriptions of a schema node and of the parts below it, to a bounded depth."""
    if not isinstance(node, dict) or depth > _MAX_DESCRIPTION_DEPTH:
        return
    yield from _iterate_node(_follow_reference(node.get("$ref"), root), root, path, depth + 1)
    description = node.get("description")
    if isinstance(description, str):
        yield path, description
    for key in ("anyOf", "allOf", "oneOf"):
        parts = node.get(key)
        for part in parts if isinstance(parts, list) else ():
            yield from _iterate_node(part, root, path, depth + 1)
    yield from _iterate_node(node.get("items"), root, f"{path}[]", depth + 1)
    properties = node.get("properties")
    for name, schema in properties.items() if isinstance(properties, dict) else ():
        yield from _iterate_node(schema, root, f"{path}.{name}" if path else name, depth + 1)


def _follow_reference(reference: JsonValue, root: JsonObject) -> JsonValue:
    """Resolve a reference within the schema; None if it leads nowhere."""
    target: JsonValue = root if isinstance(reference, str) and reference.startswith("#/") else None
    for step in reference[2:].split("/") if isinstance(reference, str) else ():
        target = target.get(step) if isinstance(target, dict) else None
    return target
