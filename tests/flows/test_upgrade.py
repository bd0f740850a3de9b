"""What the program of commit 4f1214fe wrote is opened by this one: stores, rows, exports and backups, on files and on servers."""

import asyncio
import gzip
import json
import lzma
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, LiteralString, cast
from urllib.parse import quote

import httpx
import pytest
from sqlalchemy import NullPool
from sqlalchemy.ext.asyncio import create_async_engine

from domain.event import CallFinished, EventRecord, InputNeeded, RunFinished
from server.storage.storage import open_storage
from tests.flows.test_server_approvals import stands
from tests.servers.downloads import locked_folder
from tests.servers.neo4j.server import Neo4jServer
from tests.servers.postgres.databases import new_database
from tests.servers.postgres.server import PostgresServer
from tests.servers.qdrant.server import QdrantServer
from tests.support import forked_commands
from tests.support.archives import unpack
from tests.support.playground_process import running_playground
from tests.support.server_process import INHABITANTS, ROOT, WRITE, Client, Place, effects, log_in, reset, serving
from wiring.settings import read_settings

pytestmark = pytest.mark.timeout(600)
DATA = Path(__file__).parents[1] / "data" / "written_by_4f1214fe"
KNOWN: dict[str, Any] = json.loads((DATA / "known.json").read_text(encoding="utf-8"))
PORT: int = KNOWN["port"]
"""Where the playground was whose tools the old program called; addresses stand in documents, events and fingerprints."""
WARM = "How warm is it in a town at the moment?"
SOLUTIONS = {"How many inhabitants does {city} have?", 'Who wrote "{title}"?'}


@pytest.fixture(scope="module")
def playground() -> Iterator[str]:
    """The playground where it was; one test process of a machine at a time."""
    with locked_folder(f"playground-{PORT}"), running_playground("--port", str(PORT)) as address:
        yield address


@pytest.fixture(scope="module")
def reindexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the old program left, with the vectors of the encoder of today."""
    folder = tmp_path_factory.mktemp("reindexed")
    unpack_fixture("home.tar.xz", folder)
    done = command("reindex", "--store", folder / "store", home=folder / "server")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def home(reindexed: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change: ``store``, and ``server`` with rows and the vault's keys."""
    return shutil.copytree(reindexed, tmp_path / "home")


@pytest.fixture(params=["sqlite", "postgres"])
async def rows(request: pytest.FixtureRequest, home: Path) -> AsyncIterator[tuple[dict[str, str], dict[str, Any]]]:
    """The settings of the old rows, and what is known of them."""
    if request.param == "sqlite":
        yield {}, KNOWN["sqlite"]
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    (home / "server" / "rows.db").unlink()
    unpack_fixture("backup.postgres.tar.xz", home)
    shutil.copy(home / "backup.keys", home / "server" / "vault.keys")
    async with new_database(server) as name:
        await load_dump(server.url(name))
        yield {"FOOTPATH_DATABASE_URL": server.url(name)}, KNOWN["postgres"]


@pytest.fixture(params=["sqlite", "postgres"])
async def backup(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[tuple[Path, dict[str, str], dict[str, Any]]]:
    """A backup with its keys beside it, the settings of an empty place for its rows, and what is known of them."""
    unpack_fixture(f"backup.{request.param}.tar.xz", tmp_path)
    folder, known = tmp_path / "backup", KNOWN[request.param]
    if request.param == "sqlite":
        yield folder, {}, known
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    async with new_database(server) as name:
        yield folder, {"FOOTPATH_DATABASE_URL": server.url(name)}, known


def unpack_fixture(name: str, folder: Path) -> None:
    with tarfile.open(DATA / name) as packed:
        unpack(packed, folder)


async def load_dump(url: str) -> None:
    """Make the tables and rows of a plain dump. Only psql knows its backslash commands; nothing needs them."""
    dump = lzma.decompress((DATA / "postgres.sql.xz").read_bytes()).decode()
    statements = "\n".join(line for line in dump.splitlines() if not line.startswith("\\"))
    engine = create_async_engine(url, poolclass=NullPool)
    async with engine.begin() as connection:
        raw = await connection.get_raw_connection()
        assert raw.driver_connection is not None
        await raw.driver_connection.execute(statements)
    await engine.dispose()


def command(name: str, *arguments: object, home: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """A command of the program of today."""
    settings = {"FOOTPATH_SERVER_HOME": str(home), "FOOTPATH_ALLOW_HOSTS": f"127.0.0.1:{PORT}", **variables}
    script = [sys.executable, str(ROOT / "scripts" / f"{name}.py"), *map(str, arguments)]
    return forked_commands.run(script, timeout=240, env={**os.environ, **settings}, cwd=home.parent)


def read_json(done: "subprocess.CompletedProcess[str]") -> Any:
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def ended(records: list[EventRecord]) -> RunFinished:
    last = records[-1].event
    assert isinstance(last, RunFinished)
    return last


def check_store(folder: Path, **variables: str) -> None:
    """Assert that what a store holds is found, weighs what it weighed, and serves a request by its solution."""

    def ask(name: str, *arguments: object) -> Any:
        return read_json(command(name, *arguments, "--json", home=folder / "server", **variables))

    verified = ask("verify_store")
    assert (verified["equal"], verified["graph"]["documents"], verified["solutions"]["count"]) == (True, 11, 2)
    found = [one["id"].rpartition("/")[2] for one in ask("find_tools", WARM)["tools"]]
    assert found[:2] == ["get_current_weather", "search_places"]
    assert {one["patterns"][0] for one in ask("solutions", "list")["solutions"]} == SOLUTIONS
    shown = ask("show_tool", "search_places")
    assert (shown["evidence"]["calls"], shown["evidence"]["ok"] >= 1) == (12, True)
    assert shown["evidence"]["good"] > 0
    weather = next(one for one in shown["successors"] if one["id"].endswith("get_current_weather"))
    assert (weather["imported"], weather["weight"] > 0.4) == (6, True)
    answered = ask("ask", INHABITANTS)
    assert (answered["outcome"], "278640" in answered["answer"]) == ("answered", True), answered
    assert answered["subtasks"][0]["solutions"][0]["how"] == "plain"


def read_export(folder: Path, **variables: str) -> Any:
    """Export a store; return its counts and digest."""
    file = folder / "exported.jsonl"
    folder.mkdir(exist_ok=True)
    done = command("export_store", file, "--recordings", "--json", home=folder / "server", **variables)
    return read_json(done)


def read_end(export: Path) -> Any:
    """The last line of an export, with its digest."""
    return json.loads(gzip.decompress(export.read_bytes()).splitlines()[-1])


def test_an_embedded_store_asks_for_a_reindex_and_is_whole_after_it(
    playground: str, home: Path, tmp_path: Path
) -> None:
    unpack_fixture("home.tar.xz", tmp_path / "untouched")
    refused = command("find_tools", WARM, "--store", tmp_path / "untouched" / "store", home=home)
    assert (refused.returncode, "reindex" in refused.stderr) == (3, True), refused.stderr
    unpack_fixture("backup.sqlite.tar.xz", tmp_path)
    settings = {"FOOTPATH_STORE": str(home / "store")}
    assert read_export(tmp_path, **settings)["digest"] == read_end(tmp_path / "backup" / "store.jsonl.gz")["digest"]
    check_store(home, **settings)


def test_an_export_is_imported_and_exported_as_it_was(playground: str, tmp_path: Path) -> None:
    settings = {"FOOTPATH_STORE": str(tmp_path / "store")}
    imported = command("import_store", DATA / "export.jsonl.gz", home=tmp_path / "server", **settings)
    assert imported.returncode == 0, imported.stderr
    again = read_export(tmp_path, **settings)
    assert again["digest"] == read_end(DATA / "export.jsonl.gz")["digest"]
    assert (again["memories"], again["solutions"]) == (23, 2)
    check_store(tmp_path, **settings)


def test_a_server_goes_on_with_its_rows(
    playground: str, home: Path, rows: tuple[dict[str, str], dict[str, Any]]
) -> None:
    settings, known = rows
    place = Place(playground, playground, home / "store")
    reset(place)
    with serving(place, home / "server", **settings) as (address, _):
        assert httpx.get(f"{address}/health/ready", trust_env=False, timeout=60).status_code == 200
        ada, boss = log_in(address), log_in(address, "boss")
        _check_what_was_done(ada, known)
        _check_administration(boss, known)
        _check_token(Client(address, known["token"]), boss, known)
        _check_waiting_run(ada, place, known)
        _check_template(ada, known)
        _check_lasting_permission(log_in(address, "eve"), place)
    with serving(place, home / "server", **settings) as (address, _):
        again = ada.at(address)
        assert ended(again.follow(known["waiting"])).outcome == "answered"
        assert len(effects(place)) == 2
    rotated = read_json(command("rotate_keys", "--json", home=home / "server", **settings))
    assert rotated["sealed"] == 1
    assert asyncio.run(_open_key(home / "server", settings)) == "the key of the weather"


def _check_what_was_done(ada: Client, known: dict[str, Any]) -> None:
    """Conversations and runs with their events, the verdict on one, and the list of keys."""
    assert ada.call("GET", f"/conversations/{known['conversation']}").status_code == 200
    records = ada.follow(known["answered"])
    assert (len(records), ended(records).answer) == (known["events"], known["answer"])
    shown = ada.call("GET", f"/runs/{known['answered']}").json()
    assert (shown["status"], shown["verdict"]) == ("finished", "right")
    assert len(ada.call("GET", "/runs").json()["runs"]) == 3
    (key,) = ada.call("GET", "/me/tool-keys").json()
    assert (key["name"], key["hosts"]) == ("weather", ["weather.example"])


def _check_administration(boss: Client, known: dict[str, Any]) -> None:
    """The audit log, the marks and the source of the administrator."""
    entries = boss.call("GET", "/audit").json()["entries"]
    assert {"create_user", "create_token", "mark_tool"} <= {one["operation"] for one in entries}
    (edge,) = boss.call("GET", f"/tools/{quote(known['tool'])}/marks").json()["edges"]
    assert (edge["target"], edge["mark"], edge["by"]) == (known["target"], "pin", "boss")
    (source,) = boss.call("GET", "/sources").json()
    assert source["name"] == "Harbour"
    tools = boss.call("GET", f"/sources/{source['id']}/tools").json()
    assert [one["tool"].rpartition("/")[2] for one in tools] == ["get_tides"]


def _check_token(token: Client, boss: Client, known: dict[str, Any]) -> None:
    """The token asks and reads as before, and no longer administers."""
    (session,) = [one for one in boss.call("GET", "/me/sessions").json() if one["program"]]
    assert set(session["scopes"]) == {"ask", "read", "run_changes"}
    assert token.call("GET", "/conversations").status_code == 200
    assert ended(token.follow(token.ask(INHABITANTS)[1])).outcome == "answered"
    refused = token.call("GET", "/audit")
    assert (refused.status_code, "administer" in refused.text) == (403, True), refused.text


def _check_waiting_run(ada: Client, place: Place, known: dict[str, Any]) -> None:
    """The run waits still; once it is allowed its change is made, once."""
    run = known["waiting"]
    stands(ada, run, "waiting")
    (question,) = ada.call("GET", f"/runs/{run}/inputs").json()
    assert (question["id"], question["decision"]) == (known["question"], None)
    before = ada.follow(run, until=known["seen"])
    assert effects(place) == []
    answer = ada.call("POST", f"/runs/{run}/inputs/{known['question']}", {"decision": "allow"})
    assert answer.status_code == 200, answer.text
    records = ada.follow(run)
    assert records[: len(before)] == before
    assert [one.seq for one in records] == list(range(1, len(records) + 1))
    assert sum(isinstance(one.event, InputNeeded) for one in records) == 1
    assert (ended(records).outcome, len(effects(place))) == ("answered", 1)


def _check_template(ada: Client, known: dict[str, Any]) -> None:
    """Both versions are there, and the later one runs with another value."""
    path = f"/templates/{known['template']}"
    assert [one["version"] for one in ada.call("GET", f"{path}/versions").json()] == [1, 2]
    body = {"conversation_id": known["conversation"], "parameters": {"town": "Meghalpet"}}
    answer = ada.call("POST", f"{path}/runs", body)
    assert answer.status_code == 202, answer.text
    records = ada.follow(answer.json()["id"])
    calls = [one.event.result for one in records if isinstance(one.event, CallFinished)]
    assert calls[0].arguments == {"city": "Meghalpet"}
    assert (ended(records).outcome, "23" in ended(records).answer) == ("answered", True)


def _check_lasting_permission(eve: Client, place: Place) -> None:
    """What she always allowed is made without a question."""
    (allowed,) = eve.call("GET", "/me/allowed-tools").json()
    assert (allowed["address"], allowed["holds"], allowed["origins"]) == (place.tools, True, ["said"])
    records = eve.follow(eve.ask(WRITE)[1])
    assert not any(isinstance(one.event, InputNeeded) for one in records)
    assert (ended(records).outcome, len(effects(place))) == ("answered", 2)


async def _open_key(home: Path, settings: dict[str, str]) -> str | None:
    """Return what the user's sealed key opens to."""
    url = settings.get("FOOTPATH_DATABASE_URL", "")
    async with open_storage(read_settings(server_home=home, database_url=url)) as storage:
        (ada,) = [one for one in await storage.users.list_page() if one.name == "ada"]
        return await storage.tool_keys.get_value(ada.id, "weather")


def test_a_backup_is_restored(
    playground: str, tmp_path: Path, backup: tuple[Path, dict[str, str], dict[str, Any]]
) -> None:
    """It has no signature, which the old program did not make: who restores it has to say that it was in their hands."""
    folder, rows, known = backup
    home, settings = tmp_path / "server", {"FOOTPATH_STORE": str(tmp_path / "store"), **rows}
    options = (folder, "--keys", tmp_path / "backup.keys", "--json")
    refused = command("restore", *options, home=home, **settings)
    assert (refused.returncode, "--unsigned" in refused.stderr) == (2, True), refused.stderr
    restored = read_json(command("restore", *options, "--unsigned", home=home, **settings))
    assert (restored["tools"], restored["ended"]) == (11, 1)
    assert read_export(tmp_path, **settings)["digest"] == read_end(folder / "store.jsonl.gz")["digest"]
    place = Place(playground, playground, tmp_path / "store")
    reset(place)
    with serving(place, home, **rows) as (address, _):
        ada = log_in(address)
        _check_what_was_done(ada, known)
        _check_template(ada, known)
        _check_administration(log_in(address, "boss"), known)
        end = ended(ada.follow(known["waiting"]))
        assert (end.outcome, end.error.partition(":")[0]) == ("failed", "restored")
        assert Client(address, known["token"]).call("GET", "/conversations").status_code == 401
    assert effects(place) == []
    assert asyncio.run(_open_key(home, rows)) == "the key of the weather"
    check_store(tmp_path, **settings)


def test_a_store_on_neo4j_and_qdrant_is_taken_as_it_is(
    playground: str,
    tmp_path: Path,
    neo4j_server: Neo4jServer,
    run_qdrant: Callable[..., AbstractContextManager[QdrantServer]],
) -> None:
    load_graph(neo4j_server)
    with run_qdrant() as qdrant:
        load_vectors(qdrant.url)
        settings = {
            "FOOTPATH_GRAPH_URL": neo4j_server.url,
            "FOOTPATH_GRAPH_USER": neo4j_server.user,
            "FOOTPATH_GRAPH_PASSWORD": neo4j_server.password,
            "FOOTPATH_VECTOR_URL": qdrant.url,
            "FOOTPATH_STORE": str(tmp_path / "store"),
        }
        refused = command("find_tools", WARM, home=tmp_path / "server", **settings)
        assert (refused.returncode, "reindex" in refused.stderr) == (3, True), refused.stderr
        reindexed = command("reindex", home=tmp_path / "server", **settings)
        assert reindexed.returncode == 0, reindexed.stderr
        exported = read_export(tmp_path, **settings)
        assert (exported["documents"], exported["memories"], exported["solutions"]) == (11, 23, 2)
        embedded = {"FOOTPATH_STORE": str(tmp_path / "embedded")}
        imported = command("import_store", tmp_path / "exported.jsonl", home=tmp_path / "server", **embedded)
        assert imported.returncode == 0, imported.stderr
        assert read_export(tmp_path / "again", **embedded)["digest"] == exported["digest"]
        check_store(tmp_path, **settings)


def load_graph(server: Neo4jServer) -> None:
    """Put nodes, relationships, constraints and indexes where no others are."""
    kept = json.loads(lzma.decompress((DATA / "neo4j.json.xz").read_bytes()))
    server.wipe()
    with server.driver() as driver:

        def run(query: str, **values: Any) -> list[Any]:
            return driver.execute_query(cast("LiteralString", query), values).records

        for row in run("SHOW CONSTRAINTS YIELD name"):
            run(f"DROP CONSTRAINT `{row['name']}`")
        for row in run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'"):
            run(f"DROP INDEX `{row['name']}`")
        for statement in kept["schema"]:
            run(statement)
        for number, node in enumerate(kept["nodes"]):
            labels = "".join(f":`{label}`" for label in node["labels"])
            run(f"CREATE (n{labels}) SET n = $all, n.number = $number", all=node["properties"], number=number)
        for edge in kept["relationships"]:
            ends = "MATCH (a {number: $source}), (b {number: $target})"
            values = {"source": edge["from"], "target": edge["to"], "all": edge["properties"]}
            run(f"{ends} CREATE (a)-[r:`{edge['type']}`]->(b) SET r = $all", **values)
        run("MATCH (n) REMOVE n.number")


def load_vectors(url: str) -> None:
    """Put collections with their settings, indexes, points and aliases back."""
    kept = json.loads(lzma.decompress((DATA / "qdrant.json.xz").read_bytes()))
    with httpx.Client(base_url=url, trust_env=False, timeout=60, params={"wait": "true"}) as client:
        for one in kept["collections"]:
            place = f"/collections/{one['name']}"
            client.put(place, json=one["create"]).raise_for_status()
            for field, schema in one["indexes"].items():
                body = {"field_name": field, "field_schema": schema}
                client.put(f"{place}/index", json=body).raise_for_status()
            if one["points"]:
                client.put(f"{place}/points", json={"points": one["points"]}).raise_for_status()
        actions = [{"create_alias": alias} for alias in kept["aliases"]]
        client.post("/collections/aliases", json={"actions": actions}).raise_for_status()
