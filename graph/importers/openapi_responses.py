"""What an OpenAPI operation answers: schema and example of its success, as JSON texts."""

from typing import Any

import orjson

from graph.importers.openapi_nodes import Schema, first_example, items, mapping
from graph.importers.openapi_schema import Schemas

MAX_SCHEMA = 20_000
"""Characters of a response schema that are kept; a longer one loses its descriptions, then its depth."""
_BARE = ("type", "title", "format", "enum")


def response_of(schemas: Schemas, operation: Schema) -> tuple[str | None, str | None]:
    """Schema and example of the first success in JSON; None where it is not told. Raises ``DanglingReferenceError``."""
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
    """The shape of a response; one that is too long loses its descriptions first, then its depth. None where it may be anything."""
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
    """A shape without its texts and bounds: names, types and what they refer to."""
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
    """As JSON; empty for what has no JSON form (an integer too long, nesting without end)."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return ""
