"""OpenAPI documents as they are met: references, bodies, keys, servers; what cannot be imported is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from domain.tool import Parameter, ToolDoc
from graph.importers.openapi import read_openapi
from graph.importers.openapi_responses import MAX_SCHEMA

OK: dict[str, Any] = {"200": {"description": "ok"}}
KEY: dict[str, list[str]] = {"k": []}
SERVER = [{"url": "https://api.example/v1/"}]


def write(folder: Path, paths: dict[str, Any], **more: Any) -> Path:
    document = {
        "openapi": "3.0.3",
        "info": {"title": "Pets", "description": "All pets."},
        "servers": SERVER,
        "paths": paths,
    }
    path = folder / "api.json"
    path.write_text(json.dumps(document | more))
    return path


def only(path: Path) -> ToolDoc:
    (doc,) = read_openapi(path)
    return doc


def parameters(path: Path) -> dict[str, Parameter]:
    return {parameter.name: parameter for parameter in only(path).parameters}


def test_names_come_from_tag_extension_and_operation(tmp_path: Path) -> None:
    operation = {"tags": ["Animals", "x"], "operationId": "getPet", "summary": "One\n pet", "responses": OK,
                 "x-toolset": "Zoo"}  # fmt: skip
    doc = only(write(tmp_path, {"/pets/{pet_id}": {"get": operation}}))
    assert (doc.id, doc.category, doc.toolset, doc.api) == ("Animals/Zoo/getPet", "Animals", "Zoo", "getPet")
    assert (doc.function, doc.method, doc.description) == ("getpet_for_zoo", "GET", "One pet")
    assert (doc.url, doc.source) == ("https://api.example/v1/pets/{pet_id}", "openapi:api.json")
    assert doc.toolset_description == "All pets."
    assert [(one.name, one.location, one.required) for one in doc.parameters] == [("pet_id", "path", True)]


def test_what_is_not_named_is_named_after_title_and_path(tmp_path: Path) -> None:
    doc = only(write(tmp_path, {"/pets": {"delete": {"responses": OK}}}))
    assert (doc.category, doc.toolset, doc.api, doc.method) == ("Pets", "Pets", "DELETE /pets", "DELETE")


def test_parameters_of_path_and_operation(tmp_path: Path) -> None:
    shared = [
        {"name": "page", "in": "query", "schema": {"type": "integer", "default": 1, "minimum": 1, "maximum": 9}},
        {"name": "lang", "in": "query", "schema": {"type": "string"}, "example": "fr"},
    ]
    own = [
        {"name": "lang", "in": "query", "required": True, "schema": {"type": "string", "enum": ["en", "de"]},
         "description": "The\n language", "examples": {"one": {"value": "de"}}},
        {"name": "X-Trace", "in": "header", "schema": {"type": "string", "format": "uuid"}},
        {"name": "Accept", "in": "header", "schema": {"type": "string"}},
        {"name": "when", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}},
        {"name": "session", "in": "cookie", "schema": {"type": "string"}},
    ]  # fmt: skip
    found = parameters(write(tmp_path, {"/pets": {"parameters": shared, "get": {"parameters": own, "responses": OK}}}))
    assert list(found) == ["lang", "page", "X-Trace", "when", "session"]
    assert found["lang"] == Parameter(
        name="lang", description="The language", required=True, enum=("en", "de"), example="de"
    )
    assert found["page"] == Parameter(name="page", type="integer", default=1, minimum=1, maximum=9)
    assert (found["X-Trace"].location, found["X-Trace"].format) == ("header", "uuid")
    assert (found["when"].type, found["when"].style) == ("object", "json")
    assert found["session"].location == "cookie"


def test_nullable_types_of_both_versions(tmp_path: Path) -> None:
    schemas: dict[str, Any] = {
        "a": {"anyOf": [{"type": "null"}, {"type": "number"}]},
        "b": {"type": ["null", "boolean"]},
        "c": {"type": "integer", "nullable": True},
        "d": {"items": {}},
        "e": {},
    }
    given = [{"name": name, "in": "query", "schema": schema} for name, schema in schemas.items()]
    found = parameters(write(tmp_path, {"/x": {"get": {"parameters": given, "responses": OK}}}))
    assert [found[name].type for name in "abcde"] == ["number", "boolean", "integer", "array", "any"]


def test_body_fields_through_references_and_parts(tmp_path: Path) -> None:
    components = {
        "requestBodies": {
            "New": {"required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/New"}}}}
        },
        "schemas": {
            "Base": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string", "example": "Rex"}},
            },
            "New": {
                "allOf": [
                    {"$ref": "#/components/schemas/Base"},
                    {"type": "object", "required": ["age"], "properties": {"age": {"type": "integer"}, "tag": {}}},
                ]
            },
        },
    }
    operation = {"requestBody": {"$ref": "#/components/requestBodies/New"}, "responses": OK}
    found = parameters(write(tmp_path, {"/pets": {"post": operation}}, components=components))
    assert {name: (one.type, one.required, one.location) for name, one in found.items()} == {
        "name": ("string", True, "body"),
        "age": ("integer", True, "body"),
        "tag": ("any", False, "body"),
    }
    assert found["name"].example == "Rex"


def test_fields_of_an_optional_body_are_optional(tmp_path: Path) -> None:
    schema = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    operation = {"requestBody": {"content": {"application/json": {"schema": schema}}}, "responses": OK}
    assert not parameters(write(tmp_path, {"/pets": {"patch": operation}}))["name"].required


def test_response_schema_with_a_cycle_ends(tmp_path: Path) -> None:
    node = {
        "type": "object",
        "properties": {
            "label": {"type": "string", "description": "A  label", "example": "root"},
            "children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}},
        },
    }
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Node"}}}
    responses = {"default": {"description": "error"}, "201": {"description": "made", "content": content}}
    path = write(tmp_path, {"/n": {"get": {"responses": responses}}}, components={"schemas": {"Node": node}})
    doc = only(path)
    assert json.loads(doc.response_schema or "") == {
        "type": "object",
        "title": "Node",
        "properties": {
            "label": {"type": "string", "description": "A label", "example": "root"},
            "children": {"type": "array", "items": {"type": "object", "title": "Node"}},
        },
    }
    assert json.loads(doc.example_response or "") == {"label": "root"}


def test_a_given_example_goes_before_a_made_one(tmp_path: Path) -> None:
    media = {"schema": {"type": "integer", "example": 1}, "examples": {"a": {"value": {"x": 2}}}}
    responses = {"200": {"description": "ok", "content": {"application/json": media}}}
    doc = only(write(tmp_path, {"/n": {"get": {"responses": responses}}}))
    assert doc.example_response == '{"x":2}'


@pytest.mark.timeout(20)
def test_parts_that_multiply_without_end_are_bounded(tmp_path: Path) -> None:
    schemas: dict[str, Any] = {"S9": {"type": "string"}}
    for level in range(9):
        lower = {"$ref": f"#/components/schemas/S{level + 1}"}
        schemas[f"S{level}"] = {
            "type": "object",
            "properties": {f"p{n}": lower for n in range(30)},
            "allOf": [{"type": "object", "properties": {f"q{n}": lower for n in range(30)}}],
        }
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}
    responses = {"200": {"description": "ok", "content": content}}
    doc = only(write(tmp_path, {"/n": {"get": {"responses": responses}}}, components={"schemas": schemas}))
    assert len(doc.response_schema or "") <= MAX_SCHEMA


@pytest.mark.parametrize(
    ("servers", "base", "url"),
    [
        ([{"url": "https://{region}.example/{v}", "variables": {"region": {"default": "eu"}, "v": {"default": "2"}}}],
         "", "https://eu.example/2/pets"),
        ([{"url": "/api"}], "http://127.0.0.1:9/", "http://127.0.0.1:9/api/pets"),
        ([{"url": "/api"}], "", ""),
        ([], "http://127.0.0.1:9", "http://127.0.0.1:9/pets"),
        ([], "", ""),
    ],
)  # fmt: skip
def test_addresses(tmp_path: Path, servers: list[Any], base: str, url: str) -> None:
    path = write(tmp_path, {"/pets": {"get": {"responses": OK}}}, servers=servers)
    (doc,) = read_openapi(path, server=base)
    assert doc.url == url


@pytest.mark.timeout(30)
def test_schemas_that_all_refer_to_each_other_are_imported_all_the_same(tmp_path: Path) -> None:
    """Written out to any depth they would fill any disk; what is made of each is made once and kept small."""
    schemas = {
        f"S{n}": {"type": "object", "properties": {f"p{m}": {"$ref": f"#/components/schemas/S{(n * 7 + m * 13) % 60}"} for m in range(12)}}
        for n in range(60)
    }  # fmt: skip
    content = [{"application/json": {"schema": {"$ref": f"#/components/schemas/S{n}"}}} for n in range(60)]
    paths = {
        f"/s{n}": {"post": {"requestBody": {"content": one}, "responses": {"200": {"content": one}}}}
        for n, one in enumerate(content)
    }
    docs = list(read_openapi(write(tmp_path, paths, components={"schemas": schemas})))
    assert len(docs) == 60
    assert {len(doc.parameters) for doc in docs} == {12}
    assert all(len(one.json_schema or "") <= 20_000 for doc in docs for one in doc.parameters)
