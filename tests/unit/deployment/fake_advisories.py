"""A fake advisory service that speaks OSV's protocol over HTTP: it knows what a test tells it, and whom it was asked about."""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


def hole(name: str, fixed: str) -> dict[str, Any]:
    """An advisory as OSV writes it."""
    ranges = [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": fixed}]}]
    affected = [{"package": {"name": name, "ecosystem": "PyPI"}, "ranges": ranges}]
    return {"id": "GHSA-made-up", "schema_version": "1.7.0", "summary": "made up for a test", "affected": affected}


@contextmanager
def fake_advisories(known: Mapping[str, Any], status: int = 200) -> Generator[tuple[str, list[tuple[str, str]]]]:
    """Its address, and the names and versions that it was asked about. ``known``: the advisory of a package."""
    asked: list[tuple[str, str]] = []

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            name = body["package"]["name"]
            asked.append((name, body["version"]))
            answer = json.dumps({"vulns": [known[name]]} if name in known else {}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1/query", asked
        finally:
            server.shutdown()
            thread.join()
