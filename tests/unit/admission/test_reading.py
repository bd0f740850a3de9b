"""Strangers' documents to tools: in the source's own place, and bounded."""

import asyncio
from typing import Any

import orjson
import pytest

from admission.limits import ReadLimits
from admission.sandboxed_reader import read_document, read_outline
from domain.errors import BrokenInputError, TooManyOperationsError
from domain.tool import make_tool_id
from domain.tool_source import OperationChoice
from tests.unit.admission.documents import Json, document, operation, read, tools


async def test_operations_become_tools_of_the_source() -> None:
    content = document({"/ships": {"get": operation("listShips", tags=["Other"], **{"x-toolset": "Open Rates"})}})
    found = await read(content)
    (tool,) = found.tools
    assert tool.id == make_tool_id("Ports", "Harbour", "listShips")
    assert (tool.category, tool.toolset, tool.url) == ("Ports", "Harbour", "https://harbour.example/v1/ships")
    assert (found.skipped, found.findings) == ((), ())


async def test_yaml_and_swagger_are_read() -> None:
    yaml = b"swagger: '2.0'\ninfo: {title: T}\nhost: api.example\nschemes: [https]\npaths:\n  /a:\n    get: {operationId: a}\n"
    (tool,) = (await read(yaml)).tools
    assert tool.url == "https://api.example/a"


async def test_a_relative_server_is_at_the_base_url() -> None:
    found = await read(document({"/a": {"get": operation("a")}}), base_url="https://elsewhere.example/api/")
    assert found.tools[0].url == "https://elsewhere.example/v1/a"


@pytest.mark.parametrize(
    ("more", "url"),
    [
        ({}, "https://api.example/bikes"),
        ({"servers": [{"url": "v2"}]}, "https://api.example/docs/v2/bikes"),
        ({"servers": [{"url": "https://other.example/x"}]}, "https://other.example/x/bikes"),
    ],
)
async def test_a_document_that_names_no_servers_is_called_at_the_root_of_its_host(
    more: dict[str, Any], url: str
) -> None:
    paths: dict[str, Any] = {"/bikes": {"get": {"operationId": "bikes", "responses": {}}}}
    document = orjson.dumps({"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": paths, **more})
    read = await read_document(document, category="c", toolset="t", address="https://api.example/docs/openapi.json")
    assert [one.url for one in read.tools] == [url]


def test_operations_of_one_name_are_told_apart_in_whatever_order() -> None:
    paths = {"/a": {"get": operation("same")}, "/b": {"get": operation("same")}}
    forth = tools(document(paths))
    back = tools(document(dict(reversed(paths.items()))))
    assert {name: tool.url for name, tool in forth.items()} == {name: tool.url for name, tool in back.items()}


async def test_control_characters_are_taken_out_and_told() -> None:
    found = await read(document({"/a": {"get": operation("a", summary="x", description="wh\u0000at\u0007")}}))
    assert found.tools[0].description == "wh at "
    assert [finding.verdict for finding in found.findings] == ["warned"]


def nested(levels: int) -> bytes:
    return b'{"openapi":"3.0.0","paths":' + b'{"/a":' * levels + b"1" + b"}" * levels + b"}"


def aliases() -> bytes:
    lines = [b"openapi: 3.0.0", b"a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    lines += [b"a%d: &a%d [%s]" % (n, n, b",".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 12)]
    return b"\n".join(lines)


BROKEN = {
    "nesting": (nested(100_000), "not JSON"),
    "aliases": (aliases(), "aliases"),
    "unclosed list": (b"openapi: [", "content at line 2, column 1"),
    "NUL": (b"openapi: 3.0.0\x00", "neither JSON nor YAML"),
    "page": (b"<!doctype html><html></html>", "web page"),
    "list": (b"[1]", "no OpenAPI 3"),
    "no operation": (orjson.dumps(document({})), "no operation"),
    "nothing": (b"", "is empty"),
    "binary": (bytes(range(256)) * 10, "neither JSON nor YAML"),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_what_is_no_document_is_told(name: str) -> None:
    data, told = BROKEN[name]
    with pytest.raises(BrokenInputError, match=told):
        await read(data)


async def test_a_document_beyond_the_size_is_not_looked_at() -> None:
    with pytest.raises(BrokenInputError, match="more than the 0 MiB"):
        await read(b" " * 1001, ReadLimits(document=1000))


def harbour() -> Json:
    """Two operations of ships, one of berths, three that have no tag."""
    paths: Json = {
        "/ships": {"get": operation("listShips", tags=["ships"]), "post": operation("addShip", tags=["ships"])},
        "/berths/{id}": {"get": operation("getBerth", tags=["berths", "places"], deprecated=True)},
        **{f"/a{n}": {"get": operation(f"a{n}")} for n in range(3)},
    }
    return document(paths)


async def test_a_document_of_too_many_operations_is_refused_and_says_how_to_choose() -> None:
    assert len((await read(harbour(), ReadLimits(operations=6))).tools) == 6
    with pytest.raises(TooManyOperationsError) as refused:
        await read(harbour(), ReadLimits(operations=5))
    assert "holds 6 operations, and a source may have 5 (FOOTPATH_SOURCE_TOOLS)" in str(refused.value)
    assert str(refused.value).endswith("Its largest tags: (none) (3), ships (2), berths (1), places (1)")


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        (OperationChoice(tags=("ships",)), ["listShips", "addShip"]),
        (OperationChoice(tags=("ships",), methods=("get",)), ["listShips"]),
        (OperationChoice(tags=("ships",), names=("a1",)), ["listShips", "addShip", "a1"]),
        (OperationChoice(paths=("/berths/",), names=("POST /ships",)), ["addShip", "getBerth"]),
        (OperationChoice(paths=("/berth",), tags=("",)), ["a0", "a1", "a2"]),
        (OperationChoice(methods=("POST",)), ["addShip"]),
    ],
)
async def test_chosen_operations_are_read(choice: OperationChoice, names: list[str]) -> None:
    found = await read(harbour(), ReadLimits(operations=3), operations=choice)
    assert [tool.api for tool in found.tools] == names


async def test_a_choice_that_is_too_large_or_takes_nothing_is_told() -> None:
    with pytest.raises(TooManyOperationsError, match="6 operations, 5 of them chosen, and a source may have 4"):
        await read(harbour(), ReadLimits(operations=4), operations=OperationChoice(methods=("GET",)))
    with pytest.raises(BrokenInputError, match="holds 6 operations, none of which is chosen"):
        await read(harbour(), operations=OperationChoice(tags=("Ships",)))


async def test_what_is_chosen_keeps_what_it_refers_to_in_paths_that_are_not() -> None:
    content = harbour()
    body = {"content": {"application/json": {"schema": {"type": "object", "properties": {"flag": {"type": "string"}}}}}}
    content["paths"]["/ships"]["post"]["requestBody"] = body
    content["paths"]["/a0"] = {"post": operation("a0", requestBody={"$ref": "#/paths/~1ships/post/requestBody"})}
    (tool,) = (await read(content, operations=OperationChoice(names=("a0",)))).tools
    assert [one.name for one in tool.parameters] == ["flag"]


async def test_an_outline_lists_operations_and_counts_tags() -> None:
    outline = await read_outline(orjson.dumps(harbour()), limits=ReadLimits(operations=1, outlined=4))
    assert (outline.title, outline.total) == ("Harbour", 6)
    assert [one.label for one in outline.operations] == ["listShips", "addShip", "getBerth", "a0"]
    assert outline.operations[2].deprecated
    assert [(one.tag, one.count) for one in outline.tags] == [("", 3), ("ships", 2), ("berths", 1), ("places", 1)]


async def test_an_outline_is_bounded_whatever_is_listed() -> None:
    paths = {f"/{n}" + "x" * 2000: {"get": operation(f"a{n}", tags=["t" * 199 + str(n)] * 30)} for n in range(3000)}
    outline = await read_outline(orjson.dumps(document(paths)), limits=ReadLimits(output=1_000_000))
    assert outline.total == 3000
    assert 100 < len(outline.operations) < 300
    with pytest.raises(BrokenInputError, match="no OpenAPI 3"):
        await read_outline(b"[1]")


async def test_a_document_that_does_not_say_where_it_is_called_is_told() -> None:
    given: list[Json] = [{"servers": []}, {"servers": [{"url": "/v1"}]}]
    for servers in given:
        content = document({"/items": {"get": operation("items")}}, **servers)
        found = await read_document(orjson.dumps(content), category="Ports", toolset="Harbour")
        assert [tool.url for tool in found.tools] == [""]
        assert [one.told for one in found.findings] == ["its document does not say where it is called"]
        assert found.findings[0].advice == "add servers to the document, or give the source an address (base_url)"
        placed = await read_document(
            orjson.dumps(content), category="Ports", toolset="Harbour", base_url="https://harbour.example"
        )
        assert (placed.findings, placed.tools[0].url.rpartition("/")[2]) == ((), "items")


def entangled(operations: int) -> bytes:
    """References that multiply twentyfold a level."""
    schemas = {
        f"s{n}": {
            "type": "object",
            "properties": {f"p{k}": {"$ref": f"#/components/schemas/s{n + 1}"} for k in range(20)},
        }
        for n in range(60)
    }
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/s0"}}}}
    paths = {f"/a{n}": {"post": operation(f"a{n}", requestBody=body)} for n in range(operations)}
    return orjson.dumps(document(paths, components={"schemas": {**schemas, "s60": {"type": "string"}}}))


async def test_the_answer_is_bounded() -> None:
    with pytest.raises(BrokenInputError, match="its tools come to more than"):
        await read(entangled(50), ReadLimits(output=100_000))


async def test_a_tool_is_bounded() -> None:
    found = await read(entangled(2), ReadLimits(tool=2_000))
    assert found.tools == ()
    assert "KiB that a tool may have" in found.skipped[0]


async def test_memory_is_bounded() -> None:
    """A list of small objects takes about 70 times its text."""
    data = b'{"openapi":"3.0.0","x":[' + b"{}," * 700_000 + b"1]}"
    with pytest.raises(BrokenInputError, match="MiB of memory"):
        await read(data, ReadLimits(memory=96 << 20))


async def test_computing_is_bounded() -> None:
    data = b"openapi: 3.0.0\nx:\n" + b"- {a: [1,2,{b: c}]}\n" * 200_000
    with pytest.raises(BrokenInputError, match="takes longer to read than the 1 s"):
        await read(data, ReadLimits(cpu=1))


async def test_a_reading_that_is_given_up_ends() -> None:
    task = asyncio.create_task(read(b"openapi: 3.0.0\nx:\n" + b"- {a: [1,2,{b: c}]}\n" * 200_000))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await read(document({"/a": {"get": operation("a")}}))).tools
