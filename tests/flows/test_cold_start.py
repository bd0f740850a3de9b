"""How everybody begins: one OpenAPI document, no trajectories. Every command has something sensible to say, and the first call teaches."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
STRING, NUMBER = {"type": "string"}, {"type": "integer"}
COPIES = {"type": "array", "items": {"type": "object", "properties": {"copyId": STRING, "due": STRING}}}
BOOK = {"type": "object", "properties": {"title": STRING, "copies": COPIES}}


def parameter(name: str, place: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": place, "required": True, "schema": schema}


def answer(schema: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"200": {"description": "ok", **({"content": {"application/json": {"schema": schema}}} if schema else {})}}


def document(server: str) -> dict[str, Any]:
    search = {"operationId": "searchBooks", "summary": "Search the catalogue of the library.", "responses": answer()}
    book = {"operationId": "getBook", "summary": "One book with its copies.", "responses": answer(BOOK)}
    reserve = {"operationId": "reserveCopy", "summary": "Reserve a copy.", "responses": answer()}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Library", "version": "1"},
        "servers": [{"url": server}],
        "security": [{"reader": []}],
        "components": {"securitySchemes": {"reader": {"type": "apiKey", "in": "header", "name": "x-reader"}}},
        "paths": {
            "/books": {"get": {**search, "security": [], "parameters": [parameter("q", "query", STRING)]}},
            "/books/{bookId}": {"get": {**book, "parameters": [parameter("bookId", "path", NUMBER)]}},
            "/copies/{copyId}": {"post": {**reserve, "parameters": [parameter("copyId", "path", STRING)]}},
        },
    }


class Library(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        found = {"found": [{"bookId": 7, "title": "Moby Dick", "author": "Herman Melville"}]}
        body = json.dumps(found).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Quiet."""


@pytest.fixture
def library() -> Generator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Library)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def command(script: str, *arguments: object, **settings: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, f"scripts/{script}", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "200", **settings}
    return subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100, check=False)


@pytest.mark.timeout(240)
def test_from_a_document_alone_to_what_its_first_call_taught(tmp_path: Path, library: str) -> None:
    path, store = tmp_path / "library.json", tmp_path / "store"
    path.write_text(json.dumps(document(f"http://{library}")))

    built = command("build_graph.py", "--tools", path, "--store", store, "--json")
    assert built.returncode == 0, built.stderr
    assert json.loads(built.stdout)["documents"] == {
        "responses": {"document": 1, "learnt": 0, "unknown": 2},
        "secrets": {"library_reader": 2},
        "callable": 3,
    }
    assert "known for 1 of 3 tools; the first calls tell the others" in built.stderr
    assert "FOOTPATH_SECRET_LIBRARY_READER_HOSTS" in built.stderr
    assert "trajectories" not in built.stderr

    misspelt = command("show_tool.py", "searchBok", "--store", store)
    assert misspelt.returncode == 2
    assert "searchBooks" in misspelt.stderr

    found = command("find_tools.py", "a book by its title", "--store", store, "--json")
    assert len(json.loads(found.stdout)["tools"]) == 3

    reserve = json.loads(command("show_tool.py", "reserveCopy", "--store", store, "--json").stdout)
    assert reserve["signature"] == "# CHANGES: Reserve a copy.\nasync def reserveCopy(copyId: str): ..."
    assert reserve["tokens"] == len(reserve["signature"]) // 4 + 1
    assert [feed["field"] for feed in reserve["fed_by"]] == ["copies[].copyId"]
    assert "never yet" in command("show_tool.py", "reserveCopy", "--store", store).stdout

    asked = command("ask.py", 'Search the catalogue for "Moby Dick"', "--store", store, FOOTPATH_ALLOW_HOSTS=library)
    assert asked.returncode == 0, asked.stderr

    learnt = json.loads(command("show_tool.py", "searchBooks", "--store", store, "--json").stdout)
    assert learnt["signature"].endswith("-> {'found':list[{'bookId':int,'title':str,'author':str}]}: ...")
    assert [(feed["field"], feed["parameter"]) for feed in learnt["feeds"]] == [("found[].bookId", "bookId")]
    assert "Melville" not in json.dumps(learnt["document"])

    again = command("build_graph.py", "--tools", path, "--store", store, "--json")
    assert json.loads(again.stdout)["documents"]["responses"] == {"document": 1, "learnt": 1, "unknown": 1}
