"""Solutions on a Neo4j server keep the contract."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from domain.solution import Solution, SolutionStore
from graph.backends.neo4j_connection import GraphServer, Neo4jConnection
from graph.backends.neo4j_graph import Neo4jGraph
from graph.backends.neo4j_solutions import Neo4jSolutions
from tests.servers.neo4j.server import Neo4jServer
from tests.support.solution_store_contract import SolutionStoreContract, once_more, solution


def store(neo4j: Neo4jServer) -> Neo4jSolutions:
    """One that is not set up."""
    server = GraphServer(neo4j.url, neo4j.user, "neo4j")
    return Neo4jSolutions(Neo4jConnection(server, neo4j.password, retry_seconds=10))


class TestNeo4j(SolutionStoreContract):
    @pytest.fixture
    async def solutions(self, neo4j_server: Neo4jServer) -> AsyncGenerator[SolutionStore]:
        await asyncio.to_thread(neo4j_server.wipe)
        made = store(neo4j_server)
        await made.setup()
        yield made
        await made.close()


async def test_two_machines_change_the_same_neo4j_and_lose_nothing(neo4j_server: Neo4jServer) -> None:
    await asyncio.to_thread(neo4j_server.wipe)
    graph = Neo4jGraph(neo4j_server.url, neo4j_server.user, neo4j_server.password, "neo4j")
    await graph.setup()
    before = await graph.compute_statistics()
    machines = [store(neo4j_server) for _ in range(2)]
    for one in machines:
        await one.setup()
    await machines[0].put([solution(name) for name in "xyz"])

    def made(name: str, there: Solution | None) -> Solution | None:
        return once_more(name, there) or solution(name)

    names = (["x", "y", "new"], ["new", "y", "x"])
    await asyncio.gather(*(machines[n % 2].change(names[n % 2], made) for n in range(30)))
    kept = await machines[1].get(["x", "y", "z", "new"])
    assert {name: one.good for name, one in kept.items()} == {"x": 32, "y": 32, "z": 2, "new": 31}
    assert await graph.compute_statistics() == before
    await graph.setup()
    for one in (graph, *machines):
        await one.close()
