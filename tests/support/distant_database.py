"""A server whose PostgreSQL is far away, and what is asked of it to count round trips and seconds."""

import asyncio
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from server.storage.migration import migrate
from tests.servers.postgres.databases import new_database
from tests.servers.postgres.server import PostgresServer
from tests.support.delaying_proxy import Delay, delayed
from tests.support.server_process import INHABITANTS, PASSWORD, Client, Place, registered, serving

_POLLED = (
    "SELECT jobs.id",
    "EXISTS (SELECT runs.id",
    "SELECT runs.id, runs.cancel_why",
    "UPDATE runs SET lease_until",
    "SELECT sessions.id, users.role",
    "FROM waiting_lessons",
    "FROM sources",
    "UPDATE sources",
)
"""What a server asks again and again, whatever its users do."""


def _executed(requests: Sequence[bytes]) -> Iterator[str]:
    """Yield the beginning of each statement that was executed, out of the messages of PostgreSQL's protocol (Parse, Bind, Query)."""
    prepared: dict[bytes, str] = {}
    for request in requests:
        kind, parts = request[:1], request[5:].split(b"\0", 2)
        if kind == b"P":
            prepared[parts[0]] = parts[1].decode(errors="replace")
        elif kind == b"B":
            yield prepared.get(parts[1], "unknown")
        elif kind == b"Q":
            yield parts[0].decode(errors="replace")


@dataclass
class DistantServer:
    """One server, and somebody who is logged in there."""

    client: Client
    traffic: Delay
    start: tuple[int, float]
    """Round trips and seconds from the start of the process to its first line."""

    def measure(self, work: Callable[[], object]) -> tuple[int, float]:
        """Return the round trips and the seconds that something takes, those of the server's own polling included."""
        self.traffic.reset()
        began = time.perf_counter()
        work()
        return len(self.traffic.requests), time.perf_counter() - began

    def list_statements(self, work: Callable[[], object]) -> list[str]:
        """Return the statements that something has executed, each one round trip, without those of polling.

        A statement that is new to a connection takes a round trip more to be prepared, once; it is left out, since it rests on what was done before.
        """
        before = len(list(_executed(self.traffic.requests)))
        work()
        statements = list(_executed(self.traffic.requests))[before:]
        return [one for one in statements if not any(part in one for part in _POLLED)]

    def log_in(self) -> None:
        answer = self.client.call("POST", "/auth/login", {"name": "ada", "password": PASSWORD})
        assert answer.status_code == 200, answer.text

    def get(self, path: str) -> None:
        answer = self.client.call("GET", path)
        assert answer.status_code == 200, answer.text

    def ask(self, conversation: str) -> str:
        """Return the id of a new run."""
        body = {"request": INHABITANTS}
        answer = self.client.call("POST", f"/conversations/{conversation}/runs", body)
        assert answer.status_code == 202, answer.text
        return answer.json()["id"]

    def new_conversation(self) -> str:
        return self.client.call("POST", "/conversations", {}).json()["id"]

    def run(self) -> str:
        """Ask in a new conversation, follow the run to its end, and return its id."""
        asked = self.ask(self.new_conversation())
        end = self.client.follow(asked)[-1].event
        assert end.kind == "run.finished"
        assert end.outcome == "answered"
        return asked


@contextmanager
def serving_at_distance(
    server: PostgresServer, place: Place, home: Path, delay: float = 0.0
) -> Generator[DistantServer]:
    """A server with an empty database, ``delay`` seconds away, one way. The solution of its user's request is known."""
    database = new_database(server)
    with asyncio.Runner() as runner:
        name = runner.run(database.__aenter__())
        try:
            runner.run(migrate(server.url(name)))
            with delayed(server.port, delay) as traffic:
                url = server.url(name).replace(f":{server.port}/", f":{traffic.port}/")
                began = time.perf_counter()
                variables = {"FOOTPATH_LEASE_SECONDS": "15", "FOOTPATH_USER_RUNS": "100"}
                with serving(place, home, FOOTPATH_DATABASE_URL=url, **variables) as (address, _):
                    start = len(traffic.requests), time.perf_counter() - began
                    distant = DistantServer(registered(address), traffic, start)
                    distant.run()
                    yield distant
        finally:
            runner.run(database.__aexit__(None, None, None))
