"""Success responses of OpenAPI operations: schema and example as JSON texts."""

from typing import Any

import orjson

from graph.importers.openapi_nodes import Schema, find_example, to_list, to_mapping
from graph.importers.openapi_schema import SchemaResolver

MAX_SCHEMA = 20_000
"""Characters kept of a response schema. A longer one loses its descriptions, then its depth."""
_SHAPE_KEYS = ("type", "title", "format", "enum")


def read_response(schemas: SchemaResolver, operation: Schema) -> tuple[str | None, str | None]:
    """Return schema and example of the first success response in JSON; None for what is missing.

    Raises ``DanglingReferenceError``.
    """
    responses = to_mapping(operation.get("responses"))
    codes = sorted(code for code in responses if code[:1] == "2") or [code for code in responses if code == "default"]
    for code in codes:
        for kind, media in to_mapping(schemas.follow(responses[code]).get("content")).items():
            if "json" in kind or kind == "*/*":
                return _read_schema(schemas, to_mapping(media)), _render_example(schemas, to_mapping(media))
    return None, None


def _read_schema(schemas: SchemaResolver, media: Schema) -> str | None:
    return render_schema(schemas, media["schema"]) if "schema" in media else None


def render_schema(schemas: SchemaResolver, schema: object) -> str | None:
    """Render the shape of a response as JSON; None if it may be anything.

    A shape that is too long loses its descriptions first, then its depth.
    """
    text = ""
    for depth in (8, 5, 3, 2, 1):
        shape = schemas.build_shape(schema, depth)
        if "type" not in shape:
            return None
        text = _to_json(shape)
        if len(text) > MAX_SCHEMA:
            text = _to_json(_strip_texts(shape))
        if len(text) <= MAX_SCHEMA:
            break
    return text[:MAX_SCHEMA] or None


def _strip_texts(shape: Schema) -> Schema:
    """Return a shape without its texts and bounds: names, types and allowed values."""
    bare: Schema = {key: shape[key] for key in _SHAPE_KEYS if key in shape}
    if "items" in shape:
        bare["items"] = _strip_texts(shape["items"])
    if "properties" in shape:
        bare["properties"] = {name: _strip_texts(part) for name, part in shape["properties"].items()}
    return bare


def _render_example(schemas: SchemaResolver, media: Schema) -> str | None:
    example = media.get("example")
    if example is None and "examples" in media:
        candidates = (
            schemas.follow(one) for one in (*to_mapping(media["examples"]).values(), *to_list(media["examples"]))
        )
        example = next((one.get("value") for one in candidates), None)
    if example is None:
        example = find_example({"example": schemas.build_example(media.get("schema"))})
    return None if example is None else _to_json(example)[:MAX_SCHEMA] or None


def _to_json(value: Any) -> str:
    """Render a value as JSON; empty for values without a JSON form (an integer too long, endless nesting)."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return ""
