"""A real FastAPI server: its own document is imported, and its operations are called over loopback."""

import json
import socket
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Annotated, Any
from urllib.request import urlopen

import pytest
import uvicorn
from fastapi import Body, Cookie, FastAPI, File, Form, Query, Request, UploadFile
from pydantic import BaseModel, ConfigDict
from pydantic.types import JsonValue

from agent.execution.http import HttpExecutor, HttpParameters
from agent.execution.validation import validate_arguments
from domain.errors import InvalidArgumentsError
from domain.model import JsonObject
from domain.tool import ToolDoc
from graph.importers.openapi import read_openapi

PNG = "data:image/png;name=dot.png;base64,iVBORw0KGgo="


class Search(BaseModel):
    limit: int = 10
    words: list[str] | None = None


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


def application() -> FastAPI:  # noqa: C901  an operation each
    app = FastAPI(title="Shelf")

    def operation_id(name: str) -> Any:
        return {"operation_id": name, "name": name}

    async def told(file: UploadFile) -> list[JsonValue]:
        return [file.filename, file.content_type, len(await file.read())]

    @app.post("/one", **operation_id("one"))
    async def one(file: UploadFile) -> list[JsonValue]:
        return await told(file)

    @app.post("/bytes", **operation_id("raw_bytes"))
    async def raw_bytes(file: Annotated[bytes, File()]) -> int:
        return len(file)

    @app.post("/many", **operation_id("many"))
    async def many(files: list[UploadFile]) -> list[list[JsonValue]]:
        return [await told(file) for file in files]

    @app.post("/mixed", **operation_id("mixed"))
    async def mixed(
        file: UploadFile,
        title: Annotated[str, Form()],
        tags: Annotated[list[str], Form()],
        extra: UploadFile | None = None,
    ) -> dict[str, JsonValue]:
        return {"file": await told(file), "title": title, "tags": [*tags], "extra": extra and await told(extra)}

    @app.post("/form", **operation_id("form"))
    async def form(
        name: Annotated[str, Form()], tags: Annotated[list[str] | None, Form()] = None
    ) -> dict[str, JsonValue]:
        return {"name": name, "tags": [*(tags or [])]}

    @app.post("/search", **operation_id("search"))
    async def search(search: Search) -> Search:
        return search

    @app.post("/open", **operation_id("open_fields"))
    async def open_fields(given: Open) -> dict[str, JsonValue]:
        return given.model_dump()

    @app.post("/embedded", **operation_id("embedded"))
    async def embedded(first: Search, second: Annotated[int, Body()]) -> dict[str, JsonValue]:
        return {"limit": first.limit, "second": second}

    @app.post("/numbers", **operation_id("numbers"))
    async def numbers(values: list[int]) -> int:
        return sum(values)

    raw = {"requestBody": {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}}

    @app.put("/raw/{name}", **operation_id("raw_body"), openapi_extra=raw)
    async def raw_body(name: str, request: Request) -> list[JsonValue]:
        return [name, request.headers["content-type"], (await request.body()).hex()]

    @app.get("/list", **operation_id("listed"))
    async def listed(
        request: Request, tags: Annotated[list[str], Query()], page: int = 1, session: Annotated[str, Cookie()] = ""
    ) -> dict[str, JsonValue]:
        return {"tags": [*tags], "page": page, "session": session}

    joined = {
        "parameters": [
            {"name": "tags", "in": "query", "explode": False, "schema": {"type": "array", "items": {"type": "string"}}}
        ]
    }

    @app.get("/joined", **operation_id("joined"), openapi_extra=joined)
    async def joined_list(request: Request) -> str:
        return request.url.query

    @app.get("/files/{name}", **operation_id("named"))
    async def named(name: str, request: Request) -> list[str]:
        return [name, request.scope["raw_path"].decode()]

    @app.get("/slash/", **operation_id("slash"))
    async def slash(q: str = "") -> list[str]:
        return ["arrived", q]

    @app.post("/slash/", **operation_id("slash_write"))
    async def slash_write(search: Search) -> int:
        return search.limit

    return app


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(application(), log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(10)
    listening.close()


@pytest.fixture(scope="module")
def tools(address: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, ToolDoc]:
    with urlopen(f"{address}/openapi.json") as answer:
        document = answer.read()
    path: Path = tmp_path_factory.mktemp("fastapi") / "openapi.json"
    path.write_bytes(document)
    return {doc.api: doc for doc in read_openapi(path, server=address)}


async def call(address: str, doc: ToolDoc, arguments: JsonObject) -> JsonValue:
    made = HttpExecutor(HttpParameters(timeout=20, allow_hosts=frozenset({address.removeprefix("http://")})))
    try:
        result = await made.call(doc, validate_arguments(doc, arguments))
    finally:
        await made.close()
    assert (result.outcome, result.http_status) == ("ok", 200), (result.note, result.body)
    return json.loads(result.body)


OCTETS = "application/octet-stream"
CALLS: list[tuple[str, JsonObject, JsonValue]] = [
    ("one", {"file": "text"}, ["file", OCTETS, 4]),
    ("one", {"file": PNG}, ["dot.png", "image/png", 8]),
    ("raw_bytes", {"file": "é"}, 2),
    ("many", {"files": ["one", PNG]}, [["files-1", OCTETS, 3], ["dot.png", "image/png", 8]]),
    (
        "mixed",
        {"file": "f", "title": "T & co", "tags": ["a", "b,c"], "extra": "x"},
        {"file": ["file", OCTETS, 1], "title": "T & co", "tags": ["a", "b,c"], "extra": ["extra", OCTETS, 1]},
    ),
    (
        "mixed",
        {"file": "f", "title": "t", "tags": ["a"]},
        {"file": ["file", OCTETS, 1], "title": "t", "tags": ["a"], "extra": None},
    ),
    ("form", {"name": "a b&c=+%"}, {"name": "a b&c=+%", "tags": []}),
    ("form", {"name": "n", "tags": ["x,y", "é"]}, {"name": "n", "tags": ["x,y", "é"]}),
    ("search", {}, {"limit": 10, "words": None}),
    ("search", {"limit": 3, "words": ["a"]}, {"limit": 3, "words": ["a"]}),
    ("open_fields", {"name": "n", "additional_fields": {"x": [1]}}, {"name": "n", "x": [1]}),
    ("embedded", {"first": {}, "second": 2}, {"limit": 10, "second": 2}),
    ("numbers", {"body": [1, 2]}, 3),
    ("raw_body", {"name": "a.tar.gz", "body": "data:application/gzip;base64,H4s="}, ["a.tar.gz", OCTETS, "1f8b"]),
    ("raw_body", {"name": "é x", "body": ""}, ["é x", OCTETS, ""]),
    (
        "listed",
        {"tags": ["a,b", "c d"], "page": 2, "session": "s"},
        {"tags": ["a,b", "c d"], "page": 2, "session": "s"},
    ),
    ("joined", {"tags": ["red", "a,b"]}, "tags=red,a%2Cb"),
    ("named", {"name": "left.pad-1.2.3"}, ["left.pad-1.2.3", "/files/left.pad-1.2.3"]),
    ("slash", {"q": "x y"}, ["arrived", "x y"]),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), CALLS)
async def test_what_arrives_at_a_fastapi_server(
    address: str, tools: dict[str, ToolDoc], name: str, arguments: JsonObject, expected: JsonValue
) -> None:
    assert await call(address, tools[name], arguments) == expected


async def test_a_read_without_its_slash_arrives_and_a_write_says_what_to_correct(
    address: str, tools: dict[str, ToolDoc]
) -> None:
    doc = tools["slash"].model_copy(update={"url": tools["slash"].url.rstrip("/")})
    assert await call(address, doc, {"q": "x y"}) == ["arrived", "x y"]
    made = HttpExecutor(HttpParameters(timeout=20, allow_hosts=frozenset({address.removeprefix("http://")})))
    write = tools["slash_write"].model_copy(update={"url": tools["slash_write"].url.rstrip("/")})
    result = await made.call(write, {"limit": 1})
    await made.close()
    assert result.http_status == 307
    assert "add a slash at the end of the path in the tool's document" in result.note


def test_an_upload_is_not_called_without_its_file(tools: dict[str, ToolDoc]) -> None:
    for name in ("one", "many", "raw_body"):
        with pytest.raises(InvalidArgumentsError, match=r"file|body"):
            validate_arguments(tools[name], {"name": "x"} if name == "raw_body" else {})
