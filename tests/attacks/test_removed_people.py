"""Somebody who removes an account leaves nothing of theirs behind, and is told what stays."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient

from agent.memory.long_term import LongTermMemory
from domain.trajectory import SolvedRequest
from tests.servers.neo4j.server import Neo4jServer
from tests.support.attacked_services import Operation, Service, running, told_of
from tests.support.scripted_runs import until
from tests.support.server_world import PASSWORD, World, copied, serving
from wiring.settings import Settings
from wiring.store_build import BuildOptions, build

CLOCK = Service(
    "clock",
    [Operation("tell_time", "Tell the time of a place", {"place": "string"}, {"time": "12:40"})],
    instead={"tell_time": (200, '{"time": "12:40", "in": "Quokkaville"}')},
)
REQUEST = 'What time is it in "Quokkaville"?'
TEXT = 'told = await tell_time(place=place)\n{"answered": "yes", "answer": told["time"]}  # Quokkaville'


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with running(CLOCK):
        yield told_of(tmp_path_factory.mktemp("clock") / "store", CLOCK)


@pytest.fixture
async def world(home: Path, store: Path, tmp_path: Path) -> AsyncGenerator[World]:
    own = await asyncio.to_thread(copied, home, tmp_path / "home")
    async with serving(own, store=store, allow_hosts=frozenset({CLOCK.host})) as opened:
        yield opened


async def call(world: World, who: str, method: str, path: str, body: Any = None, status: int = 200) -> Any:
    headers = await world.headers_of(who)
    answer = await world.client.request(method, f"/api/v1{path}", json=body, headers=headers)
    assert answer.status_code == status, answer.text
    return answer.json()


async def lives(world: World, who: str) -> None:
    """A conversation with a run, a template, a solution and a memory, each of which names the place."""
    conversation = (await call(world, who, "POST", "/conversations", {}, 201))["id"]
    run = (await call(world, who, "POST", f"/conversations/{conversation}/runs", {"request": REQUEST}, 202))["id"]

    async def over() -> bool:
        return (await call(world, who, "GET", f"/runs/{run}"))["status"] == "finished"

    await until(over, 60)
    program = {
        "text": TEXT,
        "tools": {"tell_time": CLOCK.tool("tell_time")},
        "inputs": {"place": {"type": "string"}},
    }
    patterns = ["When is it noon in {place}, seen from Quokkaville?"]
    await call(world, who, "POST", "/solutions", {"program": program, "patterns": patterns}, 201)
    container = await world.services.agents.get_full_container()
    memory = LongTermMemory(await container.memories(), await container.embedder(), world.people[who].id)
    await memory.keep([SolvedRequest(request=REQUEST, path=(CLOCK.tool("tell_time"),))])
    await memory.embed()


def holding(folder: Path, words: str) -> set[str]:
    """The files and tables in which some row holds these words."""
    found = set[str]()
    for file in folder.rglob("*.db"):
        with closing(sqlite3.connect(file)) as rows:
            tables = [name for (name,) in rows.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in tables:
                if any(words in str(row) for row in rows.execute(f'SELECT * FROM "{table}"')):
                    found.add(f"{file.name}/{table}")
    return found


async def test_no_row_holds_what_a_removed_account_asked(world: World) -> None:
    folders = (world.services.settings.server_home, world.services.settings.store)
    await lives(world, "user")
    before = [await asyncio.to_thread(holding, folder, "Quokkaville") for folder in folders]
    assert all(before), before
    headers = await world.headers_of("user")
    gone = await world.client.request("DELETE", "/api/v1/me", json={"password": PASSWORD}, headers=headers)
    assert [await asyncio.to_thread(holding, folder, "Quokkaville") for folder in folders] == [set(), set()]
    assert {"removed", "stays"} == set(gone.json())
    for words in ("an administrator shares", "audit log", "backups, exports", "sources"):
        assert any(words in one for one in gone.json()["stays"]), words


def held_by_neo4j(server: Neo4jServer, words: str) -> set[str]:
    """The labels of nodes, and the types of edges, that hold these words."""
    with server.driver() as driver:
        nodes = driver.execute_query("MATCH (n) RETURN labels(n)[0] AS kind, properties(n) AS held", database_="neo4j")
        edges = driver.execute_query(
            "MATCH ()-[e]->() RETURN type(e) AS kind, properties(e) AS held", database_="neo4j"
        )
    return {str(row["kind"]) for found in (nodes, edges) for row in found.records if words in str(row["held"])}


def held_by_qdrant(settings: dict[str, str], words: str) -> set[str]:
    """The collections with a point that holds these words."""
    found = set[str]()
    with closing(QdrantClient(url=settings["vector_url"], check_compatibility=False)) as client:
        for one in client.get_collections().collections:
            if one.name.startswith(settings["vector_collection"]):
                points, _ = client.scroll(one.name, limit=10_000)
                found |= {one.name for point in points if words in str(point.payload)}
    return found


async def test_nothing_on_neo4j_and_qdrant_holds_what_a_removed_account_asked(
    home: Path, store: Path, tmp_path: Path, neo4j_server: Neo4jServer, qdrant_settings: dict[str, str]
) -> None:
    del store  # its service runs
    neo4j_server.wipe()
    away = {"graph_url": neo4j_server.url, "graph_password": neo4j_server.password, **qdrant_settings}
    options = BuildOptions(tools=(CLOCK.document(tmp_path),))
    await build(options, lambda stage, done, total: None, Settings.model_validate({"store": tmp_path / "away", **away}))
    own = await asyncio.to_thread(copied, home, tmp_path / "home")
    async with serving(own, store=tmp_path / "away", allow_hosts=frozenset({CLOCK.host}), **away) as world:
        await lives(world, "user")
        assert await asyncio.to_thread(held_by_qdrant, qdrant_settings, "Quokkaville")
        assert await asyncio.to_thread(holding, own, "Quokkaville")
        headers = await world.headers_of("user")
        await world.client.request("DELETE", "/api/v1/me", json={"password": PASSWORD}, headers=headers)
        assert await asyncio.to_thread(held_by_neo4j, neo4j_server, "Quokkaville") == set()
        assert await asyncio.to_thread(held_by_qdrant, qdrant_settings, "Quokkaville") == set()
        assert await asyncio.to_thread(holding, own, "Quokkaville") == set()


@pytest.mark.parametrize("who", ["user", "admin"])
async def test_nothing_is_removed_while_memories_are_out_of_reach(home: Path, tmp_path: Path, who: str) -> None:
    """Afterwards nobody would know whose they are."""
    own = await asyncio.to_thread(copied, home, tmp_path / "home")
    async with serving(own, graph_url="bolt://127.0.0.1:9", vector_url="http://127.0.0.1:9") as world:
        headers = await world.headers_of(who)
        path = "/me" if who == "user" else f"/users/{world.people['user'].id}"
        body = {"password": PASSWORD} if who == "user" else None
        refused = await world.client.request("DELETE", f"/api/v1{path}", json=body, headers=headers)
        assert refused.status_code == 503
        assert "nothing was removed" in refused.json()["detail"]
        assert await world.services.storage.users.get(world.people["user"].id) is not None
