"""A backup that is made while a server runs and learns, and the server that is made of it."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Self

import pytest

from domain.event import RunFinished
from graph.backends.sqlite_graph import SqliteGraph
from server.storage.storage import open_storage
from tests.servers.postgres.databases import new_database
from tests.servers.postgres.server import PostgresServer
from tests.support import forked_commands
from tests.support.playground_process import running_playground
from tests.support.server_process import INHABITANTS, ROOT, WRITE, Client, Place, built, log_in, registered, serving
from wiring.settings import Settings, read_settings
from wiring.store_folder import StoreFolder

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with running_playground() as address:
        yield built(tmp_path_factory.mktemp("place"), address)


@pytest.fixture(params=["sqlite", "postgres"])
async def databases(request: pytest.FixtureRequest) -> AsyncIterator[tuple[dict[str, str], dict[str, str]]]:
    """The settings that say where the rows are, and where they are restored."""
    if request.param == "sqlite":
        yield {}, {}
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    async with new_database(server) as first, new_database(server) as second:
        yield {"FOOTPATH_DATABASE_URL": server.url(first)}, {"FOOTPATH_DATABASE_URL": server.url(second)}


def command(
    name: str, *arguments: object, home: Path, store: Path, **variables: str
) -> "subprocess.CompletedProcess[str]":
    settings = {"FOOTPATH_SERVER_HOME": str(home), "FOOTPATH_STORE": str(store), **variables}
    script = [sys.executable, str(ROOT / "scripts" / f"{name}.py"), *map(str, arguments)]
    environment = {**os.environ, **settings}
    return forked_commands.run(script, timeout=240, env=environment, cwd=home.parent)


async def learnt(store: Path) -> tuple[set[str], int]:
    """The runs that a store has learnt from, and how many calls that succeeded it counts."""
    graph = SqliteGraph(StoreFolder(store).graph)
    await graph.setup()
    runs = {key.removeprefix("run:") async for key in graph.stream_applied_keys() if key.startswith("run:")}
    calls = [facts.ok async for _, facts in graph.stream_nodes()]
    await graph.close()
    return runs, sum(calls)


async def value_of_key(settings: Settings) -> str | None:
    """What the user's key opens to."""
    async with open_storage(settings) as storage:
        (ada,) = await storage.users.list_page()
        return await storage.tool_keys.get_value(ada.id, "weather")


class Learning:
    """Somebody asks on and on, so that the store is written to all the time; ``done``: the runs that were answered."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._over = threading.Event()
        self.done: list[str] = []
        self._thread = threading.Thread(target=self._ask)

    def _ask(self) -> None:
        while not self._over.is_set():
            run = self._client.ask(INHABITANTS)[1]
            self._client.follow(run)
            self.done.append(run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(60)


def test_what_was_backed_up_under_way_serves_again(
    place: Place, tmp_path: Path, databases: tuple[dict[str, str], dict[str, str]]
) -> None:
    home, backup, keys = tmp_path / "home", tmp_path / "backup", tmp_path / "safe" / "vault.keys"
    rows, other = databases
    with serving(place, home, **rows) as (address, _):
        ada = registered(address)
        key = {"value": "a value", "hosts": ["weather.example"]}
        assert ada.call("PUT", "/me/tool-keys/weather", key).status_code in (200, 201)
        conversation, first = ada.ask(INHABITANTS)
        records = ada.follow(first)
        _, waiting = ada.ask(WRITE)
        ada.follow(waiting, until="input.needed")
        with Learning(ada) as learning:
            done = command("backup", backup, "--keys-to", keys, "--json", home=home, store=place.store, **rows)
            assert done.returncode == 0, done.stderr
        assert learning.done, "the store was written to meanwhile"
        told = json.loads(done.stdout)
        digest = told["digest"]
        assert told["learnt_meanwhile"] == 0
    files = {one.name for one in backup.iterdir()}
    assert files >= {"manifest.json", "store.jsonl.gz"}
    assert not any("vault" in one for one in files)
    assert keys.stat().st_mode & 0o777 == 0o600

    again = tmp_path / "again"
    restored = Place(place.playground, place.tools, tmp_path / "restored")
    refused = command("restore", backup, home=again, store=restored.store, **other)
    assert (refused.returncode, "keys" in refused.stderr) == (2, True), refused.stderr
    done = command("restore", backup, "--keys", keys, "--json", home=again, store=restored.store, **other)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ended"] >= 1
    once_more = command("restore", backup, "--keys", keys, home=again, store=restored.store, **other)
    assert (once_more.returncode, "not empty" in once_more.stderr) == (2, True), once_more.stderr
    anew = command("export_store", tmp_path / "e", "--recordings", "--json", home=again, store=restored.store)
    assert json.loads(anew.stdout)["digest"] == digest
    runs, calls = asyncio.run(learnt(restored.store))
    url = other.get("FOOTPATH_DATABASE_URL", "")
    assert asyncio.run(value_of_key(read_settings(server_home=again, database_url=url))) == "a value"
    with serving(restored, again, **other) as (address, _):
        assert ada.at(address).call("GET", "/me").status_code == 401
        ada = log_in(address)
        assert ada.follow(first) == records
        assert ada.call("GET", f"/conversations/{conversation}").status_code == 200
        (shown,) = ada.call("GET", "/me/tool-keys").json()
        assert shown["name"] == "weather"
        end = ada.follow(waiting)[-1].event
        assert isinstance(end, RunFinished)
        assert (end.outcome, end.error.partition(":")[0]) == ("failed", "restored")
        finished = [one["id"] for one in ada.call("GET", f"/conversations/{conversation}/runs").json()]
        assert set(finished) <= runs
        per_run = len([one for one in records if one.event.kind == "call.finished"])
        assert calls == per_run * len(runs)  # all that was learnt of a run, or nothing
        answered = ada.follow(ada.ask(INHABITANTS)[1])[-1].event
        assert isinstance(answered, RunFinished)
        assert answered.outcome == "answered"
