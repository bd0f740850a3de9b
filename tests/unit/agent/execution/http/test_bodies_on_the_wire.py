"""Bodies as servers get them: JSON, forms, multipart forms, texts and files, from a document to the bytes."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from pydantic.types import JsonValue

from domain.errors import InvalidArgumentsError
from domain.model import JsonObject
from tests.unit.agent.execution.http.on_the_wire import LIST, OBJECT, RGB, body, header, posting, sent, target


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


FORM = "application/x-www-form-urlencoded"
OPEN = {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": True}


def parts(request: bytes) -> list[tuple[str, bytes]]:
    """The parts of a multipart body: their headers in one line, and their content."""
    boundary = header(request, "content-type").partition("boundary=")[2].encode()
    found = [one.removeprefix(b"\r\n").removesuffix(b"\r\n") for one in body(request).split(b"--" + boundary)[1:-1]]
    split = [one.partition(b"\r\n\r\n") for one in found]
    return [(head.decode().replace("\r\n", " "), content) for head, _, content in split]


async def test_files_of_openapi_3_1_have_a_name_and_a_media_type(tmp_path: Path) -> None:
    file = {"type": "string", "contentMediaType": "application/octet-stream"}
    fields = {
        "file": file,
        "many": {"anyOf": [{"type": "array", "items": file}, {"type": "null"}]},
        "photo": {"type": "string", "contentMediaType": "image/png", "contentEncoding": "base64"},
        "doc": {"type": "string", "format": "binary"},
        "meta": {"type": "string"},
        "avatar": {"type": "string", "format": "binary"},
    }
    encoding = {
        "doc": {"contentType": "application/pdf, application/msword"},
        "meta": {"contentType": "application/json"},
        "avatar": {"contentType": "image/*"},
    }
    schema = {"type": "object", "required": ["file"], "properties": fields}
    arguments: JsonObject = {
        "file": "bytes",
        "many": ["one", "data:text/csv;name=..%2F..%2Ft.csv;base64,Mg=="],
        "photo": "iVBORw0=",
        "doc": "%PDF",
        "meta": "{}",
        "avatar": "data:image/png;base64,iVBORw==",
    }
    request = await sent(tmp_path, "/x", posting(schema, "multipart/form-data", encoding=encoding), arguments, "post")
    file_head = "Content-Type: application/octet-stream"
    assert parts(request) == [
        (f'Content-Disposition: form-data; name="file"; filename="file" {file_head}', b"bytes"),
        (f'Content-Disposition: form-data; name="many"; filename="many-1" {file_head}', b"one"),
        ('Content-Disposition: form-data; name="many"; filename="t.csv" Content-Type: text/csv', b"2"),
        (
            'Content-Disposition: form-data; name="photo" Content-Type: image/png Content-Transfer-Encoding: base64',
            b"iVBORw0=",
        ),
        ('Content-Disposition: form-data; name="doc"; filename="doc.pdf" Content-Type: application/pdf', b"%PDF"),
        ('Content-Disposition: form-data; name="meta" Content-Type: application/json', b"{}"),
        (
            'Content-Disposition: form-data; name="avatar"; filename="avatar.png" Content-Type: image/png',
            b"\x89PNG",
        ),
    ]


@pytest.mark.parametrize(
    ("media", "value", "expected", "kind"),
    [
        ("application/octet-stream", "é", "é".encode(), "application/octet-stream"),
        ("application/octet-stream", "data:image/png;base64,AP8=", b"\x00\xff", "application/octet-stream"),
        ("image/*", "data:image/png;base64,AP8=", b"\x00\xff", "image/png"),
        ("image/*", "data:text/csv;base64,AP8", b"\x00\xff", "application/octet-stream"),
        ("*/*", "data:text/plain;charset=utf-8,hello%20you", b"hello you", "text/plain"),
        ("application/zip", "data: not a URL;base64,", b"data: not a URL;base64,", "application/zip"),
        ("message/rfc822", "Subject: x", b"Subject: x", "message/rfc822"),
    ],
)
async def test_a_file_is_the_body(tmp_path: Path, media: str, value: str, expected: bytes, kind: str) -> None:
    operation = posting({"type": "string", "format": "binary"}, media)
    request = await sent(tmp_path, "/x", operation, {"body": value}, "put")
    assert (body(request), header(request, "content-type")) == (expected, kind)


@pytest.mark.parametrize("value", ["data:image/png;base64,%%%", "data:image/png;base64", "data:;base64,a"])
async def test_a_data_url_that_cannot_be_decoded_is_refused_in_words(tmp_path: Path, value: str) -> None:
    for operation, name in (
        (posting({}, "application/octet-stream"), "body"),
        (posting({"properties": {"f": {"type": "string", "format": "binary"}}}, "multipart/form-data"), "f"),
    ):
        with pytest.raises(InvalidArgumentsError, match=f"{name} begins like a data URL"):
            await sent(tmp_path, "/x", operation, {name: value}, "post")


async def test_xml_and_lines_are_texts(tmp_path: Path) -> None:
    pet = {"type": "object", "properties": {"id": {"type": "integer"}}, "xml": {"name": "pet"}}
    request = await sent(tmp_path, "/x", posting(pet, "application/xml"), {"body": "<pet/>"}, "post")
    assert (body(request), header(request, "content-type")) == (b"<pet/>", "application/xml")
    lines = posting({"type": "array", "items": {"type": "object"}}, "application/x-ndjson")
    request = await sent(tmp_path, "/x", lines, {"body": [{"index": {}}, {"a": "é"}]}, "post")
    assert body(request).decode() == '{"index": {}}\n{"a": "é"}\n'
    request = await sent(tmp_path, "/x", posting({}, "application/x-ndjson"), {"body": '{"a": 1}'}, "post")
    assert (body(request), header(request, "content-type")) == (b'{"a": 1}\n', "application/x-ndjson")


@pytest.mark.parametrize(
    ("media", "expected"),
    [("application/json", b"{}"), ("application/vnd.x+json", b"{}"), (FORM, b""), ("multipart/form-data", b"--\r\n")],
)
async def test_a_required_body_is_sent_without_a_field(tmp_path: Path, media: str, expected: bytes) -> None:
    schema = {"type": "object", "properties": {"limit": {"type": "integer", "default": 10}}}
    request = await sent(tmp_path, "/x", posting(schema, media), {}, "post")
    assert body(request).endswith(expected)
    assert header(request, "content-type").startswith(media)
    optional = {"requestBody": {"content": {media: {"schema": schema}}}}
    request = await sent(tmp_path, "/x", optional, {}, "post")
    assert (body(request), header(request, "content-type")) == (b"", "")


async def test_further_fields_are_sent_beside_the_named_ones(tmp_path: Path) -> None:
    given: JsonObject = {"name": "a", "additional_fields": {"x": [1], "n": None}}
    request = await sent(tmp_path, "/x", posting(OPEN), given, "post")
    assert json.loads(body(request)) == {"name": "a", "x": [1], "n": None}
    request = await sent(tmp_path, "/x", posting(OPEN, FORM), {**given, "additional_fields": {"b c": "&"}}, "post")
    assert body(request) == b"name=a&b%20c=%26"
    with pytest.raises(InvalidArgumentsError, match="holds 'name', which is a parameter of the tool; give it as name"):
        await sent(tmp_path, "/x", posting(OPEN), {"additional_fields": {"name": "b"}}, "post")
    numbers = {**OPEN, "additionalProperties": {"type": "integer"}}
    with pytest.raises(InvalidArgumentsError, match="additional_fields"):
        await sent(tmp_path, "/x", posting(numbers), {"additional_fields": {"x": "many"}}, "post")


async def test_a_form_without_declared_fields_takes_them_by_name(tmp_path: Path) -> None:
    request = await sent(
        tmp_path, "/x", posting({"type": "object"}, FORM), {"body": {"a": "1", "b": ["2", "3"]}}, "post"
    )
    assert body(request) == b"a=1&b=2&b=3"
    files = posting({"type": "array", "items": {"type": "string", "format": "binary"}}, "multipart/form-data")
    request = await sent(tmp_path, "/x", files, {"body": {"one": "1", "two": ["2", "3"]}}, "post")
    octets = "Content-Type: application/octet-stream"
    assert parts(request) == [
        (f'Content-Disposition: form-data; name="one"; filename="one" {octets}', b"1"),
        (f'Content-Disposition: form-data; name="two"; filename="two-1" {octets}', b"2"),
        (f'Content-Disposition: form-data; name="two"; filename="two-2" {octets}', b"3"),
    ]


async def test_nested_forms_are_indexed(tmp_path: Path) -> None:
    item = {"type": "object", "properties": {"price": {"type": "string"}, "tags": LIST}}
    fields = {"expand": LIST, "items": {"type": "array", "items": item}, "meta": {"type": "object"}}
    deep = {"style": "deepObject", "explode": True}
    operation = posting({"type": "object", "properties": fields}, FORM, encoding=dict.fromkeys(fields, deep))
    arguments: JsonObject = {
        "expand": ["data.source", "b"],
        "items": [{"price": "p_1", "tags": ["x", "y"]}, {"price": "p_2"}],
        "meta": {"a": {"b": "c"}, "n": None},
    }
    request = await sent(tmp_path, "/x", operation, arguments, "post")
    assert parse_qsl(body(request).decode()) == [
        ("expand[0]", "data.source"), ("expand[1]", "b"), ("items[0][price]", "p_1"), ("items[0][tags][0]", "x"),
        ("items[0][tags][1]", "y"), ("items[1][price]", "p_2"), ("meta[a][b]", "c"),
    ]  # fmt: skip


async def test_lists_of_forms_are_joined_with_literal_commas(tmp_path: Path) -> None:
    encoding = {"codes": {"style": "form", "explode": False}}
    schema = {"type": "object", "properties": {"codes": LIST}}
    request = await sent(tmp_path, "/x", posting(schema, FORM, encoding=encoding), {"codes": ["1", "a,b"]}, "post")
    assert body(request) == b"codes=1,a%2Cb"


@pytest.mark.parametrize(
    ("kinds", "chosen", "arguments", "expected"),
    [
        (["json-patch+json", "merge-patch+json", "strategic-merge-patch+json"], "merge-patch+json", {"body": {"a": 1}}, {"a": 1}),
        (["json-patch+json", "strategic-merge-patch+json"], "strategic-merge-patch+json", {"body": {"a": 1}}, {"a": 1}),
        (["json-patch+json"], "json-patch+json", {"body": [{"op": "remove", "path": "/a"}]}, [{"op": "remove", "path": "/a"}]),
        (["merge-patch+json", "json"], "json", {"body": {"a": 1}}, {"a": 1}),
    ],
)  # fmt: skip
async def test_of_several_patches_the_one_that_takes_an_object_is_sent(
    tmp_path: Path, kinds: list[str], chosen: str, arguments: JsonObject, expected: JsonValue
) -> None:
    content = {f"application/{kind}": {"schema": {"type": "object", "description": "a patch"}} for kind in kinds}
    operation = {"requestBody": {"required": True, "content": content}}
    request = await sent(tmp_path, "/x", operation, arguments, "patch")
    assert (json.loads(body(request)), header(request, "content-type")) == (expected, f"application/{chosen}")


async def test_a_merge_patch_holds_null_only_where_it_was_given_for_a_field_that_may_be_null(tmp_path: Path) -> None:
    fields = {"a": {"type": ["string", "null"]}, "b": {"type": ["string", "null"], "default": None}, "c": LIST}
    operation = posting({"type": "object", "properties": fields}, "application/merge-patch+json")
    request = await sent(tmp_path, "/x", operation, {"a": None}, "patch")
    assert json.loads(body(request)) == {"a": None}
    with pytest.raises(InvalidArgumentsError, match="c"):
        await sent(tmp_path, "/x", operation, {"c": None}, "patch")
