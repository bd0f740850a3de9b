"""A server whose Qdrant or Neo4j is away for a while: no run fails of it, none changes anything twice, and it says that it is not ready."""

import asyncio
import os
import sqlite3
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from domain.event import InputNeeded, RunDelayed, RunFinished, WeightsLearned
from playground.record import CATALOGUE, DATA
from tests.flows.test_server_approvals import stands
from tests.servers.neo4j.server import Neo4jServer
from tests.servers.postgres.databases import new_database
from tests.servers.postgres.server import PostgresServer
from tests.support import forked_commands
from tests.support.cut_line import Line, line
from tests.support.fault_proxy import Exchange, proxying
from tests.support.playground_process import running_playground
from tests.support.server_process import (
    INHABITANTS,
    ROOT,
    WRITE,
    Client,
    Place,
    built,
    catalogue_at,
    effects,
    registered,
    reset,
    serving,
    to_its_end,
)
from wiring.settings import Settings
from wiring.store_build import BuildOptions, build

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def playground() -> Iterator[str]:
    with running_playground() as address:
        yield address


def built_on(place: Place, **servers: str) -> None:
    """A store of the playground's catalogue and trajectories, parts of it on servers."""
    catalogue = place.store.parent / CATALOGUE
    catalogue.write_text(catalogue_at(place.playground), encoding="utf-8")
    settings = Settings.model_validate({"store": place.store, **servers})
    options = BuildOptions(tools=(catalogue,), trajectories=(DATA,))
    asyncio.run(build(options, lambda stage, done, total: None, settings))


@contextmanager
def over_a_line(
    playground: str, folder: Path, url: str, name: str, **servers: str
) -> Generator[tuple[Client, Place, Line]]:
    """Somebody at a server whose part of the store of that ``name`` is at the other end of a line."""
    parts = urlsplit(url)
    assert parts.port is not None
    with line(parts.port) as cable:
        servers[name] = f"{parts.scheme}://127.0.0.1:{cable.port}"
        place = Place(playground, playground, folder / "store")
        built_on(place, **servers)
        reset(place)
        variables = {f"FOOTPATH_{one.upper()}": value for one, value in servers.items()}
        with serving(place, folder / "home", FOOTPATH_RUNS_AT_ONCE="2", **variables) as (address, _):
            yield registered(address), place, cable


def soon_ready(client: Client, status: int, detail: str = "") -> httpx.Response:
    """The answer, once it is of that status and, where one is given, says no more than ``detail``: on a busy machine a check may be late."""
    url, until = f"{client.address}/health/ready", time.monotonic() + 100
    while True:
        answer = httpx.get(url, trust_env=False, timeout=30)
        if answer.status_code == status and (not detail or answer.json()["detail"] == detail):
            return answer
        assert time.monotonic() < until, answer.text
        time.sleep(0.1)


def endured(client: Client, cable: Line, missing: str) -> None:
    """The line is cut; eight runs are asked for, and none is taken. Some seconds later it is mended."""
    soon_ready(client, 503, f"not ready: {missing}; try again later, the server's log says why")
    asked = [client.ask(INHABITANTS)[1] for _ in range(8)]
    time.sleep(3)
    for run in asked:
        waits = client.call("GET", f"/runs/{run}").json()
        assert waits["outcome"] is None
        assert waits["last_event"] <= 1  # that it waits
    cable.mend()
    assert ready_again(client)["checks"][missing] == "ok"
    for run in asked:
        end = client.follow(run)[-1].event
        assert isinstance(end, RunFinished)
        assert (end.outcome, end.error) == ("answered", "")


def ready_again(client: Client) -> dict[str, Any]:
    return soon_ready(client, 200).json()


def test_qdrant_goes_away_under_a_run_that_changes_something(
    playground: str, tmp_path: Path, qdrant_settings: dict[str, str]
) -> None:
    url = qdrant_settings.pop("vector_url")
    with over_a_line(playground, tmp_path, url, "vector_url", **qdrant_settings) as made:
        client, place, cable = made
        _, change = client.ask(WRITE)
        asked = client.follow(change, until="input.needed")[-1].event
        assert isinstance(asked, InputNeeded)
        stands(client, change, "waiting")
        cable.cut()
        client.call("POST", f"/runs/{change}/inputs/{asked.input}", {"decision": "allow"})
        endured(client, cable, "vectors")
        assert to_its_end(client, place, change)[-1].event.kind == "run.finished"
        assert stands(client, change, "finished")["outcome"] == "answered"
        assert len(effects(place)) == 1


def test_neo4j_is_away_when_the_first_run_is_asked_for(
    playground: str, tmp_path: Path, neo4j_server: Neo4jServer
) -> None:
    neo4j_server.wipe()
    account = {"graph_user": neo4j_server.user, "graph_password": neo4j_server.password}
    with over_a_line(playground, tmp_path, neo4j_server.url, "graph_url", **account) as (client, _, cable):
        cable.cut()
        endured(client, cable, "graph")


async def test_a_lesson_that_the_outage_prevented_is_learnt_when_qdrant_is_back(
    playground: str, tmp_path: Path, qdrant_settings: dict[str, str]
) -> None:
    """The line is cut under the last call of a run: it is answered, and what it teaches needs the vectors."""
    url = qdrant_settings.pop("vector_url")
    calls, cable_of = list[bytes](), list[Line]()
    cut_after = 0

    async def answered(exchange: Exchange) -> None:
        calls.append(exchange.request)
        raw = await exchange.forward()
        if len(calls) == cut_after:
            cable_of[0].cut()
        await exchange.send(raw)

    def lives(tools: str) -> None:
        nonlocal cut_after
        with over_a_line(tools, tmp_path, url, "vector_url", **qdrant_settings) as made:
            client, _, cable = made
            cable_of.append(cable)
            calls.clear()
            client.follow(client.ask(INHABITANTS)[1])
            cut_after, other = 2 * len(calls), registered(client.address, "ben")
            _, run = other.ask(INHABITANTS)
            records = other.follow(run)
            end, lesson = records[-1].event, records[-2].event
            assert isinstance(end, RunFinished)
            assert (end.outcome, len(calls)) == ("answered", cut_after)
            assert isinstance(lesson, WeightsLearned)
            assert (lesson.deferred, lesson.remembered) == ("waiting", ())
            assert lesson.error == "store_unreachable: the vector store is out of reach"
            figures = f"{client.address}/metrics"
            assert "footpath_lessons_waiting 1.0" in httpx.get(figures, trust_env=False, timeout=100).text
            cable.mend()
            until = time.monotonic() + 100
            while (lesson := _lesson_of(other, run, records[-2].seq)).deferred == "waiting":
                assert time.monotonic() < until
                time.sleep(0.2)
            assert (lesson.deferred, lesson.error, len(lesson.remembered)) == ("learnt", "", 1)
            assert "footpath_lessons_waiting 0.0" in httpx.get(figures, trust_env=False, timeout=100).text

    async with proxying(playground) as proxy:
        proxy.choose(answered)
        await asyncio.to_thread(lives, proxy.address)


async def test_the_command_answers_and_says_that_nothing_is_learnt_when_the_store_goes_away(
    playground: str, tmp_path: Path, qdrant_settings: dict[str, str]
) -> None:
    """The line to the vectors is cut under the last call; there are no rows to keep the lesson in."""
    url = urlsplit(qdrant_settings.pop("vector_url"))
    assert url.port is not None
    with line(url.port) as cable:

        async def answered(exchange: Exchange) -> None:
            raw = await exchange.forward()
            cable.cut()
            await exchange.send(raw)

        async with proxying(playground) as proxy:
            servers = {**qdrant_settings, "vector_url": f"http://127.0.0.1:{cable.port}"}
            place = Place(proxy.address, proxy.address, tmp_path / "store")
            await asyncio.to_thread(built_on, place, **servers)
            proxy.choose(answered)
            variables = {f"FOOTPATH_{one.upper()}": value for one, value in servers.items()}
            variables["FOOTPATH_ALLOW_HOSTS"] = proxy.address.removeprefix("http://")
            variables["FOOTPATH_STORE"] = str(place.store)
            command = [sys.executable, str(ROOT / "scripts" / "ask.py"), INHABITANTS]
            asked = await asyncio.to_thread(forked_commands.run, command, timeout=100, env=os.environ | variables)
        shown = " ".join(asked.stdout.split())
        assert asked.returncode == 0, asked.stderr
        assert "278640" in shown.partition(" answer ")[2]
        assert "and it is not made up for later: the vector store is out of reach." in shown
        assert str(cable.port) in asked.stderr, "the log says where"


async def test_a_store_of_another_version_is_waited_for_with_rows_on_postgres(
    playground: str, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    """The server's own copy of the store is of a format to come, until it is put right."""
    place = await asyncio.to_thread(built, tmp_path, playground)
    with closing(sqlite3.connect(place.store / "graph.db")) as rows, rows:
        (format_,) = rows.execute("PRAGMA user_version").fetchone()
        rows.execute(f"PRAGMA user_version = {format_ + 1}")

    def lives(variables: dict[str, str]) -> None:
        with serving(place, tmp_path / "home", **variables) as (address, _):
            client = registered(address)
            first, second = client.ask(INHABITANTS)[1], client.ask(INHABITANTS)[1]
            for run in (first, second):
                told = client.follow(run, until="run.delayed")
                assert isinstance(told[-1].event, RunDelayed)
                assert str(place.store) not in told[-1].event.reason
            soon_ready(client, 503, "not ready: store; try again later, the server's log says why")
            with closing(sqlite3.connect(place.store / "graph.db")) as rows, rows:
                rows.execute(f"PRAGMA user_version = {format_}")
            ready_again(client)
            for run in (first, second):
                end = client.follow(run)[-1].event
                assert isinstance(end, RunFinished)
                assert (end.outcome, end.error) == ("answered", "")

    async with new_database(postgres_server) as name:
        await asyncio.to_thread(lives, {"FOOTPATH_DATABASE_URL": postgres_server.url(name)})


def _lesson_of(client: Client, run: str, seq: int) -> WeightsLearned:
    event = client.follow(run, after=seq - 1, until=seq)[-1].event
    assert isinstance(event, WeightsLearned)
    return event
