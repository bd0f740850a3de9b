"""How long a walk waits for the neighbours of a node: the top-K query with its weights.

On a synthetic graph with the out-degrees of ToolBench's cleaned trajectories, and on a real store where
``FOOTPATH_BENCH_STORE`` names its folder. Both the synchronous core and the asynchronous call are timed.
"""

import os
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from domain.tool import FINISH, ToolDoc, ToolId, make_tool_id
from graph.backends.sqlite_graph import SqliteGraph
from graph.facts import GraphBatch, Neighbour
from graph.weights import compute_transition_weights, select_top_candidates

STORE = os.environ.get("FOOTPATH_BENCH_STORE", "")  # read here: no test sees FOOTPATH_ variables
OUT_DEGREES = {1: 2211, 2: 454, 3: 121, 4: 47, 5: 18, 6: 5, 7: 2, 9: 1, 12: 1}
DOCUMENTS = 45_113
QUERIES = 3_000
K = 10

pytestmark = pytest.mark.bench


@dataclass(frozen=True, slots=True)
class Measured:
    """A store with the sources to ask about, and that of largest out-degree."""

    name: str
    graph: SqliteGraph
    sources: list[ToolId]
    widest: ToolId


def synthetic() -> tuple[list[ToolDoc], GraphBatch]:
    numbers = random.Random(3)
    ids = [make_tool_id(f"Category {n % 49}", f"tool set {n // 4}", f"api {n}") for n in range(DOCUMENTS)]
    body = '{"type": "object"}' * 20
    documents = [
        ToolDoc(
            id=i, category="c", toolset="t", api="a", function=f"f{n}", description="words " * 30, response_schema=body
        )
        for n, i in enumerate(ids)
    ]
    batch = GraphBatch("synthetic")
    sources = iter(numbers.sample(ids, sum(OUT_DEGREES.values())))
    for degree, count in OUT_DEGREES.items():
        for _ in range(count):
            source = next(sources)
            for target in [FINISH, *numbers.sample(ids, degree - 1)]:
                batch.transitions[source, target] = numbers.randint(1, 9)
                if target != FINISH:
                    batch.calls[target], batch.successes[target] = 4, 3
    return documents, batch


@pytest.fixture(params=["synthetic", "real"])
async def measured(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Measured]:
    if request.param == "real":
        if not STORE:
            pytest.skip("no real store: set FOOTPATH_BENCH_STORE to the folder of one")
        graph = SqliteGraph(Path(STORE) / "graph.db")
        sources = sorted({edge.source for tool in await all_nodes(graph) for edge in await graph.get_in_edges(tool)})
    else:
        graph = SqliteGraph(tmp_path / "graph.db")
        await graph.setup()
        documents, batch = synthetic()
        started = time.perf_counter()
        await graph.put_tools(documents)
        await graph.apply(batch)
        print(
            f"\nload: {DOCUMENTS} documents and {len(batch.transitions)} edges in {time.perf_counter() - started:.2f} s"
        )
        sources = sorted({source for source, _ in batch.transitions})
    degrees = {source: len(graph.read_out_edges(source)) for source in sources}
    yield Measured(request.param, graph, sources, max(sources, key=lambda source: degrees[source]))
    await graph.close()


async def all_nodes(graph: SqliteGraph) -> list[ToolId]:
    """Tools that a transition may lead to: all documents, Finish, and whatever those lead to."""
    found = [FINISH, *[document.id async for document in graph.stream_documents()]]
    sources = {edge.source for edge in await graph.get_in_edges(FINISH)}
    return [*found, *(sources - set(found))]


def offered(neighbours: list[Neighbour]) -> int:
    return len(select_top_candidates(compute_transition_weights(neighbours), K))


async def timed(ask: Callable[[ToolId], Awaitable[int]], sources: list[ToolId]) -> str:
    numbers = random.Random(5)
    seconds: list[float] = []
    for _ in range(QUERIES):
        source = numbers.choice(sources)
        started = time.perf_counter()
        await ask(source)
        seconds.append(time.perf_counter() - started)
    seconds.sort()
    return f"p50 {seconds[QUERIES // 2] * 1e3:.3f} ms, p99 {seconds[QUERIES * 99 // 100] * 1e3:.3f} ms"


async def test_top_k_neighbours(measured: Measured) -> None:
    graph = measured.graph

    async def synchronous(source: ToolId) -> int:
        return offered(graph.read_out_edges(source))

    async def asynchronous(source: ToolId) -> int:
        return offered(await graph.get_out_edges(source))

    widest = len(graph.read_out_edges(measured.widest))
    print(f"\n{measured.name}: {len(measured.sources)} sources, largest out-degree {widest}, K = {K}")
    for name, ask in (("synchronous core", synchronous), ("async API", asynchronous)):
        print(f"  {name}: all {await timed(ask, measured.sources)}; widest {await timed(ask, [measured.widest])}")
    assert await synchronous(measured.widest) == await asynchronous(measured.widest) > 0
