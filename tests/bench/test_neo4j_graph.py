"""The whole graph into Neo4j and SQLite in one run, and the top-K neighbour query on both, with one thread and eight.

The graph is that of the store whose folder ``FOOTPATH_BENCH_STORE`` names, else a synthetic one of the same size.
"""

import asyncio
import os
import random
import time
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

import pytest

from domain.tool import FINISH, ToolDoc, ToolId
from graph.backends.neo4j_graph import Neo4jGraph
from graph.backends.sqlite_graph import SqliteGraph
from graph.facts import GraphBatch
from graph.store import GraphStore
from graph.weights import WeightParameters, compute_transition_weights, select_top_candidates
from tests.bench.test_neighbours import synthetic
from tests.servers.neo4j.server import Neo4jServer

STORE = os.environ.get("FOOTPATH_BENCH_STORE", "")  # read here: no test sees FOOTPATH_ variables
DOCUMENTS_A_WRITE = 1_000
QUERIES, K = 2_000, 10

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a graph lies: every thread opens its own connection."""

    name: str
    address: Path | Neo4jServer

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[GraphStore]:
        if isinstance(self.address, Path):
            graph = SqliteGraph(self.address)
        else:
            graph = Neo4jGraph(self.address.url, self.address.user, self.address.password)
        await graph.setup()
        yield graph
        await graph.close()


async def whole(folder: Path) -> tuple[list[ToolDoc], GraphBatch]:
    """All documents of a built store, and its counts as one batch."""
    graph = SqliteGraph(folder / "graph.db")
    await graph.setup()
    documents = [tool async for tool in graph.stream_documents()]
    batch = GraphBatch("whole")
    left = {tool.id for tool in documents} | {edge.source for edge in await graph.get_in_edges(FINISH)}
    while left:
        batch.nodes |= left
        found = [neighbour.edge for tool in left for neighbour in await graph.get_out_edges(tool)]
        batch.transitions.update({(edge.source, edge.target): edge.imported for edge in found})
        left = {edge.target for edge in found} - batch.nodes - {FINISH}
    for tool, facts in (await graph.get_facts(batch.nodes)).items():
        if facts.calls:
            batch.calls[tool], batch.successes[tool] = facts.calls, facts.successes
    batch.nodes -= {tool.id for tool in documents}
    await graph.close()
    return documents, batch


async def load(place: Place, documents: list[ToolDoc], batch: GraphBatch) -> None:
    async with place.open() as graph:
        start = time.perf_counter()
        for first in range(0, len(documents), DOCUMENTS_A_WRITE):
            await graph.put_tools(documents[first : first + DOCUMENTS_A_WRITE])
        between = time.perf_counter()
        assert await graph.apply(batch)
        end = time.perf_counter()
        edges, counted = len(batch.transitions), len(batch.calls)
        print(
            f"{place.name}: {len(documents)} documents in {between - start:.1f} s; {edges} edges and the"
            f" counts of {counted} tools in {end - between:.1f} s, {edges / (end - between):,.0f} edges/s"
        )


async def ask(place: Place, sources: list[ToolId], seed: int) -> list[float]:
    """Milliseconds of each query: one read, weights and ranking included."""
    chosen = random.Random(seed).choices(sources, k=QUERIES)
    taken: list[float] = []
    async with place.open() as graph:
        for source in [*chosen[:100], *chosen]:
            start = time.perf_counter()
            select_top_candidates(compute_transition_weights(await graph.get_out_edges(source), WeightParameters()), K)
            taken.append(1000 * (time.perf_counter() - start))
    return taken[100:]


def report(place: Place, sources: list[ToolId], threads: int) -> None:
    def asked(seed: int) -> list[float]:
        return asyncio.run(ask(place, sources, seed))

    start = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        taken = [milliseconds for answer in pool.map(asked, range(threads)) for milliseconds in answer]
    rate = threads * QUERIES / (time.perf_counter() - start)
    cuts = quantiles(taken, n=100)
    print(
        f"{place.name}: {threads} thread(s), top {K}: p50 {cuts[49]:.3f} ms, p99 {cuts[98]:.3f} ms, {rate:,.0f} queries/s"
    )


def test_the_whole_graph_in_neo4j_and_sqlite(neo4j_server: Neo4jServer, tmp_path: Path) -> None:
    documents, batch = asyncio.run(whole(Path(STORE))) if STORE else synthetic()
    sources = sorted({source for source, _ in batch.transitions})
    neo4j_server.wipe()
    print()
    places = [Place("SQLite", tmp_path / "graph.db"), Place("Neo4j", neo4j_server)]
    for place in places:
        asyncio.run(load(place, documents, batch))

    async def compared() -> None:
        async with places[0].open() as one, places[1].open() as other:
            assert await one.compute_statistics() == await other.compute_statistics()
            for source in random.Random(1).sample(sources, 200):
                assert await one.get_out_edges(source) == await other.get_out_edges(source)

    asyncio.run(compared())
    for threads in (1, 8):
        for place in places:
            report(place, sources, threads)
