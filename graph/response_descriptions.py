"""What a response's schema says of its fields."""

from collections.abc import Iterator

from pydantic.types import JsonValue

from domain.model import JsonObject

_DEPTH = 8


def descriptions(schema: JsonValue) -> Iterator[tuple[str, str]]:
    """The descriptions in a schema, by the paths of what they describe, ``[]`` for each item of a list: ``items[].price``."""
    if isinstance(schema, dict):
        yield from _described(schema, schema, "", 0)


def _described(node: JsonValue, root: JsonObject, path: str, depth: int) -> Iterator[tuple[str, str]]:
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
    """What a reference within the schema leads to."""
    target: JsonValue = root if isinstance(reference, str) and reference.startswith("#/") else None
    for step in reference[2:].split("/") if isinstance(reference, str) else ():
        target = target.get(step) if isinstance(target, dict) else None
    return target
