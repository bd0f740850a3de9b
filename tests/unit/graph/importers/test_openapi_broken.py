"""OpenAPI documents that are broken, or ask for what our calls cannot express: told by name, the rest is imported."""

import json
from pathlib import Path
from typing import Any

import pytest

from domain.errors import BrokenInputError
from domain.tool import ToolDoc
from graph.importers.openapi import read_openapi
from graph.importers.openapi_schema import MAX_VISITS, SchemaResolver

OK: dict[str, Any] = {"200": {"description": "ok"}}


def write(folder: Path, paths: dict[str, Any], **more: Any) -> Path:
    path = folder / "api.json"
    path.write_text(json.dumps({"openapi": "3.0.3", "info": {"title": "Pets"}, "paths": paths} | more))
    return path


def refused(path: Path) -> list[str]:
    problems: list[BrokenInputError] = []
    assert list(read_openapi(path, problems.append)) == []
    return [str(problem) for problem in problems]


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        ({"parameters": [{"name": "s", "in": "fragment", "required": True}]}, "s stands in fragment"),
        ({"parameters": [{"$ref": "#/components/parameters/none"}]}, "leads nowhere"),
        ({"parameters": [{"$ref": "other.json#/p"}]}, "outside the document"),
        ({"requestBody": {"required": True, "content": {}}}, "media type is not given"),
        ({"requestBody": {"required": True, "content": {"json": {"schema": {"type": "object"}}}}}, "no media type"),
        ({"requestBody": {"$ref": "#/components/loop"}}, "refers to itself"),
        ("nothing", "not an object"),
    ],
)
def test_what_cannot_be_imported_is_told_by_name(tmp_path: Path, operation: Any, reason: str) -> None:
    path = write(tmp_path, {"/pets": {"get": operation}}, components={"loop": {"$ref": "#/components/loop"}})
    (message,) = refused(path)
    assert str(path) in message
    assert "GET /pets is not imported" in message
    assert reason in message
    with pytest.raises(BrokenInputError, match="is not imported"):
        list(read_openapi(path))


def test_the_rest_of_the_document_is_still_imported(tmp_path: Path) -> None:
    good = {"operationId": "a", "responses": OK}
    second = {"$ref": "http://elsewhere.example/op.json"}
    path = write(
        tmp_path,
        {
            "/a": {"get": good, "put": {"requestBody": second}, "post": "bad"},
            "/b": {"$ref": "#/none"},
            "/c": {"get": {}},
        },
    )
    problems: list[BrokenInputError] = []
    assert [doc.api for doc in read_openapi(path, problems.append)] == ["a", "GET /c"]
    assert len(problems) == 3
    assert {str(problem).partition(" is not imported: ")[2] for problem in problems} == {
        "http://elsewhere.example/op.json lies outside the document, and only local references are read; copy what it refers to into it",
        "not an object; describe there what is called, or take it out",
        "#/none leads nowhere; add what it refers to, or correct it",
    }


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"parameters": [{"in": "query"}]}, "an input: a parameter in query has no 'name' that can be used"),
        ({"parameters": [{"name": "flag"}]}, "an input: flag does not say where it is sent; give it an 'in' of path"),
        ({"parameters": [{"name": "flag", "in": "path"}]}, "an input: flag is no part of the path"),
        ({"parameters": ["flag"]}, "an input: a parameter has no 'name' that can be used"),
        ({"parameters": {"flag": {}}}, "its inputs: 'parameters' is no list"),
        (
            {"parameters": [{"name": "flag", "in": "query", "schema": {"$ref": "#/none"}}]},
            "an input: #/none leads nowhere; add what it refers to",
        ),
        (
            {"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/none"}}}}}},
            "its response: #/none leads nowhere; add what it refers to",
        ),
    ],
)
def test_what_is_left_out_of_an_operation_is_told(tmp_path: Path, more: Any, told: str) -> None:
    path = write(tmp_path, {"/ships": {"get": {"operationId": "ships", "responses": OK} | more}})
    problems: list[BrokenInputError] = []
    (doc,) = read_openapi(path, problems.append)
    assert (doc.api, doc.parameters, len(problems)) == ("ships", (), 1)
    assert f"GET /ships is imported without {told}" in str(problems[0])


def test_a_method_that_is_misspelt_is_told(tmp_path: Path) -> None:
    path = write(tmp_path, {"/ships": {"gett": {"responses": OK}, "x-note": {}, "summary": "Ships"}})
    (message,) = refused(path)
    assert "GETT /ships is not imported: no method of HTTP; correct how it is written" in message


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.json", "{", "is not JSON"),
        ("a.yaml", "openapi: 3.0.0", "holds no operation"),
        ("a.json", '{"swagger": "2.0"}', "holds no operation"),
        ("a.json", "[1]", "no JSON object"),
        ("a.json", "[" * 5000, "is not JSON"),
    ],
)
def test_no_openapi_document_at_all(tmp_path: Path, name: str, content: str, reason: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(BrokenInputError, match=reason):
        list(read_openapi(tmp_path / name))
    with pytest.raises(BrokenInputError, match="cannot be read"):
        list(read_openapi(tmp_path / "missing.json"))


@pytest.mark.shared_data
@pytest.mark.parametrize(("name", "operations"), [("tmdb", 54), ("spotify", 40)])
def test_documents_of_real_services(shared_data: Path, name: str, operations: int) -> None:
    path = shared_data / "benchmarks" / "restbench" / f"{name}_oas.json"
    docs = list(read_openapi(path))
    declared = json.loads(path.read_bytes())["paths"]
    assert (
        len(docs)
        == operations
        == sum(method in ("get", "put", "post", "delete") for p in declared.values() for method in p)
    )
    assert all(doc.url.startswith("https://") for doc in docs)
    assert [doc.api for doc in docs if doc.method == "GET" and not doc.response_schema] == []


LONG = "a." * 99 + "alpha."
LISTED = {"operationId": "listed", "parameters": [{"name": "page", "in": "query", "required": True}], "responses": OK}


def read(path: Path) -> tuple[list[ToolDoc], list[str]]:
    """The tools of a document, and what is reported of it."""
    problems: list[BrokenInputError] = []
    docs = list(read_openapi(path, problems.append))
    return docs, [str(problem) for problem in problems]


@pytest.mark.parametrize("version", ["openapi", "swagger"])
def test_an_operation_by_reference_is_followed_or_reported(tmp_path: Path, version: str) -> None:
    paths = {"/local": {"get": {"$ref": "#/x-ops/list"}}, "/away": {"get": {"$ref": "resources/list.yml"}}}
    path = tmp_path / "api.json"
    number = {"openapi": "3.0.3"} if version == "openapi" else {"swagger": "2.0"}
    path.write_text(json.dumps({**number, "info": {"title": "Pets"}, "paths": paths, "x-ops": {"list": LISTED}}))
    (doc,), (problem,) = read(path)
    assert (doc.api, [(one.name, one.required) for one in doc.parameters]) == ("listed", [("page", True)])
    assert "GET /away is not imported: resources/list.yml lies outside the document" in problem


@pytest.mark.parametrize(
    "text",
    [
        '{"openapi": "3.0.3", "paths": {"/a": {"get": {"operationId": "one"}}, "/a": {"post": {"operationId": "two"}}}}',
        "openapi: 3.0.3\npaths:\n  /a: {get: {operationId: one}}\n  /a: {post: {operationId: two}}\n",
        'swagger: "2.0"\npaths:\n  /a: {get: {operationId: one}}\n  /a: {post: {operationId: two}}\n',
    ],
)
def test_a_path_that_is_given_twice_has_the_operations_of_both(tmp_path: Path, text: str) -> None:
    path = tmp_path / ("api.json" if text[0] == "{" else "api.yaml")
    path.write_text(text)
    docs, problems = read(path)
    assert ([doc.api for doc in docs], problems) == (["one", "two"], [])


@pytest.mark.parametrize(
    "paths",
    [
        '{"/a": {"get": {"operationId": "one"}, "get": {"operationId": "two"}}}',
        '{"/a": {"get": {"operationId": "one"}}, "/a": {"get": {"operationId": "two"}}}',
    ],
)
@pytest.mark.parametrize("name", ["api.json", "api.yaml"])
def test_an_operation_that_is_given_twice_is_reported(tmp_path: Path, name: str, paths: str) -> None:
    path = tmp_path / name
    path.write_text(f'{{"openapi": "3.0.3", "paths": {paths}}}')
    docs, (problem,) = read(path)
    assert [doc.api for doc in docs] == ["two"]
    assert "GET /a is given twice" in problem


def test_long_names_that_are_alike_once_cut_are_told_apart(tmp_path: Path) -> None:
    route = "/" + "/".join(f"{{scope-id{number}}}" for number in range(20))
    paths = {f"{route}/{end}": {"get": {"operationId": LONG + end, "responses": OK}} for end in ("one", "two", "three")}
    docs, problems = read(write(tmp_path, paths))
    assert (len({doc.id for doc in docs}), problems) == (3, [])
    assert all(len(doc.api) <= 500 for doc in docs)
    assert [doc.id for doc in docs] == [doc.id for doc in read(tmp_path / "api.json")[0]]


@pytest.mark.parametrize("version", ["3.0", "3.1", "3", '"3.2.0"'])
def test_the_version_may_be_written_as_a_number(tmp_path: Path, version: str) -> None:
    path = tmp_path / "api.yaml"
    path.write_text(f"openapi: {version}\npaths: {{/a: {{get: {{operationId: one}}}}}}\n")
    assert [doc.api for doc in read(path)[0]] == ["one"]


def test_a_defect_of_the_importer_costs_one_operation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is: the operations and documents beside it are imported."""

    def fail(_schemas: object, operation: dict[str, Any]) -> tuple[None, None]:
        if operation.get("operationId") == "two":
            raise ZeroDivisionError("by zero")
        return None, None

    monkeypatch.setattr("graph.importers.openapi.read_response", fail)
    paths = {f"/{name}": {"get": {"operationId": name, "responses": OK}} for name in ("one", "two", "three")}
    docs, (problem,) = read(write(tmp_path, paths))
    assert [doc.api for doc in docs] == ["one", "three"]
    assert "GET /two is not imported: the importer failed (ZeroDivisionError: by zero); please report this" in problem


def test_schemas_of_a_document_that_costs_too_much_lose_depth_and_stay() -> None:
    parts: dict[str, Any] = {"type": "string"}
    for name in ("harbour", "berth", "ship", "owner"):
        parts = {"type": "object", "properties": {name: parts, "kind": {"type": "string"}}}
    reference = {"$ref": "#/whole"}
    whole, spent, nothing = (SchemaResolver({"whole": parts}, visits) for visits in (MAX_VISITS, 0, -MAX_VISITS))
    assert "harbour" in json.dumps(whole.build_shape(reference))
    shallow = json.dumps(spent.build_shape(reference))
    assert ("owner" in shallow, "ship" in shallow, "berth" in shallow) == (True, True, False)
    assert (nothing.build_shape(reference), nothing.build_example(reference)) == ({"type": "object"}, None)
    assert nothing.build_shape({"type": "array", "items": reference}) == {"type": "array"}
    assert nothing.merge_all_of(reference) == parts
