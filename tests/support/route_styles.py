"""Hosts on real sockets that answer a missing route and a missing thing as frameworks and gateways do."""

import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from uuid import uuid4

from domain.tool import Credential, Parameter, ToolDoc, make_tool_id

KEY = "right-key"
SHIPS = ("anna", "bertha")
KINDS = ("ships", "ports", "crews", "cargo")
Reply = tuple[int, str, str]
"""Status, media type, body."""
_NGINX = "<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n<center><h1>404 Not Found</h1></center>\r\n<hr><center>nginx/1.25.3</center>\r\n</body>\r\n</html>"
_APP = "<!doctype html><html><head><title>Harbour</title></head><body><div id=app>Loading the harbour, please wait a moment</div></body></html>"


def _json(status: int, content: object) -> Reply:
    return status, "application/json", json.dumps(content)


def _cannot(method: str, path: str) -> Reply:
    body = f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Error</title>\n</head>\n<body>\n<pre>Cannot {method} {path}</pre>\n</body>\n</html>\n'
    return 404, "text/html; charset=utf-8", body


def _spring(_: str, path: str) -> Reply:
    now = datetime.now(UTC).isoformat()
    return _json(404, {"timestamp": now, "status": 404, "error": "Not Found", "path": path})


@dataclass(frozen=True)
class Style:
    """``no_route``, ``no_thing``: the answers, by method and path. ``options``: those to OPTIONS of a route, and of none; None: as to GET."""

    name: str
    no_route: Callable[[str, str], Reply]
    no_thing: Callable[[str, str], Reply]
    options: Reply | None = None
    no_options: Reply | None = None
    needs_key: bool = False


_DETAIL = _json(404, {"detail": "Not Found"})
_METHOD = _json(405, {"detail": "Method Not Allowed"})
STYLES = (
    Style("fastapi", lambda m, p: _DETAIL, lambda m, p: _DETAIL, options=_METHOD),
    Style("express", _cannot, lambda m, p: _json(404, {"error": "no such ship"}), options=(200, "text/html", "GET,HEAD")),
    Style("express that falls through", _cannot, _cannot, options=(200, "text/html", "GET,HEAD")),
    Style("nginx", lambda m, p: (404, "text/html", _NGINX), lambda m, p: _json(404, {"message": f"no {p.split('/')[-1]} here"}),
          options=(405, "text/html", _NGINX), no_options=(405, "text/html", _NGINX)),
    Style("json with codes", lambda m, p: _json(404, {"error": {"code": "ROUTE_NOT_FOUND", "id": str(uuid4()), "message": f"no route {p}"}}),
          lambda m, p: _json(404, {"error": {"code": "SHIP_NOT_FOUND", "id": str(uuid4()), "message": "no such ship"}})),
    Style("spring", _spring, _spring, options=(200, "text/plain", "GET,HEAD,OPTIONS")),
    Style("guarded", lambda m, p: _json(404, {"message": "not found"}), lambda m, p: _json(404, {"message": "not found"}), needs_key=True),
    Style("catch-all page", lambda m, p: (200, "text/html", _APP), lambda m, p: _json(404, {"error": "no such ship"})),
    Style("one page for both", lambda m, p: (404, "text/html", _NGINX), lambda m, p: (404, "text/html", _NGINX)),
)  # fmt: skip


@dataclass
class RouteHost:
    """``asked``: method and path of each request, with whether a key came along."""

    address: str
    style: Style
    asked: list[tuple[str, str, bool]] = field(default_factory=list[tuple[str, str, bool]])

    def tool(self, kind: str = "ships", *, wrong: bool = False) -> ToolDoc:
        """The tool that reads one thing of a kind. ``wrong``: by a path that is not there."""
        key = Credential(secret="harbour", place="header", name="X-Api-Key")
        return ToolDoc(
            id=make_tool_id("Ports", "Harbour", f"get_{kind}"), category="Ports", toolset="Harbour", api=f"get_{kind}", function=f"get_{kind}",
            method="GET", url=f"{self.address}/v1/{'old-' if wrong else ''}{kind}/{{name}}",
            parameters=(Parameter(name="name", location="path", required=True),), credentials=(key,) if self.style.needs_key else (),
        )  # fmt: skip


@contextmanager
def route_host(style: Style) -> Generator[RouteHost]:
    """The host, running until the end of the block."""
    host = RouteHost("", style)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _reply(self) -> None:
            path, key = self.path.partition("?")[0], self.headers.get("X-Api-Key")
            host.asked.append((self.command, self.path, key is not None))
            status, media, body = self._of(path, key)
            self.send_response(status)
            self.send_header("Content-Type", media)
            if self.command == "OPTIONS" and status == 200:
                self.send_header("Allow", body)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body.encode())

        do_GET = do_POST = do_HEAD = do_OPTIONS = _reply  # noqa: N815  the base class's names

        def _of(self, path: str, key: str | None) -> Reply:
            if style.needs_key and key != KEY:
                return _json(401, {"message": "give a key"})
            parts = path.split("/")
            there = len(parts) == 4 and parts[1] == "v1" and parts[2] in KINDS
            if self.command == "OPTIONS" and (asked := style.options if there else style.no_options):
                return asked
            if not there:
                return style.no_route(self.command, self.path)
            if parts[3] not in SHIPS:
                return style.no_thing(self.command, path)
            return _json(200, {"name": parts[3], "length": 80})

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's
            """Nothing: tests look at ``asked``."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    host.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
