"""Small services on sockets of their own, each with an OpenAPI document, and a store that has been told of them."""

import asyncio
import json
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from domain.event import InputNeeded
from domain.tool import ToolId, make_tool_id
from tests.support.server_process import ROOT, Client, started
from wiring.settings import Settings
from wiring.store_build import BuildOptions, build


@dataclass(frozen=True)
class Operation:
    """``parameters``: name to JSON type, in the query of a GET and in the body of a POST. ``answer``: what it gives, whatever it is asked."""

    name: str
    summary: str
    parameters: dict[str, str]
    answer: Any
    method: str = "GET"

    def documented(self) -> dict[str, Any]:
        """As OpenAPI describes it."""
        told: dict[str, Any] = {"operationId": self.name, "summary": self.summary}
        if self.method == "GET":
            told["parameters"] = [
                {"name": name, "in": "query", "required": True, "schema": {"type": kind}}
                for name, kind in self.parameters.items()
            ]
        elif self.parameters:
            fields = {name: {"type": kind} for name, kind in self.parameters.items()}
            schema = {"type": "object", "properties": fields, "required": list(fields)}
            told["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
        example = {"application/json": {"example": self.answer}}
        return told | {"responses": {"200": {"description": "Done.", "content": example}}}


@dataclass
class Service:
    """``asked``: path with its query, and body, of every request that came, in order. ``instead``: by operation, the status and text that are
    answered in place of what the operation gives.
    """

    title: str
    operations: Sequence[Operation]
    port: int = 0
    asked: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    instead: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def tool(self, operation: str) -> ToolId:
        """The id that an import gives it."""
        return make_tool_id(self.title, self.title, operation)

    def asked_of(self, operation: str) -> list[tuple[str, Any]]:
        """What came for one operation."""
        return [one for one in self.asked if urlsplit(one[0]).path == f"/{operation}"]

    def document(self, folder: Path) -> Path:
        """Its OpenAPI document, as a file named after it."""
        paths = {f"/{one.name}": {one.method.lower(): one.documented()} for one in self.operations}
        told = {
            "openapi": "3.0.3",
            "info": {"title": self.title, "version": "1"},
            "servers": [{"url": f"http://{self.host}"}],
            "paths": paths,
        }
        file = folder / f"{self.title}.json"
        file.write_text(json.dumps(told), encoding="utf-8")
        return file


@contextmanager
def running(*services: Service) -> Generator[None]:
    """Each on a port of its own, answered by threads."""
    with ExitStack() as stack:
        for service in services:
            server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(service))
            service.port = server.server_port
            thread = threading.Thread(target=server.serve_forever, daemon=True)
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
        yield


def _handler(service: Service) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length") or 0))
            service.asked.append((self.path, json.loads(sent) if sent else None))
            called = urlsplit(self.path).path.removeprefix("/")
            answer = next((one.answer for one in service.operations if one.name == called), None)
            status, text = service.instead.get(called, (404 if answer is None else 200, json.dumps(answer)))
            body = text.encode(errors="surrogatepass")
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815  # http.server's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # http.server's name
            """Nothing is printed."""

    return Handler


def told_of(store: Path, *services: Service) -> Path:
    """A store that has these services' tools, in place of those of the same names that it had."""
    files = tuple(service.document(store.parent) for service in services)
    options = BuildOptions(tools=files, store=store, replace=True)
    asyncio.run(build(options, lambda stage, done, total: None, Settings(store=store)))
    return store


@contextmanager
def serving(store: Path, home: Path, *services: Service, **more: str) -> Generator[str]:
    """The address of the server's process, which may call these services."""
    chosen = {
        "FOOTPATH_SERVER_HOME": str(home),
        "FOOTPATH_STORE": str(store),
        "FOOTPATH_ALLOW_HOSTS": ",".join(service.host for service in services),
        "PYTHONPATH": str(ROOT),
    }
    with started(chosen | more, home.parent) as (address, _):
        yield address


def question_of(client: Client, run: str) -> InputNeeded:
    """What a run asks, once it waits; it fails where the run ends without asking."""
    asked = client.follow(run, until="input.needed")[-1].event
    assert isinstance(asked, InputNeeded), asked
    until = time.monotonic() + 20
    while client.call("GET", f"/runs/{run}").json()["status"] != "waiting":
        assert time.monotonic() < until
        time.sleep(0.05)
    return asked


def decided(client: Client, run: str, question: InputNeeded, decision: str, *, always: bool = False) -> str:
    """Say what is to be done; the run's outcome."""
    body = {"decision": decision, "always": always}
    answer = client.call("POST", f"/runs/{run}/inputs/{question.input}", body)
    assert answer.status_code == 200, answer.text
    return outcome_of(client, run)


def outcome_of(client: Client, run: str) -> str:
    """How a run ended that asks nothing more."""
    last = client.follow(run)[-1].event
    assert last.kind == "run.finished"
    return last.outcome
