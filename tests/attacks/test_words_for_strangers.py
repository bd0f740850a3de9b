"""What a stranger, a user, or who reads the log, is told: no secret of a path, no host, no account; and a database that takes no writes is not ready."""

import io
import logging
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from domain.errors import (
    StoreBusyError,
    StoreRefusedError,
    StoreUnreachableError,
    StoreVersionError,
    UnavailableError,
)
from domain.event import RunDelayed
from retriever.backends.qdrant_connection import MissingCollectionError
from server import readiness
from server.watching.logs import set_up
from tests.servers.postgres.databases import administer, new_database
from tests.servers.postgres.server import PostgresServer
from tests.support.rights_matrix import a_shared_answer
from tests.support.server_process import INHABITANTS, Place, registered
from tests.support.server_process import serving as served
from tests.support.server_processes import find_free_port
from tests.support.server_world import World, copied, serving, with_store
from wiring.settings import Settings

LOGIN = {"name": "user", "password": "correct horse battery"}


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    logger, stream = logging.getLogger(), io.StringIO()
    before, level = logger.handlers[:], logger.level
    set_up(Settings(), {}, stream)
    yield stream
    logger.handlers[:] = before
    logger.setLevel(level)


@pytest.fixture
async def database(postgres_server: PostgresServer) -> AsyncIterator[str]:
    async with new_database(postgres_server) as name:
        yield name


@pytest.fixture
async def on_postgres(postgres_server: PostgresServer, database: str, tmp_path: Path) -> AsyncIterator[World]:
    async with serving(tmp_path / "home", database_url=postgres_server.url(database)) as world:
        await with_store(world)
        yield world


async def test_the_secret_of_a_link_stands_in_no_log(world: World, written: io.StringIO) -> None:
    secret = (await a_shared_answer(world))["secret"]
    headers = await world.headers_of("user")
    assert (await world.client.get(f"/api/v1/shared/{secret}", headers=headers)).status_code == 200
    assert (await world.client.get(f"/api/v1/share/{secret}", headers=headers)).status_code == 404
    told = written.getvalue()
    assert "GET /api/v1/shared/{secret} 200" in told
    assert "GET unmatched 404" in told
    assert secret not in told
    assert secret.rpartition("_")[2] not in told


async def test_a_postgres_that_takes_no_writes_is_not_ready(
    on_postgres: World, postgres_server: PostgresServer, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "MOMENT", 0.0)
    boss = await on_postgres.headers_of("admin")
    assert (await on_postgres.client.get("/health/ready")).status_code == 200
    await administer(postgres_server, f'ALTER DATABASE "{database}" SET default_transaction_read_only = on')
    await on_postgres.services.storage.close()  # it applies to new connections
    answer = await on_postgres.client.get("/health/ready")
    assert (answer.status_code, answer.json()["detail"][:20]) == (503, "not ready: database;")
    told = await on_postgres.client.get("/health/ready", headers=boss)
    assert "read and not written" in told.json()["detail"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write what nobody may")
async def test_a_file_that_takes_no_writes_is_not_ready(home: Path, tmp_path: Path) -> None:
    async with serving(copied(home, tmp_path / "home")) as world:
        await with_store(world)
        (tmp_path / "home" / "rows.db").chmod(0o400)
        answer = await world.client.get("/health/ready")
        assert (answer.status_code, answer.json()["detail"][:20]) == (503, "not ready: database;")


async def test_a_stranger_is_told_that_postgres_is_away_and_not_which_it_is(
    on_postgres: World, postgres_server: PostgresServer, database: str, written: io.StringIO
) -> None:
    on_postgres.services.worker.stop()
    await administer(postgres_server, f'ALTER DATABASE "{database}" ALLOW_CONNECTIONS false')
    await on_postgres.services.storage.close()
    for answer in (
        await on_postgres.client.post("/api/v1/auth/login", json=LOGIN),
        await on_postgres.client.get("/api/v1/me", headers={"Authorization": "Bearer fpa_whatever"}),
        await on_postgres.client.post("/mcp", headers={"Authorization": "Bearer fpa_whatever"}),
    ):
        assert (answer.status_code, answer.json()["detail"][:20]) == (503, "not ready: database;")
        assert database not in answer.text
        assert "FOOTPATH" not in answer.text
    assert database in written.getvalue(), "the log says why"
    await administer(postgres_server, f'ALTER DATABASE "{database}" ALLOW_CONNECTIONS true')


@pytest.mark.parametrize("part", ["graph", "vectors"])
def test_who_waits_for_a_store_is_told_which_and_not_where_it_is(tmp_path: Path, part: str) -> None:
    """There is one server, and nothing at the address that its settings name."""
    port, user = find_free_port(), "graph-operator"
    name, scheme = ("GRAPH_URL", "bolt") if part == "graph" else ("VECTOR_URL", "http")
    variables = {f"FOOTPATH_{name}": f"{scheme}://127.0.0.1:{port}", "FOOTPATH_GRAPH_USER": user}
    place = Place("http://127.0.0.1:9", "http://127.0.0.1:9", tmp_path / "store")
    with served(place, tmp_path / "home", **variables) as (address, _):
        client = registered(address)
        conversation, run = client.ask(INHABITANTS)
        waits = client.follow(run, until="run.delayed")[-1].event
        assert isinstance(waits, RunDelayed)
        store = "the graph store" if part == "graph" else "the vector store"
        assert waits.reason.startswith("The run waits, and goes on by itself when this has passed: ")
        assert store in waits.reason
        answers = [
            client.call(*one)
            for one in (
                ("GET", f"/runs/{run}"),
                ("GET", f"/conversations/{conversation}"),
                ("GET", f"/conversations/{conversation}/messages"),
                ("GET", "/tools"),
                ("GET", "/choices"),
                ("DELETE", "/me"),
            )
        ]
        stood = answers[0].json()
        assert (stood["outcome"], stood["last_event"]) == (None, 1)
        assert stood["status"] in ("queued", "running"), "it is tried again from time to time"
        for told in (waits.model_dump_json(), *(one.text for one in answers)):
            assert str(port) not in told
            assert user not in told


def test_an_error_of_a_store_says_which_it_is_and_not_where() -> None:
    where = "bolt://graph.internal:7687: the server refused user 'neo4j'"
    assert StoreRefusedError(where).set_part("graph").public_message == "the graph store refuses this server"
    assert StoreUnreachableError(where).public_message == "a store is out of reach"
    assert StoreBusyError(where).public_message == "a store cannot be used just now"
    assert UnavailableError(where).set_part("graph, vectors").public_message == (
        "the graph store and the vector store cannot be used just now"
    )
    assert UnavailableError("there is no store; build one").public_message == "there is no store; build one"
    for kind in (MissingCollectionError, StoreVersionError):
        assert "internal" not in kind(where).set_part("vectors").public_message
