"""A server as a process over a playground, and somebody who is logged in there; for tests that stop and kill servers."""

import asyncio
import atexit
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, Any

import httpx

from domain.event import EventRecord, InputNeeded
from playground.record import CATALOGUE, DATA
from tests.support import forked_commands
from tests.support.forked_commands import Command
from wiring.settings import Settings
from wiring.store_build import BuildOptions, build

ROOT = Path(__file__).resolve().parents[2]
_NOWHERE = "http://127.0.0.1:8765"
"""Where the committed catalogue says that the playground is."""
PASSWORD = "correct horse battery"
WRITE = (
    'Put "Water the lemon tree" on my to-do list, please: it has to be done by 2026-07-23 and it\'s of high priority. '
    "Which id does the task get?"
)
INHABITANTS = "How many inhabitants does Meghalpet have?"


@dataclass(frozen=True)
class Place:
    """``playground``: where its ledger is. ``tools``: where its operations are called; the same, or a proxy in front of it."""

    playground: str
    tools: str
    store: Path


def catalogue_at(address: str) -> str:
    """The committed catalogue, of a playground that is there: as that would give it at ``/openapi.json``, which takes it a second."""
    return (DATA / CATALOGUE).read_text(encoding="utf-8").replace(_NOWHERE, address)


def built(folder: Path, playground: str, tools: str = "") -> Place:
    """A store of a running playground's catalogue and trajectories. It is built once for a process; later ones are copies in which the
    tools are called elsewhere, which is all that differs. The catalogue lies beside it.
    """
    store, tools = folder / "store", tools or playground
    (folder / CATALOGUE).write_text(catalogue_at(tools), encoding="utf-8")
    shutil.copytree(_template(), store)
    with closing(sqlite3.connect(store / "graph.db")) as rows, rows:
        rows.execute("UPDATE document SET body = replace(body, ?, ?)", (_NOWHERE, tools))
    return Place(playground, tools, store)


@cache
def _template() -> Path:
    """A store whose tools are called nowhere."""
    folder = Path(mkdtemp(prefix="footpath-template-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    store = folder / "store"
    options = BuildOptions(tools=(DATA / CATALOGUE,), trajectories=(DATA,), store=store)
    asyncio.run(build(options, lambda stage, done, total: None, Settings(store=store)))
    return store


@contextmanager
def serving(place: Place, home: Path, **variables: str) -> Generator[tuple[str, Command]]:
    """A server of a home; killed at the end."""
    chosen = {
        "FOOTPATH_SERVER_HOME": str(home),
        "FOOTPATH_STORE": str(place.store),
        "FOOTPATH_ALLOW_HOSTS": place.tools.removeprefix("http://"),
        "FOOTPATH_LEASE_SECONDS": "1",
        "PYTHONPATH": str(ROOT),
    }
    with started(chosen | variables, home.parent) as server:
        yield server


@contextmanager
def started(variables: Mapping[str, str], folder: Path, log: IO[str] | None = None) -> Generator[tuple[str, Command]]:
    """The server's program with these settings, and its address; killed at the end. What it tells goes to a log, if one is given."""
    command = [sys.executable, ROOT / "scripts" / "serve.py", "--port", "0"]
    process = forked_commands.start(
        command, cwd=folder, env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=log
    )
    assert process.stdout is not None
    try:
        name, _, address = process.stdout.readline().strip().partition(" ")
        assert name == "server:"
        yield address, process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


class Client:
    """Somebody who is logged in. ``address`` may change: a server that comes back has another port."""

    def __init__(self, address: str, token: str) -> None:
        self.address = address
        self._headers = {"Authorization": f"Bearer {token}"}

    def at(self, address: str) -> "Client":
        """The same user at another server of the same rows."""
        other = Client(address, "")
        other._headers = self._headers
        return other

    def call(self, method: str, path: str, body: Any = None) -> httpx.Response:
        url = f"{self.address}/api/v1{path}"
        return httpx.request(method, url, headers=self._headers, json=body, timeout=100, trust_env=False)

    def send(self, path: str, content: bytes) -> Any:
        """A file as the body; what was answered."""
        url = f"{self.address}/api/v1{path}"
        answer = httpx.post(url, headers=self._headers, content=content, timeout=100, trust_env=False)
        assert answer.is_success, answer.text
        return answer.json()

    def ask(self, request: str, **choices: Any) -> tuple[str, str]:
        """The ids of a new conversation and of a run in it. ``choices``: what else is said of the run; where rules decide, it walks if nothing else is said."""
        choices = choices if choices.get("policy") == "llm" else {"planner": "dfs", **choices}
        conversation = self.call("POST", "/conversations", {}).json()["id"]
        answer = self.call("POST", f"/conversations/{conversation}/runs", {"request": request, **choices})
        assert answer.status_code == 202, answer.text
        return conversation, answer.json()["id"]

    def follow(self, run: str, after: int = 0, until: int | str = "run.finished") -> list[EventRecord]:
        """The run's events after a number, up to one of a kind or a number."""
        records: list[EventRecord] = []
        headers = self._headers | ({"Last-Event-ID": str(after)} if after else {})
        url = f"{self.address}/api/v1/runs/{run}/events"
        with httpx.stream("GET", url, headers=headers, timeout=120, trust_env=False) as answer:
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            sent: dict[str, str] = {}
            for line in answer.iter_lines():
                name, _, value = line.partition(": ")
                sent |= {name: value} if name else {}
                if line or "data" not in sent:
                    continue
                record = EventRecord.model_validate_json(sent["data"])
                assert (sent["id"], sent["event"]) == (str(record.seq), record.event.kind)
                records.append(record)
                sent = {}
                if until in (record.seq, record.event.kind):
                    break
        return records


def registered(address: str, name: str = "ada") -> Client:
    body = {"name": name, "password": PASSWORD}
    answer = httpx.post(f"{address}/api/v1/auth/register", json=body, trust_env=False, timeout=100)
    assert answer.status_code == 201, answer.text
    return Client(address, answer.json()["access_token"])


def log_in(address: str, name: str = "ada") -> Client:
    """Log in to an account that is there."""
    body = {"name": name, "password": PASSWORD}
    answer = httpx.post(f"{address}/api/v1/auth/login", json=body, trust_env=False, timeout=100)
    assert answer.status_code == 200, answer.text
    return Client(address, answer.json()["access_token"])


def to_its_end(client: Client, place: Place, run: str) -> list[EventRecord]:
    """The run's events; of a change that was cut off, its user says what became of it as the playground's ledger tells."""
    records = client.follow(run, until="input.needed")
    while records[-1].event.kind != "run.finished":
        asked = records[-1].event
        if isinstance(asked, InputNeeded) and asked.asks == "unknown_outcome":
            decision = "happened" if effects(place) else "did_not_happen"
            client.call("POST", f"/runs/{run}/inputs/{asked.input}", {"decision": decision})
        records += client.follow(run, after=records[-1].seq, until="input.needed")
    return records


def effects(place: Place) -> list[dict[str, Any]]:
    return httpx.get(f"{place.playground}/_ledger", trust_env=False).json()


def reset(place: Place) -> None:
    """As if nothing had been changed yet."""
    httpx.post(f"{place.playground}/_reset", trust_env=False).raise_for_status()
