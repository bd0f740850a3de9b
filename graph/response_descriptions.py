"""Descriptions of response fields, read from a response's schema."""

from collections.abc import Iterator

from pydantic.types import JsonValue

from domain.model import JsonObject

_DEPTH = 8


def descriptions(schema: JsonValue) -> Iterator[tuple[str, str]]:
    """Yield the path and description of each described part of a schema.

    In paths ``[]`` stands for the items of a list: ``items[].price``.
    """
    if isinstance(schema, dict):
        yield from _described(schema, schema, "", 0)


def _described(node: JsonValue, root: JsonObject, path: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the descriptions of a schema node and of the parts below it, to a bounded depth."""
    if not isinstance(node, dict) or depth > _DEPTH:
        return
    yield from _described(_referred(node.get("$ref"), root), root, path, depth + 1)
    description = node.get("description")
    if isinstance(description, str):
        yield path, description
    for key in ("anyOf", "allOf", "oneOf"):
        parts = node.get(key)
        for part in parts if isinstance(parts, list) else ():
            yield from _described(part, root, path, depth + 1)
    yield from _described(node.get("items"), root, f"{path}[]", depth + 1)
    properties = node.get("properties")
    for name, one in properties.items() if isinstance(properties, dict) else ():
        yield from _described(one, root, f"{path}.{name}" if path else name, depth + 1)


def _referred(reference: JsonValue, root: JsonObject) -> JsonValue:
    """Resolve a reference within the schema; None if it leads nowhere."""
    target: JsonValue = root if isinstance(reference, str) and reference.startswith("#/") else None
    for step in reference[2:].split("/") if isinstance(reference, str) else ():
        target = target.get(step) if isinstance(target, dict) else None
    return target
