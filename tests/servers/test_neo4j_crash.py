"""A server that dies under writes: what was acknowledged is there, what was repeated counts once."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from neo4j import AsyncSession

from domain.errors import StoreUnreachableError
from domain.tool import FINISH, make_tool_id
from graph.backends.neo4j_connection import GraphServer, Neo4jConnection
from graph.backends.neo4j_graph import Neo4jGraph
from graph.backends.neo4j_solutions import Neo4jSolutions
from graph.facts import GraphBatch
from tests.servers.neo4j.server import Neo4jServer
from tests.support.graph_samples import A, B, batch, document, walked
from tests.support.solution_store_contract import once_more, solution
from tests.support.stream_server import connect_to, serve_connections

COMMIT = bytes.fromhex("0002b0120000")
"""Bolt's COMMIT as it goes over the wire: a chunk of two bytes, a structure without fields, the end of the message."""


@pytest.fixture
async def patient(neo4j_graph: Neo4jGraph, neo4j_server: Neo4jServer) -> AsyncIterator[Neo4jGraph]:
    """A connection that outlasts a restart."""
    graph = Neo4jGraph(neo4j_server.url, neo4j_server.user, neo4j_server.password, retry_seconds=150)
    await graph.setup()
    yield graph
    await graph.close()


def crash(server: Neo4jServer) -> None:
    server.kill()
    server.start()


async def test_killed_under_writes_it_has_all_that_it_acknowledged(
    patient: Neo4jGraph, neo4j_server: Neo4jServer
) -> None:
    acknowledged: list[str] = []
    under_way = asyncio.Event()

    async def write(writer: int) -> None:
        for number in range(40):
            key = f"{writer}/{number}"
            assert await patient.learn(walked(key, A, B, score=0.5, decay=1.0))
            acknowledged.append(key)
            if len(acknowledged) == 20:
                under_way.set()

    writers = [asyncio.create_task(write(n)) for n in range(4)]
    await under_way.wait()
    await asyncio.to_thread(neo4j_server.kill)
    before = set(acknowledged)
    assert len(before) < 160, "it was too fast to be interrupted"
    await asyncio.to_thread(neo4j_server.start)
    assert before <= await patient.find_applied(before)
    await asyncio.gather(*writers)

    assert len(await patient.find_applied(acknowledged)) == 160
    assert [(n.edge.target, n.edge.live) for n in await patient.get_out_edges(A)] == [(B, 160)]
    assert (await patient.get_facts([A]))[A].quality == 80


async def test_killed_within_a_large_batch_it_counts_all_of_it_once(
    patient: Neo4jGraph, neo4j_server: Neo4jServer
) -> None:
    tools = [make_tool_id("Many", "set", str(number)) for number in range(3000)]
    pairs = dict.fromkeys(zip(tools, tools[1:] + tools[:1], strict=True), 2) | {(a, FINISH): 1 for a in tools}
    large = GraphBatch("large", Counter(pairs), records={f"r{n}" for n in range(5000)})
    applying = asyncio.create_task(patient.apply(large))
    await asyncio.sleep(0.3)
    assert not applying.done()
    await asyncio.to_thread(crash, neo4j_server)
    assert await applying
    statistics = await patient.compute_statistics()
    assert (statistics.nodes, statistics.transitions, statistics.finish_transitions) == (3000, 3000, 3000)
    assert statistics.batches == 5001
    assert await patient.get_out_edges(tools[0]) != []
    assert not await patient.apply(large)


async def test_who_has_waited_in_vain_does_not_wait_again_until_it_is_back(
    neo4j_graph: Neo4jGraph, neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = GraphServer(neo4j_server.url, neo4j_server.user, "neo4j")
    connection = Neo4jConnection(server, neo4j_server.password, retry_seconds=1)
    opened = connection._open_session  # pyright: ignore[reportPrivateUsage]  the tries are counted there
    tries: list[object] = []

    def session(*given: Any) -> AsyncSession:
        tries.append(given)
        return opened(*given)

    async def ask() -> int:
        tries.clear()
        with pytest.raises(StoreUnreachableError):
            await connection.read("RETURN 1")
        return len(tries)

    await connection.open()
    monkeypatch.setattr(connection, "_open_session", session)
    await asyncio.to_thread(neo4j_server.kill)
    with pytest.raises(StoreUnreachableError):
        await connection.check_reachable()
    assert await ask() > 1, "a look at the server, which waits for nothing, does not take others' patience"
    assert await ask() == 1
    await asyncio.to_thread(neo4j_server.start)
    assert await connection.read("RETURN 1") == [[1]]
    await asyncio.to_thread(neo4j_server.kill)
    assert await ask() > 1
    await connection.close()
    await asyncio.to_thread(neo4j_server.start)


class CutLine:
    """A way to a server that loses the answer to one message, which the server does get: the next with ``lost`` in it."""

    def __init__(self, server_port: int) -> None:
        self.lost = b""
        self._server_port = server_port

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with connect_to(self._server_port) as (from_server, to_server):
            answering = asyncio.create_task(self._forward(from_server, writer))
            try:
                while data := await reader.read(65536):
                    cut = bool(self.lost) and self.lost in data
                    if cut:
                        self.lost = b""
                        answering.cancel()
                        await asyncio.wait([answering])
                    to_server.write(data)
                    if cut:
                        assert await from_server.read(65536)
                        return
            finally:
                answering.cancel()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)


@pytest.mark.parametrize("operation", ["apply", "learn", "put_tools", "out_edges"])
async def test_what_was_done_though_its_answer_was_lost_is_done_once_and_known_as_ours(
    neo4j_graph: Neo4jGraph, neo4j_server: Neo4jServer, operation: str
) -> None:
    line = CutLine(neo4j_server.port)
    async with serve_connections(line.serve) as port:
        graph = Neo4jGraph(f"bolt://127.0.0.1:{port}", neo4j_server.user, neo4j_server.password)
        try:
            await graph.setup()
            # What a run teaches, and a read, go as queries of their own, without a transaction around them.
            line.lost = {"out_edges": b"[r:NEXT]", "learn": b"MERGE (k:Applied"}.get(operation, COMMIT)
            calls: dict[str, Callable[[], Awaitable[object]]] = {
                "apply": lambda: graph.apply(batch("k", {(A, B): 1})),
                "learn": lambda: graph.learn(walked("k", A, B)),
                "put_tools": lambda: graph.put_tools([document(A)]),
                "out_edges": lambda: graph.get_out_edges(A),
            }
            answer = await calls[operation]()
        finally:
            await graph.close()
    assert not line.lost, "no such message was seen"
    assert answer == {"apply": True, "learn": True, "put_tools": None, "out_edges": []}[operation]
    edges = [(n.edge.imported, n.edge.live) for n in await neo4j_graph.get_out_edges(A)]
    assert edges == {"apply": [(1, 0)], "learn": [(0, 1)], "put_tools": [], "out_edges": []}[operation]
    assert (await neo4j_graph.compute_statistics()).documents == (operation == "put_tools")


async def test_a_change_of_a_solution_whose_answer_was_lost_is_made_once(
    neo4j_graph: Neo4jGraph, neo4j_server: Neo4jServer
) -> None:
    line = CutLine(neo4j_server.port)
    async with serve_connections(line.serve) as port:
        server = GraphServer(f"bolt://127.0.0.1:{port}", neo4j_server.user, "neo4j")
        solutions = Neo4jSolutions(Neo4jConnection(server, neo4j_server.password, retry_seconds=30))
        try:
            await solutions.setup()
            await solutions.put([solution("x")])
            line.lost = b"SET s.changing"
            written = await solutions.change(["x"], once_more)
            kept = (await solutions.get(["x"]))["x"]
        finally:
            await solutions.close()
    assert not line.lost, "no such message was seen"
    assert (written["x"].good, kept.good) == (3, 3)
