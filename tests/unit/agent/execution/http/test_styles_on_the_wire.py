"""Values as servers get them outside a body: in paths, queries, headers and cookies, from a document to the bytes."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
from pydantic.types import JsonValue

from domain.errors import InvalidArgumentsError
from domain.model import JsonObject
from tests.unit.agent.execution.http.on_the_wire import COLOURS, LIST, OBJECT, RGB, header, sent, target


# The table "Style Examples" of OpenAPI 3.1.1 (section 4.8.12.4).
@pytest.mark.parametrize(
    ("style", "explode", "value", "expected"),
    [
        ("form", True, COLOURS, "color=blue&color=black&color=brown"),
        ("form", False, COLOURS, "color=blue,black,brown"),
        ("form", True, RGB, "R=100&G=200"),
        ("form", False, RGB, "color=R,100,G,200"),
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
    assert header(request, "cookie") == "session=a%20b%3Bc; tags=x,y"


async def test_content_parameters_are_json(tmp_path: Path) -> None:
    content = {"application/json": {"schema": {"type": "object", "properties": {"at": {"type": "string"}}}}}
    request = await sent(
        tmp_path, "/x", {"parameters": [{"name": "where", "in": "query", "content": content}]}, {"where": {"at": "a&b"}}
    )
    assert json.loads(dict(parse_qsl(target(request).partition("?")[2]))["where"]) == {"at": "a&b"}


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


@pytest.mark.parametrize(
    ("style", "value", "expected"),
    [
        ("form", ["red", "a,b"], "tags=red,a%2Cb"),
        ("spaceDelimited", ["red", "a b"], "tags=red%20a%20b"),
        ("pipeDelimited", ["red", "a,b"], "tags=red%7Ca%2Cb"),
        ("deepObject", ["a", "b"], "tags%5B0%5D=a&tags%5B1%5D=b"),
    ],
)
async def test_a_joint_is_told_from_the_same_character_in_a_value(
    tmp_path: Path, style: str, value: JsonValue, expected: str
) -> None:
    one = {"name": "tags", "in": "query", "style": style, "explode": style == "deepObject", "schema": LIST}
    assert target(await sent(tmp_path, "/x", {"parameters": [one]}, {"tags": value})) == f"/x?{expected}"
    cookie = {"name": "tags", "in": "cookie", "explode": False, "schema": LIST}
    request = await sent(tmp_path, "/x", {"parameters": [cookie]}, {"tags": ["red", "a,b"]})
    assert header(request, "cookie") == "tags=red,a%2Cb"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a/b:c?d@e!f$g'(h)*i,j;k=l", "a/b:c?d@e!f$g'(h)*i,j;k=l"),
        ("a&b+c#d[e]", "a%26b%2Bc%23d%5Be%5D"),
        ("a%2Fb 100%", "a%2Fb%20100%25"),
        ("é", "%C3%A9"),
    ],
)
async def test_reserved_characters_stay_where_the_document_allows_them(
    tmp_path: Path, value: str, expected: str
) -> None:
    one = {"name": "q", "in": "query", "allowReserved": True, "schema": {"type": "string"}}
    assert target(await sent(tmp_path, "/x", {"parameters": [one]}, {"q": value})) == f"/x?q={expected}"


@pytest.mark.parametrize("value", ["left.pad", "1.2.3", ".well-known", "a..b", "...", "v1.", "..a"])
async def test_a_dot_in_a_path_is_sent_as_it_is(tmp_path: Path, value: str) -> None:
    assert target(await sent(tmp_path, "/x/{p}/y", {}, {"p": value})) == f"/x/{value}/y"
