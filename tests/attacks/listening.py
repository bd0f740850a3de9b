"""An address of this machine that notes what it is asked, for tests of who is called and who is not."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Listener:
    """``asked``: method and path of each request, in order."""

    address: str
    asked: list[str] = field(default_factory=list[str])

    @property
    def host(self) -> str:
        """``host:port``, as settings name it."""
        return self.address.removeprefix("http://")


@contextmanager
def listening(answer: bytes = b'{"done": true}') -> Generator[Listener]:
    """Answers every request with ``answer``, as JSON."""
    listener = Listener("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            listener.asked.append(f"{self.command} {self.path}")
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815 - http.server's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield listener
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
