"""Bodies as parameters: which media type is chosen, what must be given, and what is reported of a body that cannot be sent."""

import json
from pathlib import Path
from typing import Any

import pytest

from domain.errors import BrokenInputError
from domain.tool import Parameter, ToolDoc
from graph.importers.openapi import read_openapi

BINARY = {"type": "string", "format": "binary"}
FORM = "application/x-www-form-urlencoded"
OBJECT: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}


def read(folder: Path, body: dict[str, Any], method: str = "post") -> tuple[list[ToolDoc], list[str]]:
    path = folder / "api.json"
    operation = {"requestBody": body, "responses": {"200": {"description": "ok"}}}
    path.write_text(json.dumps({"openapi": "3.1.0", "info": {"title": "t"}, "paths": {"/x": {method: operation}}}))
    problems: list[BrokenInputError] = []
    docs = list(read_openapi(path, problems.append))
    return docs, [str(problem).removeprefix(f"{path}: ") for problem in problems]


def only(folder: Path, body: dict[str, Any], method: str = "post") -> ToolDoc:
    docs, problems = read(folder, body, method)
    assert problems == []
    return docs[0]


def content(*medias: str, schema: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"content": {media: {"schema": OBJECT if schema is None else schema} for media in medias}, **more}


@pytest.mark.parametrize(
    ("medias", "form", "media"),
    [
        (["application/octet-stream", "application/xml", "multipart/form-data", FORM, "application/json"], "json", ""),
        (["application/octet-stream", "text/plain", "multipart/form-data", FORM], "form", ""),
        (["image/png", "application/xml", "multipart/form-data"], "multipart", ""),
        (["image/png", "application/atom+xml; charset=utf-8"], "text", "application/atom+xml"),
        (["text/*"], "text", ""),
        (["image/png", "application/zip"], "binary", "image/png"),
        (["application/octet-stream"], "binary", ""),
        (["image/*"], "binary", "image/*"),
        (["*/*", "application/vnd.x+json", "application/json"], "json", ""),
        (["*/*"], "json", ""),
        (["multipart/related"], "multipart", "multipart/related"),
    ],
)
def test_the_media_type_that_is_chosen(tmp_path: Path, medias: list[str], form: str, media: str) -> None:
    doc = only(tmp_path, content(*medias))
    assert (doc.body_type, doc.body_media) == (form, media)


@pytest.mark.parametrize("media", ["*/*", "application/json", "text/csv"])
@pytest.mark.parametrize("schema", [BINARY, {"type": "string", "contentMediaType": "image/png"}])
def test_a_file_is_no_json_and_no_text(tmp_path: Path, media: str, schema: dict[str, Any]) -> None:
    doc = only(tmp_path, content(media, schema=schema))
    assert (doc.body_type, doc.body_media) == ("binary", media)
    (body,) = doc.parameters
    assert (body.name, body.type, body.format, body.whole_body, body.required) == (
        "body",
        "string",
        "binary",
        True,
        True,
    )


@pytest.mark.parametrize(
    ("said", "method", "required"),
    [
        ({}, "post", True),
        ({}, "put", True),
        ({}, "patch", True),
        ({}, "delete", False),
        ({"required": False}, "post", False),
        ({"required": True}, "delete", True),
    ],
)
def test_what_uploads_only_is_not_called_without_the_upload(
    tmp_path: Path, said: dict[str, Any], method: str, required: bool
) -> None:
    raw = only(tmp_path, content("application/zip", schema=BINARY, **said), method)
    single = only(tmp_path, content("multipart/form-data", schema={"properties": {"f": BINARY}}, **said), method)
    named = {"properties": {"f": BINARY, "note": {"type": "string"}}, "required": ["f"]}
    several = only(tmp_path, content("multipart/form-data", schema=named, **said), method)
    unnamed = only(tmp_path, content("multipart/form-data", schema={"type": "array", "items": BINARY}, **said), method)
    text = only(tmp_path, content("application/xml", **said), method)
    assert [doc.parameters[0].required for doc in (raw, single, unnamed, text)] == [required] * 4
    assert {one.name: one.required for one in several.parameters} == {"f": required, "note": False}
    assert several.body_required is required


def test_an_optional_body_of_fields_stays_optional(tmp_path: Path) -> None:
    doc = only(tmp_path, content("application/json", schema={**OBJECT, "required": ["a"]}))
    assert (doc.body_required, [one.required for one in doc.parameters]) == (False, [False])
    assert only(tmp_path, content("application/json", required=True)).body_required


def test_an_optional_body_that_cannot_be_sent_is_reported(tmp_path: Path) -> None:
    docs, problems = read(tmp_path, content("nonsense", required=False))
    assert [doc.parameters for doc in docs] == [()]
    assert problems == [
        "POST /x is imported without its body: it has a body of the type nonsense, which is no media type; write one under"
        " 'content', application/json say"
    ]
    docs, problems = read(tmp_path, content("nonsense"), "delete")
    assert len(docs) == len(problems) == 1
    assert read(tmp_path, content("nonsense"))[0] == []


def test_xml_is_one_text_that_says_its_elements(tmp_path: Path) -> None:
    schema = {**OBJECT, "xml": {"name": "pet"}, "description": "A pet."}
    (body,) = only(tmp_path, content("text/xml", schema=schema, description="To add.")).parameters
    assert body.description == "To add. Sent as it is: XML, root element pet with the elements a."
    (body,) = only(tmp_path, content("text/xml", schema=schema, required=True)).parameters
    assert (body.type, body.whole_body, body.required, body.json_schema) == ("string", True, True, None)
    assert body.description == "A pet. Sent as it is: XML, root element pet with the elements a."


def further(folder: Path, media: str, schema: dict[str, Any]) -> list[Parameter]:
    return [one for one in only(folder, content(media, schema=schema, required=True)).parameters if one.spread]


@pytest.mark.parametrize("media", ["application/json", FORM, "multipart/form-data"])
def test_further_fields_are_one_parameter_where_the_document_allows_them(tmp_path: Path, media: str) -> None:
    (free,) = further(tmp_path, media, {**OBJECT, "additionalProperties": True})
    assert (free.name, free.type, free.required, free.json_schema) == ("additional_fields", "object", False, None)
    (typed,) = further(tmp_path, media, {**OBJECT, "additionalProperties": {"type": "integer"}})
    assert json.loads(typed.json_schema or "") == {"type": "object", "additionalProperties": {"type": "integer"}}
    assert further(tmp_path, media, OBJECT) == []
    assert further(tmp_path, media, {**OBJECT, "additionalProperties": False}) == []
    taken = {"properties": {"additional_fields": {"type": "string"}}, "additionalProperties": {}}
    (other,) = further(tmp_path, media, {"type": "object", **taken})
    assert other.name == "further_additional_fields"


def test_a_free_object_without_fields_is_the_body_whole(tmp_path: Path) -> None:
    (body,) = only(
        tmp_path, content("application/json", schema={"type": "object", "additionalProperties": True})
    ).parameters
    assert (body.name, body.whole_body, body.spread) == ("body", True, False)


def test_a_json_patch_is_a_list_of_operations(tmp_path: Path) -> None:
    doc = only(tmp_path, content("application/json-patch+json", schema={}, required=True), "patch")
    (body,) = doc.parameters
    assert (body.type, body.whole_body) == ("array", True)
    assert json.loads(body.json_schema or "")["items"]["required"] == ["op", "path"]


def test_fields_that_only_an_example_knows_are_parameters(tmp_path: Path) -> None:
    """GitHub's schemas lag behind its examples; a field that differs in case only is the same field."""
    example = {"a": "x", "A": "y", "repository": "Hello", "limits": {"cpu": 2}}
    body = content("application/json")
    body["content"]["application/json"]["examples"] = {"one": {"value": example}}
    found = {one.name: one for one in only(tmp_path, body).parameters}
    assert {name: (one.type, one.required, one.example) for name, one in found.items()} == {
        "a": ("string", False, None),
        "repository": ("any", False, "Hello"),
        "limits": ("any", False, {"cpu": 2}),
    }
    closed = content("application/json", schema={**OBJECT, "additionalProperties": False, "example": example})
    assert [one.name for one in only(tmp_path, closed).parameters] == ["a"]
