"""From a document to the bytes a server gets: one document of all styles and bodies, imported, checked and called."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
from pydantic.types import JsonValue

from agent.execution.validation import validate
from domain.errors import InvalidArgumentsError
from domain.model import JsonObject
from domain.tool import ToolDoc
from graph.importers.openapi import read_openapi
from tests.unit.agent.execution.http.calling import executor
from tests.unit.agent.execution.http.serving import reply, serving

LIST: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
OBJECT: dict[str, Any] = {"type": "object", "properties": {"R": {"type": "integer"}, "G": {"type": "integer"}}}
COLOURS: list[JsonValue] = ["blue", "black", "brown"]
RGB: dict[str, JsonValue] = {"R": 100, "G": 200}
OK: dict[str, Any] = {"200": {"description": "ok"}}


def document(folder: Path, paths: dict[str, Any], server: str) -> list[ToolDoc]:
    path = folder / "api.json"
    told = {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "servers": [{"url": server + "/v1"}]}
    path.write_text(json.dumps({**told, "paths": paths}))
    return list(read_openapi(path))


async def sent(
    folder: Path, route: str, operation: dict[str, Any], arguments: JsonObject, method: str = "get"
) -> bytes:
    async with serving(reply()) as served, executor(served) as made:
        paths = {route: {method: {**operation, "responses": OK}}}
        (tool,) = await asyncio.to_thread(document, folder, paths, served.url)
        result = await made.call(tool, validate(tool, arguments))
        assert result.outcome == "ok"
        (request,) = served.requests
        return request


def target(request: bytes) -> str:
    return request.split(b" ", 2)[1].decode().removeprefix("/v1")


def header(request: bytes, name: str) -> str:
    lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    return next((line.partition(": ")[2] for line in lines if line.lower().startswith(f"{name}:")), "")


def body(request: bytes) -> bytes:
    return request.partition(b"\r\n\r\n")[2]


# The table "Style Examples" of OpenAPI 3.1.1 (section 4.8.12.4); the joints are percent-encoded in a query, as it has them.
@pytest.mark.parametrize(
    ("style", "explode", "value", "expected"),
    [
        ("form", True, COLOURS, "color=blue&color=black&color=brown"),
        ("form", False, COLOURS, "color=blue%2Cblack%2Cbrown"),
        ("form", True, RGB, "R=100&G=200"),
        ("form", False, RGB, "color=R%2C100%2CG%2C200"),
        ("spaceDelimited", False, COLOURS, "color=blue%20black%20brown"),
        ("spaceDelimited", False, RGB, "color=R%20100%20G%20200"),
        ("pipeDelimited", False, COLOURS, "color=blue%7Cblack%7Cbrown"),
        ("pipeDelimited", False, RGB, "color=R%7C100%7CG%7C200"),
        ("deepObject", True, RGB, "color%5BR%5D=100&color%5BG%5D=200"),
        ("form", True, "a b&c=d", "color=a%20b%26c%3Dd"),
        (None, None, COLOURS, "color=blue&color=black&color=brown"),
        (None, None, True, "color=true"),
    ],
)
async def test_query(tmp_path: Path, style: str | None, explode: bool | None, value: JsonValue, expected: str) -> None:
    schema = LIST if isinstance(value, list) else OBJECT if isinstance(value, dict) else {"type": ["string", "boolean"]}
    one: dict[str, Any] = {"name": "color", "in": "query", "schema": schema}
    one |= {} if style is None else {"style": style, "explode": explode}
    request = await sent(tmp_path, "/x", {"parameters": [one]}, {"color": value})
    assert target(request) == f"/x?{expected}"


@pytest.mark.parametrize(
    ("style", "explode", "value", "expected"),
    [
        ("simple", False, "blue", "blue"),
        ("simple", False, COLOURS, "blue,black,brown"),
        ("simple", True, COLOURS, "blue,black,brown"),
        ("simple", False, RGB, "R,100,G,200"),
        ("simple", True, RGB, "R=100,G=200"),
        ("label", False, "blue", ".blue"),
        ("label", False, COLOURS, ".blue,black,brown"),
        ("label", True, COLOURS, ".blue.black.brown"),
        ("label", True, RGB, ".R=100.G=200"),
        ("matrix", False, "blue", ";color=blue"),
        ("matrix", False, COLOURS, ";color=blue,black,brown"),
        ("matrix", True, COLOURS, ";color=blue;color=black;color=brown"),
        ("matrix", False, RGB, ";color=R,100,G,200"),
        ("matrix", True, RGB, ";R=100;G=200"),
        ("simple", False, ["a/b", "c,d"], "a%2Fb,c%2Cd"),
    ],
)
async def test_path(tmp_path: Path, style: str, explode: bool, value: JsonValue, expected: str) -> None:
    schema = LIST if isinstance(value, list) else OBJECT if isinstance(value, dict) else {"type": "string"}
    one = {"name": "color", "in": "path", "required": True, "style": style, "explode": explode, "schema": schema}
    request = await sent(tmp_path, "/x/{color}/y", {"parameters": [one]}, {"color": value})
    assert target(request) == f"/x/{expected}/y"


@pytest.mark.parametrize("value", [[], ["", ""], {}, [".."], ["a", "../b"], {"..": 1}])
async def test_a_structure_in_the_path_cannot_climb(tmp_path: Path, value: JsonValue) -> None:
    for style in ("simple", "label", "matrix"):
        one: dict[str, Any] = {
            "name": "p",
            "in": "path",
            "required": True,
            "style": style,
            "explode": True,
            "schema": {},
        }
        with pytest.raises(InvalidArgumentsError):
            await sent(tmp_path, "/x/{p}", {"parameters": [one]}, {"p": value})


async def test_places_that_repeat_are_all_filled(tmp_path: Path) -> None:
    assert target(await sent(tmp_path, "/a/{b}/c/{b}", {}, {"b": "x y"})) == "/a/x%20y/c/x%20y"
    arguments: JsonObject = {"a": "1", "b": "2", "c": "3"}
    assert target(await sent(tmp_path, "/{a}-{b}-{b}-{c}-{c}", {}, arguments)) == "/1-2-2-3-3"


async def test_headers_and_cookies(tmp_path: Path) -> None:
    given = [
        {"name": "X-Ids", "in": "header", "schema": {"type": "array", "items": {"type": "integer"}}},
        {"name": "X-Rgb", "in": "header", "explode": True, "schema": OBJECT},
        {"name": "session", "in": "cookie", "schema": {"type": "string"}},
        {"name": "tags", "in": "cookie", "explode": False, "schema": LIST},
    ]
    arguments: JsonObject = {"X-Ids": [3, 4], "X-Rgb": RGB, "session": "a b;c", "tags": ["x", "y"]}
    request = await sent(tmp_path, "/x", {"parameters": given}, arguments)
    assert (header(request, "x-ids"), header(request, "x-rgb")) == ("3,4", "R=100,G=200")
    assert header(request, "cookie") == "session=a%20b%3Bc; tags=x%2Cy"


async def test_content_parameters_are_json(tmp_path: Path) -> None:
    content = {"application/json": {"schema": {"type": "object", "properties": {"at": {"type": "string"}}}}}
    request = await sent(
        tmp_path, "/x", {"parameters": [{"name": "where", "in": "query", "content": content}]}, {"where": {"at": "a&b"}}
    )
    assert json.loads(dict(parse_qsl(target(request).partition("?")[2]))["where"]) == {"at": "a&b"}


def posting(schema: dict[str, Any], media: str = "application/json", **more: Any) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {media: {"schema": schema, **more}}}}


async def test_json_bodies(tmp_path: Path) -> None:
    fields = {"type": "object", "properties": {"id": {"type": "integer"}, "gone": {"type": ["string", "null"]}}}
    request = await sent(tmp_path, "/x/{id}", posting(fields), {"id": "7", "body_id": 8, "gone": None}, "put")
    assert (target(request), json.loads(body(request))) == ("/x/7", {"id": 8, "gone": None})
    assert header(request, "content-type") == "application/json"
    whole: list[JsonValue] = [{"a": 1}, "é"]
    request = await sent(tmp_path, "/x", posting({"type": "array", "items": {}}), {"body": whole}, "post")
    assert json.loads(body(request)) == whole
    free: JsonObject = {"any": {"thing": [1]}}
    request = await sent(
        tmp_path, "/x", posting({"type": "object"}, "application/vnd.api+json"), {"body": free}, "post"
    )
    assert (json.loads(body(request)), header(request, "content-type")) == (free, "application/vnd.api+json")


async def test_form_bodies(tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "tags": LIST, "codes": LIST, "rgb": OBJECT, "deep": OBJECT},
    }
    encoding = {"codes": {"style": "form", "explode": False}, "deep": {"style": "deepObject", "explode": True}}
    arguments: JsonObject = {"name": "a b&c", "tags": ["x", "y"], "codes": ["1", "2"], "rgb": RGB, "deep": RGB}
    media = "application/x-www-form-urlencoded"
    request = await sent(tmp_path, "/x", posting(schema, media, encoding=encoding), arguments, "post")
    assert header(request, "content-type") == media
    assert parse_qsl(body(request).decode()) == [
        ("name", "a b&c"), ("tags", "x"), ("tags", "y"), ("codes", "1,2"), ("rgb", '{"R": 100, "G": 200}'), ("deep[R]", "100"),
        ("deep[G]", "200"),
    ]  # fmt: skip


async def test_multipart_bodies(tmp_path: Path) -> None:
    fields = {
        "file": {"type": "string", "format": "binary"},
        "tags": LIST,
        "rgb": OBJECT,
        'a"\r\nb': {"type": "string"},
    }
    arguments: JsonObject = {"file": "--x\r\n", "tags": ["1", "2"], "rgb": RGB, 'a"\r\nb': "q"}
    request = await sent(
        tmp_path, "/x", posting({"type": "object", "properties": fields}, "multipart/form-data"), arguments, "post"
    )
    kind, _, boundary = header(request, "content-type").partition("; boundary=")
    parts = body(request).decode().split(f"--{boundary}")
    heads = [re.sub(r"\s+", " ", part.partition("\r\n\r\n")[0]).strip() for part in parts[1:-1]]
    assert kind == "multipart/form-data"
    assert parts[-1] == "--\r\n"
    assert heads == [
        'Content-Disposition: form-data; name="file"; filename="file" Content-Type: application/octet-stream',
        'Content-Disposition: form-data; name="tags"', 'Content-Disposition: form-data; name="tags"',
        'Content-Disposition: form-data; name="rgb" Content-Type: application/json',
        'Content-Disposition: form-data; name="a%22%0D%0Ab"',
    ]  # fmt: skip
    assert [part.partition("\r\n\r\n")[2] for part in parts[1:-1]] == [
        "--x\r\n\r\n",
        "1\r\n",
        "2\r\n",
        '{"R": 100, "G": 200}\r\n',
        "q\r\n",
    ]


async def test_text_bodies(tmp_path: Path) -> None:
    request = await sent(tmp_path, "/x", posting({"type": "string"}, "text/csv"), {"body": "a,b\n1,2"}, "post")
    assert (body(request), header(request, "content-type")) == (b"a,b\n1,2", "text/csv")


@pytest.mark.parametrize("text", ["日本", "a%2Fb", "a+b", "x=y;z", "~tilde", "100%"])
async def test_texts_arrive_as_they_are(tmp_path: Path, text: str) -> None:
    request = await sent(
        tmp_path,
        "/x/{p}",
        {"parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}]},
        {"p": text, "q": text},
    )
    path, _, query = target(request).partition("?")
    assert unquote(path) == f"/x/{text}"
    assert parse_qsl(query) == [("q", text)]
