"""What an imported operation says of its answers: names of schemas, alternatives, and what is left of one that is too long."""

import json
from pathlib import Path
from typing import Any

import pytest

from domain.tool import ToolDoc, make_tool_id
from graph.importers.openapi import read_openapi
from graph.importers.openapi_responses import MAX_SCHEMA
from graph.response_fields import output_fields
from graph.shapes import UNKNOWN, infer_documented_shape


def read_response(folder: Path, schema: object, **schemas: object) -> str | None:
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
    return doc.response_schema


def response_of(folder: Path, schema: object, **schemas: object) -> dict[str, Any]:
    return json.loads(read_response(folder, schema, **schemas) or "")


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


@pytest.mark.parametrize("schema", [{}, {"title": "Response List Bookings"}, {"description": "what was found"}])
def test_an_answer_that_may_be_anything_is_unknown_and_no_text(tmp_path: Path, schema: dict[str, str]) -> None:
    assert read_response(tmp_path, schema) is None


def test_a_field_that_may_be_anything_is_known_by_its_name_alone(tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "type": "object",
        "properties": {"gardener": {"title": "Gardener"}, "crops": {"type": "array", "items": {}}},
    }
    text = read_response(tmp_path, given)
    doc = ToolDoc(
        id=make_tool_id("garden", "plots", "list"),
        category="garden",
        toolset="plots",
        api="list",
        function="list",
        response_schema=text,
    )
    assert [(one.path, one.type) for one in output_fields(doc)] == [("gardener", None)]
    shape = infer_documented_shape(doc)
    assert shape.fields["gardener"] == UNKNOWN
    assert shape.fields["crops"].items in (None, UNKNOWN)
