"""A tool server of a stranger, on a real socket: it refuses keys, asks for endless pauses, plants cookies, and answers a write nested without end."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

RIGHT, SPENT = "right-key", "spent-key"
ENDLESS = "999999999999"
DEEP = '{"note_id": "n-1", "deep": ' + "[" * 10_000 + "]" * 10_000 + "}"


@dataclass
class Tools:
    """``requests``: what came, each with its path and headers. ``notes``: how many were made."""

    address: str
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list[tuple[str, dict[str, str]]])
    notes: int = 0

    @property
    def document(self) -> dict[str, Any]:
        """What the server says of itself: an OpenAPI document."""
        key: list[dict[str, list[str]]] = [{"key": []}]
        symbol = {"name": "symbol", "in": "query", "required": True, "schema": {"type": "string"}}
        text = {"required": True, "content": {"application/json": {"schema": _object("text")}}}
        answer = {"200": {"description": "ok", "content": {"application/json": {"schema": _object("symbol", "price")}}}}
        return {
            "openapi": "3.0.3",
            "info": {"title": "Bourse", "version": "1"},
            "servers": [{"url": self.address}],
            "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"}}},
            "paths": {
                "/quote": {"get": {"operationId": "get_stock_price", "summary": "Price of a stock by its symbol",
                                   "parameters": [{**symbol, "description": "Symbol of the stock"}], "security": key, "responses": answer}},
                "/notes": {"post": {"operationId": "create_note", "summary": "Create a note with a text", "requestBody": text,
                                    "responses": {"201": {"description": "made"}}}},
            },
        }  # fmt: skip


def _object(*names: str) -> dict[str, Any]:
    properties = {name: {"type": "string", "description": f"The {name}"} for name in names}
    return {"type": "object", "properties": properties, "required": list(names)}


@contextmanager
def hostile_tools() -> Generator[Tools]:
    """The server, running until the end of the block."""
    tools = Tools("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            tools.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            symbol = self.path.rpartition("=")[2]
            given = self.headers.get("X-Api-Key", "")
            if given == SPENT:
                self._answer(429, '{"message": "quota used up"}', **{"Retry-After": ENDLESS})
            elif given != RIGHT:
                self._answer(403, '{"message": "no"}')
            elif symbol != "ACME":
                self._answer(404, '{"message": "no such symbol"}')
            else:
                self._answer(200, json.dumps({"symbol": symbol, "price": "42.5"}))

        def do_POST(self) -> None:
            tools.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            tools.notes += 1
            self._answer(201, DEEP)

        def _answer(self, status: int, body: str, **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Set-Cookie", "planted=yes; Path=/")
            self.send_header("Set-Cookie", "wide=yes; Domain=localhost; Path=/")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class's
            """Nothing: the test looks at what came."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    tools.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield tools
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
