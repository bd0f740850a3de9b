"""The fields of a tool's response, read from its schema or from an example."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from pydantic.types import JsonValue

from domain.tool import JsonType, ToolDoc
from graph.identifiers import words
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
    """``items[].location.lat``, ``[].id``, or empty if the response is itself the scalar."""
    name: str
    """The last name in the path."""
    holder: tuple[str, ...] = ()
    """Words of the name of the object or list that holds the field; may be empty."""
    type: JsonType | None = None
    """None if unknown."""
    example: JsonValue = None
    """None if unknown."""
    position: int = 0
    """Place in the response, from 0."""
    title: str = ""
    """The schema's name of the object that holds the field: ``ArtistObject``."""


def output_fields(doc: ToolDoc) -> tuple[OutputField, ...]:
    """Return the scalar fields of a tool's response, in order, at most ``MAX_FIELDS``.

    Uses the learnt response if there is one. Otherwise reads ``response_schema`` (JSON Schema, or ToolBench's ``{"code": "int"}``), then adds
    fields that only ``example_response`` has, since schemas leave out what their authors forgot. Broken text is read as far as it is intact.
    References (``$ref``) are followed within the schema, each at most once along a path.
    """
    if doc.learnt_response:
        return _fields(doc.learnt_response, "")
    return _fields(doc.response_schema or "", doc.example_response or "")


@lru_cache(maxsize=4096)
def _fields(schema_text: str, example_text: str) -> tuple[OutputField, ...]:
    return tuple(_numbered(chain(_of_schema_text(schema_text), _of_example_text(example_text))))


def _of_schema_text(text: str) -> Iterator[OutputField]:
    schema = read_value(text) if 2 < len(text) <= _MAX_TEXT else None
    if isinstance(schema, dict) and schema:
        shaped = any(key in schema for key in ("type", "properties", "items", "$ref", "anyOf", "oneOf", "allOf"))
        yield from _of_schema(schema, schema, "", "", 0, [_MAX_PARTS]) if shaped else _of_types(schema)


def _of_example_text(text: str) -> Iterator[OutputField]:
    if 0 < len(text) <= _MAX_TEXT:
        yield from _of_value(read_value(text), "", "", 0)


def fields_of_value(value: JsonValue) -> tuple[OutputField, ...]:
    """Return the scalar fields of a response value; only the first items of a list are looked at."""
    return tuple(_numbered(_of_value(value, "", "", 0)))


def _numbered(fields: Iterator[OutputField]) -> Iterator[OutputField]:
    """Drop repeated paths, set each field's position, and stop after ``MAX_FIELDS``."""
    seen: set[str] = set()
    for field in fields:
        if field.path in seen:
            continue
        yield OutputField(field.path, field.name, field.holder, field.type, field.example, len(seen), field.title)
        seen.add(field.path)
        if len(seen) >= MAX_FIELDS:
            return


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _leaf(path: str, holder: str, kind: JsonType | None, example: JsonValue = None, title: str = "") -> OutputField:
    name = path.replace("[]", "").rpartition(".")[2]
    return OutputField(path, name, words(holder), kind, example, 0, title)


def _of_value(value: JsonValue, path: str, holder: str, depth: int) -> Iterator[OutputField]:
    """Yield the scalars below a value, to a bounded depth."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        inner = _leaf(path, "", None).name or holder
        for key, item in value.items():
            yield from _of_value(item, _join(path, key), inner, depth + 1)
    elif isinstance(value, list):
        for item in value[:_MAX_ITEMS]:
            yield from _of_value(item, path + "[]", holder, depth + 1)
    elif value is not None:
        yield _leaf(path, holder, json_type(value), value)


def json_type(value: JsonValue) -> JsonType | None:
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


def _of_types(schema: dict[str, JsonValue], path: str = "", holder: str = "", depth: int = 0) -> Iterator[OutputField]:
    """Yield the fields of ToolBench's own notation: names mapped to type names, nested like the response."""
    for key, kind in schema.items():
        inner = _join(path, key)
        nested, listed = (kind[0], True) if isinstance(kind, list) and kind else (kind, False)
        if listed or (isinstance(kind, dict) and key.endswith("_list")):
            inner += "[]" if listed else ""
        if isinstance(nested, dict) and depth < _MAX_DEPTH:
            yield from _of_types(nested, inner, key, depth + 1)
        elif isinstance(nested, str):
            yield _leaf(inner, holder, _TYPES.get(nested.lower()))


def _of_schema(
    node: JsonValue,
    root: dict[str, JsonValue],
    path: str,
    holder: str,
    depth: int,
    left: list[int],
    followed: frozenset[str] = frozenset(),
    title: str = "",
) -> Iterator[OutputField]:
    """Yield the scalar fields that a schema node describes.

    ``left`` holds how many schema nodes may still be visited, in a list so that all recursive calls share it. ``followed``: the references
    on the way to this node, none of which is followed again.
    """
    left[0] -= 1
    if not isinstance(node, dict) or depth > _MAX_DEPTH or left[0] < 0:
        return
    reference = node.get("$ref")
    if isinstance(reference, str):
        if reference not in followed and len(followed) < _MAX_REFERENCES:
            name = reference.rpartition("/")[2]
            inner = followed | {reference}
            yield from _of_schema(_resolve(root, reference), root, path, holder, depth, left, inner, name)
        return
    for way in ("anyOf", "oneOf", "allOf"):
        options = node.get(way)
        for option in options if isinstance(options, list) else ():
            yield from _of_schema(option, root, path, holder, depth + 1, left, followed, title)
    properties = node.get("properties")
    if isinstance(properties, dict):
        inner = _leaf(path, "", None).name or holder
        named = node.get("title")
        title = named if isinstance(named, str) else title
        for key, item in properties.items():
            if key:
                yield from _of_schema(item, root, _join(path, key), inner, depth + 1, left, followed, title)
    elif "items" in node:
        yield from _of_schema(node["items"], root, path + "[]", holder, depth + 1, left, followed, title)
    else:
        kind = _schema_type(node)
        if kind not in (None, "object", "array") or (_any_value(node) and path and not path.endswith("[]")):
            yield _leaf(path, holder, kind, node.get("example"), title)


def _any_value(node: dict[str, JsonValue]) -> bool:
    """Return whether a schema has no constraints, only a title or description."""
    return node.keys() <= {"title", "description"}


def _schema_type(node: dict[str, JsonValue]) -> JsonType | None:
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
