"""How often a search, an offer and a run go to a store: each time is a round trip, which is what a distance to its server costs."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from domain.event import RunFinished, SolutionTaken
from playground.record import CATALOGUE, DATA
from retriever.backends.qdrant_connection import QdrantAddress, QdrantConnection
from tests.servers.neo4j.server import Neo4jServer
from tests.servers.postgres.server import PostgresServer
from tests.servers.qdrant.places import QdrantPlace
from tests.support.delaying_proxy import Delay, delayed
from tests.support.distant_database import serving_at_distance
from tests.support.playground_process import running_playground
from tests.support.server_process import INHABITANTS, built, catalogue_at
from tests.support.stream_server import serve_connections
from wiring.ask import RunRequest, ask
from wiring.container import Container, open_container
from wiring.settings import Settings
from wiring.store_build import BuildOptions, build

OTHER = "How many inhabitants does Oskvik have?"
UNKNOWN = "Which public holidays does Caldera have in 2026?"
LIMIT = 10

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def playground() -> Iterator[str]:
    with running_playground() as address:
        yield address


@asynccontextmanager
async def opened(folder: Path, playground: str, **server: Any) -> AsyncGenerator[Container]:
    """A store of the playground's, part of it on a server, that knows how one request is served and has everything open."""
    (folder / CATALOGUE).write_text(catalogue_at(playground), encoding="utf-8")
    chosen = {"store": folder / "store", "allow_hosts": playground.removeprefix("http://"), **server}
    settings = Settings.model_validate(chosen)
    options = BuildOptions(tools=(folder / CATALOGUE,), trajectories=(DATA / "answer",))
    await build(options, lambda stage, done, total: None, settings)
    async with open_container(settings) as container:
        for request in (INHABITANTS, OTHER):
            await answered(container, request)
        yield container


async def answered(container: Container, request: str) -> bool:
    """Whether a solution was taken for the request, which was answered."""
    records = [record async for record in ask(container, RunRequest(request))]
    (end,) = (record.event for record in records if isinstance(record.event, RunFinished))
    assert end.outcome == "answered"
    return any(isinstance(record.event, SolutionTaken) for record in records)


async def counted(container: Container, traffic: Delay) -> dict[str, int]:
    """The round trips of each, but for those that connect: a connection that was idle for long is made anew."""

    def since_reset() -> int:
        return sum(request != b"connect" for request in traffic.requests)

    counts: dict[str, int] = {}
    traffic.reset()
    search = await container.open_search()
    counts["looking for news"] = since_reset()
    traffic.reset()
    assert await search.find_tools(UNKNOWN, LIMIT)
    counts["search"] = since_reset()
    offers = await container.create_offer_maker(await container.open_search())
    traffic.reset()
    assert (await offers.offer(UNKNOWN, LIMIT)).tools
    counts["offer"] = since_reset()
    traffic.reset()
    assert await answered(container, OTHER)
    counts["known run"] = since_reset()
    traffic.reset()
    assert not await answered(container, UNKNOWN)
    counts["new run"] = since_reset()
    return counts


def exceeding(counts: dict[str, int], most: dict[str, int]) -> dict[str, int]:
    """Those that are more than they were when this was written: before, known runs took 27 of Neo4j and 28 of Qdrant."""
    return {name: count for name, count in counts.items() if count > most[name]}


async def test_neo4j_is_asked_seldom(neo4j_server: Neo4jServer, tmp_path: Path, playground: str) -> None:
    neo4j_server.wipe()
    with delayed(neo4j_server.port) as traffic:
        server = {"graph_url": f"bolt://127.0.0.1:{traffic.port}", "graph_password": neo4j_server.password}
        async with opened(tmp_path, playground, **server) as container:
            most = {"looking for news": 0, "search": 2, "offer": 2, "known run": 11, "new run": 13}
            assert exceeding(await counted(container, traffic), most) == {}


async def test_qdrant_is_asked_seldom(qdrant_settings: dict[str, str], tmp_path: Path, playground: str) -> None:
    with delayed(int(qdrant_settings["vector_url"].rpartition(":")[2])) as traffic:
        server = {**qdrant_settings, "vector_url": f"http://127.0.0.1:{traffic.port}"}
        async with opened(tmp_path, playground, **server) as container:
            most = {"looking for news": 2, "search": 7, "offer": 6, "known run": 9, "new run": 18}
            assert exceeding(await counted(container, traffic), most) == {}


def test_postgres_is_asked_seldom(postgres_server: PostgresServer, playground: str, tmp_path: Path) -> None:
    """Before, these took 21, 2, 12, 4 and 52. A whole run takes 31, and now and then one more: events are written in batches."""
    most = {"log in": 7, "new conversation": 2, "ask": 6, "look at a run": 2, "whole run": 33}
    place = built(tmp_path, playground)
    with serving_at_distance(postgres_server, place, tmp_path / "home") as distant:
        conversation, run = distant.new_conversation(), distant.run()
        asked = list[str]()
        works: dict[str, Callable[[], object]] = {
            "log in": distant.log_in,
            "new conversation": distant.new_conversation,
            "ask": lambda: asked.append(distant.ask(conversation)),
            "look at a run": lambda: distant.get(f"/runs/{run}"),
            "whole run": distant.run,
        }
        found: dict[str, list[str]] = {}
        for name, work in works.items():
            measured: list[list[str]] = []
            for _ in range(5):
                measured.append(distant.list_statements(work))
                for one in asked:  # nothing of it is under way while the next is measured
                    distant.client.follow(one)
                asked.clear()
            found[name] = min(measured, key=len)  # a transaction of the server's own may fall into some
    assert exceeding({name: len(one) for name, one in found.items()}, most) == {}, found


async def test_connections_to_qdrant_are_kept_and_shared(qdrant_server: QdrantPlace) -> None:
    with delayed(int(qdrant_server.url.rpartition(":")[2])) as traffic:
        address = QdrantAddress(f"http://127.0.0.1:{traffic.port}")
        first, other = QdrantConnection(address), QdrantConnection(address)
        for connection in (first, other, first):
            await connection.open()
            for _ in range(3):
                await connection.call("list the collections", lambda client: client.get_collections())
        assert traffic.requests.count(b"connect") == 1
        await first.close()
        await other.call("list the collections", lambda client: client.get_collections())
        await other.close()
        assert traffic.requests.count(b"connect") == 1


async def test_a_connection_that_qdrant_closed_meanwhile_is_made_anew() -> None:
    """As when a server's farewell is still on its way: the request meets a closed connection."""
    connections: list[int] = []

    async def answer_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(0)
        body = b'{"title": "qdrant", "version": "1.18.0"}'
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body
        )
        await reader.readuntil(b"\r\n\r\n")

    async with serve_connections(answer_once) as port:
        connection = QdrantConnection(QdrantAddress(f"http://127.0.0.1:{port}"))
        await connection.open()
        assert (await connection.call("reach the server", lambda client: client.info())).version == "1.18.0"
        assert len(connections) == 2
        await connection.close()
