"""``build --tools ADDRESS``: fetched through the guard, its servers relative to where it was fetched from."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from domain.errors import BrokenInputError, FootpathError, ForbiddenAddressError, UnavailableError
from domain.tool import ToolDoc
from footpath import AsyncFootpath
from tests.support import forked_commands
from tests.support.scripted_http_server import Answer, reply, serving
from wiring.container import open_container
from wiring.settings import Settings
from wiring.store_build import BuildOptions, build

ROOT = Path(__file__).parents[2]
GET: dict[str, Any] = {"get": {"operationId": "ships", "responses": {"200": {"description": "ok"}}}}


def document(**given: Any) -> bytes:
    return json.dumps(
        {"openapi": "3.1.0", "info": {"title": "Harbour", "version": "1"}, "paths": {"/ships": GET}, **given}
    ).encode()


async def tools_of(folder: Path, source: str, port: int, server: str = "") -> list[ToolDoc]:
    settings = Settings(allow_hosts=frozenset({f"127.0.0.1:{port}"}))
    options = BuildOptions(tools=(source,), store=folder / "store", embed=False, server=server)
    _, summary = await build(options, lambda stage, done, total: None, settings)
    assert summary["skipped"] == 0
    async with open_container(settings, folder / "store") as container:
        return [doc async for doc in container.graph.stream_documents()]


@pytest.mark.parametrize(
    ("given", "server", "path"),
    [
        ({"servers": [{"url": "v2"}]}, "", "/api/v2/ships"),
        ({"servers": [{"url": "/v2"}]}, "", "/v2/ships"),
        ({}, "", "/ships"),
        ({"servers": [{"url": "v2"}]}, "https://harbour.example/base/", "https://harbour.example/base/v2/ships"),
    ],
)
async def test_relative_servers_are_where_the_document_is(
    tmp_path: Path, given: Mapping[str, Any], server: str, path: str
) -> None:
    async with serving(reply(body=document(**given))) as served:
        (doc,) = await tools_of(tmp_path, f"{served.url}/api/openapi.json?v=1", served.port, server)
        assert doc.url == (path if server else served.url + path)
        assert served.requests[0].startswith(b"GET /api/openapi.json?v=1 HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("docs", document()),
        ("openapi.yaml", b"openapi: 3.1.0\ninfo: {title: Harbour, version: '1'}\npaths: {/ships: {get: {operationId: ships, responses: {}}}}\n"),
        ("docs/", b"openapi: 3.1.0\ninfo: {title: Harbour, version: '1'}\npaths: {/ships: {get: {operationId: ships, responses: {}}}}\n"),
        ("tools", b'{"category": "a", "tool_name": "b", "api_name": "ships", "function": "ships"}\n{"category": "a", "tool_name": "b", "api_name": "c", "function": "c"}\n'),
        ("G1_query.json", b'[{"query": "q", "api_list": [{"category_name": "a", "tool_name": "b", "api_name": "ships"}]}]'),
    ],
)  # fmt: skip
async def test_its_content_tells_what_it_is(tmp_path: Path, name: str, content: bytes) -> None:
    async with serving(reply(body=content)) as served:
        assert "ships" in [doc.api for doc in await tools_of(tmp_path, f"{served.url}/{name}", served.port)]


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (reply("404 Not Found"), UnavailableError, "HTTP 404"),
        (reply("405 Method Not Allowed"), UnavailableError, "add it as a source"),
        (reply("302 Found", b"", location="http://169.254.169.254/"), ForbiddenAddressError, "not a public address"),
        (
            reply(body=b"event: endpoint\n\n", content_type="text/event-stream"),
            BrokenInputError,
            "the former transport",
        ),
    ],
)
async def test_what_cannot_be_fetched_makes_no_store(
    tmp_path: Path, answer: Answer, error: type[FootpathError], words: str
) -> None:
    async with serving(answer) as served:
        with pytest.raises(error, match=words):
            await tools_of(tmp_path, f"{served.url}/openapi.json", served.port)
    assert not (tmp_path / "store").exists()


async def test_an_address_inside_is_refused_unless_it_is_allowed(tmp_path: Path) -> None:
    async with serving(reply(body=document())) as served:
        with pytest.raises(ForbiddenAddressError, match="not a public address"):
            await AsyncFootpath.build(tmp_path / "store", [f"{served.url}/openapi.json"])
        assert served.requests == []


async def test_the_command_takes_it_and_names_it_in_what_it_skips(tmp_path: Path) -> None:
    broken = document(
        paths={"/ships": GET, "/crew": {"get": {"parameters": [{"name": "a", "in": "body", "required": True}]}}}
    )
    async with serving(reply(body=broken)) as served:
        address = f"{served.url}/openapi.json"
        command = [
            sys.executable,
            str(ROOT / "scripts" / "build_graph.py"),
            "--tools",
            address,
            "--store",
            str(tmp_path / "s"),
        ]
        environment = {"PATH": os.environ["PATH"], "FOOTPATH_ALLOW_HOSTS": f"127.0.0.1:{served.port}", "COLUMNS": "200"}
        made = await asyncio.to_thread(forked_commands.run, command, env=environment, timeout=120)
    assert made.returncode == 1, made.stderr
    assert f"skipped {address}: GET /crew is not imported" in made.stderr
    assert "footpath-fetched" not in made.stderr
