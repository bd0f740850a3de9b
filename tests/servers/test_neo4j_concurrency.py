"""Several processes' worth of writers on one Neo4j: nothing is lost, nothing is counted twice."""

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from domain.tool import FINISH
from graph.backends.neo4j_graph import Neo4jGraph
from graph.facts import Edge, GraphBatch
from tests.servers.neo4j.server import Neo4jServer
from tests.support.graph_samples import LOST, A, B, C, batch, document, left_after, walked

WRITERS, RUNS = 8, 25


def connect(server: Neo4jServer) -> Neo4jGraph:
    return Neo4jGraph(server.url, server.user, server.password)


async def test_writers_with_connections_of_their_own_lose_no_update(
    neo4j_graph: Neo4jGraph, neo4j_server: Neo4jServer
) -> None:
    # Half of them walk backwards: whoever locked in the order of the path would wait in a circle.
    async def write(writer: int) -> list[bool]:
        graph = connect(neo4j_server)
        await graph.setup()
        path = (A, B, C, FINISH) if writer % 2 else (C, B, A, FINISH)
        learnt: list[bool] = []
        for run in range(RUNS):
            steps = walked(f"{writer}/{run}", *path[:-1], decay=1.0)
            learnt.append(await graph.learn(steps))
            learnt.append(await graph.apply(batch(f"i{writer}/{run}", {(A, B): 1, (B, FINISH): 2}, {B: 2}, {B: 1})))
        await graph.close()
        return learnt

    with ThreadPoolExecutor(WRITERS) as threads:
        loop = asyncio.get_running_loop()
        answers = await asyncio.gather(*(loop.run_in_executor(threads, asyncio.run, write(n)) for n in range(WRITERS)))

    assert all(all(answer) for answer in answers)
    facts = await neo4j_graph.get_facts([A, B, C])
    everything, half = WRITERS * RUNS, WRITERS * RUNS // 2
    assert {tool: (f.quality, f.reliability, f.ok) for tool, f in facts.items()} == dict.fromkeys(
        (A, B, C), (everything, everything, everything)
    )
    assert (facts[B].calls, facts[B].successes) == (2 * everything, everything)
    found = [n.edge for tool in (B, A) for n in await neo4j_graph.get_out_edges(tool)]
    assert [replace(edge, strength=0.0) for edge in found] == [
        Edge(B, FINISH, 2 * everything, 0),
        Edge(B, A, 0, half),
        Edge(B, C, 0, half),
        Edge(A, B, everything, half),
    ]
    assert sum(edge.strength for edge in found if edge.source == B) == pytest.approx(left_after(everything))
    assert found[-1].strength == pytest.approx(left_after(half))


async def test_of_many_writers_of_one_batch_one_wins(neo4j_graph: Neo4jGraph, neo4j_server: Neo4jServer) -> None:
    others = [connect(neo4j_server) for _ in range(4)]
    for graph in others:
        await graph.setup()
    one = batch("same", {(A, B): 1, (A, LOST): 1})
    assert sorted(await asyncio.gather(*(graph.apply(one) for graph in others))) == [False, False, False, True]
    assert [n.edge.imported for n in await neo4j_graph.get_out_edges(A)] == [1, 1]
    for graph in others:
        await graph.close()


async def test_batches_that_share_a_record_never_both_count(neo4j_graph: Neo4jGraph) -> None:
    def holding(key: str, *records: str) -> GraphBatch:
        return GraphBatch(key, Counter({(A, B): 1}), records=set(records))

    batches = [holding(f"k{n}", f"r{n}", "shared") for n in range(6)]
    assert sum(await asyncio.gather(*(neo4j_graph.apply(one) for one in batches))) == 1
    assert [n.edge.imported for n in await neo4j_graph.get_out_edges(A)] == [1]
    # What lost left nothing behind: neither its key nor its own record.
    assert (await neo4j_graph.compute_statistics()).batches == 3


async def test_setups_at_once_make_one_graph(neo4j_server: Neo4jServer) -> None:
    await asyncio.to_thread(neo4j_server.wipe)
    graphs = [connect(neo4j_server) for _ in range(4)]
    await asyncio.gather(*(graph.setup() for graph in graphs))
    await asyncio.gather(*(graph.put_tools([document(A), document(B)]) for graph in graphs))
    assert (await graphs[0].compute_statistics()).documents == 2
    for graph in graphs:
        await graph.close()
