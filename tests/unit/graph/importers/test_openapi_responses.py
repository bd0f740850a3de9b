"""What an imported operation says of its answers: names of schemas, alternatives, and what is left of one that is too long."""

import json
from pathlib import Path
from typing import Any

from graph.importers.openapi import read_openapi
from graph.importers.openapi_responses import MAX_SCHEMA


def response_of(folder: Path, schema: object, **schemas: object) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}}
    document = {
        "openapi": "3.0.0",
        "info": {"title": "films"},
        "paths": {"/x": {"get": {"responses": {"200": {"content": content}}}}},
        "components": {"schemas": schemas},
    }
    path = folder / "openapi.json"
    path.write_text(json.dumps(document))
    (doc,) = read_openapi(path)
    return json.loads(doc.response_schema or "")


FILM = {"type": "object", "properties": {"id": {"type": "string"}}}


def test_objects_keep_what_the_document_calls_them(tmp_path: Path) -> None:
    page = {
        "type": "object",
        "properties": {"items": {"type": "array", "items": {"$ref": "#/components/schemas/FilmObject"}}},
    }
    found = response_of(tmp_path, page, FilmObject=FILM)
    assert found["properties"]["items"]["items"] == {**FILM, "title": "FilmObject"}
    assert "title" not in found


def test_of_alternatives_the_first_is_taken_and_all_are_named(tmp_path: Path) -> None:
    either = {
        "type": "object",
        "oneOf": [{"$ref": "#/components/schemas/Film"}, {"$ref": "#/components/schemas/Person"}],
    }
    found = response_of(
        tmp_path, either, Film=FILM, Person={"type": "object", "properties": {"name": {"type": "string"}}}
    )
    assert (found["title"], list(found["properties"])) == ("Film | Person", ["id"])


def test_a_long_schema_loses_its_texts_before_its_depth(tmp_path: Path) -> None:
    fields = {f"field{n}": {"type": "string", "description": "long " * 90} for n in range(100)}
    deep = {
        "type": "object",
        "properties": {"a": {"type": "object", "properties": {"b": {"type": "object", "properties": fields}}}},
    }
    found = response_of(tmp_path, deep)
    assert len(json.dumps(found)) <= MAX_SCHEMA
    assert found["properties"]["a"]["properties"]["b"]["properties"]["field99"] == {"type": "string"}
