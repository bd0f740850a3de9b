"""Success responses of OpenAPI operations: schema and example as JSON texts."""

from typing import Any

import orjson

from graph.importers.openapi_nodes import Schema, first_example, items, mapping
from graph.importers.openapi_schema import Schemas

MAX_SCHEMA = 20_000
"""Characters kept of a response schema. A longer one loses its descriptions, then its depth."""
_BARE = ("type", "title", "format", "enum")


def response_of(schemas: Schemas, operation: Schema) -> tuple[str | None, str | None]:
    """Return schema and example of the first success response in JSON; None for what is missing.

    Raises ``DanglingReferenceError``.
    """
    responses = mapping(operation.get("responses"))
    codes = sorted(code for code in responses if code[:1] == "2") or [code for code in responses if code == "default"]
    for code in codes:
        for kind, media in mapping(schemas.follow(responses[code]).get("content")).items():
            if "json" in kind or kind == "*/*":
                return _told_schema(schemas, mapping(media)), _example_text(schemas, mapping(media))
    return None, None


def _told_schema(schemas: Schemas, media: Schema) -> str | None:
    return schema_text(schemas, media["schema"]) if "schema" in media else None


def schema_text(schemas: Schemas, schema: object) -> str | None:
    """Render the shape of a response as JSON; None if it may be anything.

    A shape that is too long loses its descriptions first, then its depth.
    """
    text = ""
    for depth in (8, 5, 3, 2, 1):
        shape = schemas.shape(schema, depth)
        if "type" not in shape:
            return None
        text = _json(shape)
        if len(text) > MAX_SCHEMA:
            text = _json(_bare(shape))
        if len(text) <= MAX_SCHEMA:
            break
    return text[:MAX_SCHEMA] or None


def _bare(shape: Schema) -> Schema:
    """Return a shape without its texts and bounds: names, types and allowed values."""
    bare: Schema = {key: shape[key] for key in _BARE if key in shape}
    if "items" in shape:
        bare["items"] = _bare(shape["items"])
    if "properties" in shape:
        bare["properties"] = {name: _bare(part) for name, part in shape["properties"].items()}
    return bare


def _example_text(schemas: Schemas, media: Schema) -> str | None:
    given = media.get("example")
    if given is None and "examples" in media:
        named = (schemas.follow(one) for one in (*mapping(media["examples"]).values(), *items(media["examples"])))
        given = next((one.get("value") for one in named), None)
    if given is None:
        given = first_example({"example": schemas.example(media.get("schema"))})
    return None if given is None else _json(given)[:MAX_SCHEMA] or None


def _json(value: Any) -> str:
    """Render a value as JSON; empty for values without a JSON form (an integer too long, endless nesting)."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return ""
