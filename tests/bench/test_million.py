"""A graph far larger than ToolBench's: how long it takes to build, and whether a neighbour query grows with it.

``FOOTPATH_BENCH_TOOLS`` tools of ``FOOTPATH_BENCH_DEGREE`` edges on average are written through the store's own calls,
the edges in no order and in batches of ``FOOTPATH_BENCH_BATCH``, under ``FOOTPATH_BENCH_FOLDER`` (temporary by default).
Documents say no more than the names. A million tools and ten million edges, which take ten minutes and 2 GB of disk:

    FOOTPATH_BENCH_TOOLS=1000000 FOOTPATH_BENCH_BATCH=1000000 make bench ARGS=tests/bench/test_million.py

Two graphs of ToolBench's size are asked beside it, in turn: one of the same degrees, so that nothing but the size
differs, and one of the degrees as ToolBench has them, which is the graph of the other measurements.
"""

import os
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from domain.tool import FINISH, ToolDoc, ToolId, make_tool_id
from graph.backends.sqlite_graph import SqliteGraph
from graph.facts import GraphBatch, Neighbour
from graph.weights import compute_transition_weights, select_top_candidates

Numbers = npt.NDArray[np.int64]
Ask = Callable[[SqliteGraph, ToolId], Awaitable[int]]

# Read here: no test sees FOOTPATH_ variables.
TOOLS = int(os.environ.get("FOOTPATH_BENCH_TOOLS", "100000"))
DEGREE = float(os.environ.get("FOOTPATH_BENCH_DEGREE", "10"))
BATCH = int(os.environ.get("FOOTPATH_BENCH_BATCH", "50000"))
FOLDER = os.environ.get("FOOTPATH_BENCH_FOLDER")
SMALL_TOOLS = 45_113
SMALL_SOURCES = 2_860
DOCUMENTS_A_WRITE = 1_000
QUERIES = 2_000
ROUND = 200
K = 10

# ToolBench's cleaned trajectories as Footpath's store holds them. Sources: (edges to tools, edges to Finish, how many such).
OUT = np.array(
    [
        *((1, 0, 1012), (0, 1, 1199), (2, 0, 106), (1, 1, 348), (3, 0, 11), (2, 1, 110), (4, 0, 2), (3, 1, 45)),
        *((5, 0, 2), (4, 1, 16), (5, 1, 5), (6, 1, 2), (8, 1, 1), (11, 1, 1)),
    ]
)
# Tools by how many edges lead to each, edges by how often each was walked.
IN = np.array([(1, 1426), (2, 209), (3, 51), (4, 11), (5, 5), (6, 3), (14, 1)])
WALKED = np.array([(1, 1685), (2, 276), (3, 59), (4, 26), (5, 18), (6, 10), (7, 8), (9, 4), (11, 4), (10, 3), (8, 2)])
CALLS, SUCCESSES = 16, 13  # of a tool that was called at all, on average

pytestmark = pytest.mark.bench


@dataclass(frozen=True, slots=True)
class Drawn:
    """Edges between numbered tools, in no order; ``target`` -1 is Finish."""

    source: Numbers
    target: Numbers
    walked: Numbers


@dataclass(frozen=True, slots=True)
class Built:
    """A graph, the tools it can be asked about, and what it took. ``seconds``: in the store's calls alone."""

    name: str
    graph: SqliteGraph
    path: Path
    ids: list[ToolId]
    sources: Numbers


def draw(tools: int, sources: int, mean: float | None) -> Drawn:
    """Draw the edges of ``sources`` of ``tools`` tools, of ``mean`` edges each, Finish included (none: as ToolBench has).

    Each source is one of ToolBench's, drawn with replacement. Finish stays a single edge, as it must; the edges to tools
    are multiplied by what the mean asks for, and rounded up or down at random so that the mean holds. Of a source that
    only finished the multiple is of an average one's edges. Targets are drawn by the in-degrees of ToolBench's tools,
    from all tools alike: ToolBench's stay in their tool set four times out of five, which would be kinder to caches.
    """
    random = np.random.default_rng(11)
    out = OUT[random.choice(len(OUT), sources, p=OUT[:, 2] / OUT[:, 2].sum())]
    to_tools: npt.NDArray[np.float64] = out[:, 0].astype(np.float64)
    finish: Numbers = out[:, 1]
    if mean is not None:
        whole = out[:, 0] + finish
        to_tools = np.maximum(whole * mean / whole.mean() - finish, 0)
    degrees = np.floor(to_tools + random.random(sources)).astype(np.int64)
    chosen = random.choice(tools, sources, replace=False)
    liked: Numbers = random.choice(IN[:, 0], tools, p=IN[:, 1] / IN[:, 1].sum())
    draws = random.integers(0, int(liked.sum()), int(degrees.sum()))
    target = np.searchsorted(np.cumsum(liked), draws, side="right")
    source = np.concatenate([np.repeat(chosen, degrees), chosen[finish == 1]])
    target = np.concatenate([target, np.full(int(finish.sum()), -1)])
    # The same pair drawn twice is one edge.
    pairs = np.unique(source * (tools + 1) + target + 1)
    random.shuffle(pairs)
    walked = random.choice(WALKED[:, 0], len(pairs), p=WALKED[:, 1] / WALKED[:, 1].sum())
    return Drawn(pairs // (tools + 1), pairs % (tools + 1) - 1, walked)


def name_of(number: int) -> ToolId:
    return make_tool_id(f"Category {number % 49}", f"tool set {number // 4}", f"api {number}")


def documents(ids: list[ToolId]) -> Iterator[list[ToolDoc]]:
    for start in range(0, len(ids), DOCUMENTS_A_WRITE):
        page = enumerate(ids[start : start + DOCUMENTS_A_WRITE], start)
        yield [ToolDoc(id=i, category="c", toolset="t", api=f"api {n}", function=f"api_{n}_for_set") for n, i in page]


def batches(ids: list[ToolId], drawn: Drawn) -> Iterator[GraphBatch]:
    """The edges, and with each batch its share of the calls of their targets."""
    names = [*ids, FINISH]
    for start in range(0, len(drawn.source), BATCH):
        batch = GraphBatch(f"batch {start}")
        part = slice(start, start + BATCH)
        for source, target, walked in zip(
            drawn.source[part].tolist(), drawn.target[part].tolist(), drawn.walked[part].tolist(), strict=True
        ):
            batch.transitions[names[source], names[target]] = walked
            if target >= 0:
                batch.calls[names[target]], batch.successes[names[target]] = CALLS, SUCCESSES
        yield batch


@asynccontextmanager
async def built(name: str, folder: Path, tools: int, drawn: Drawn) -> AsyncGenerator[Built]:
    path = folder / f"{name}.db"
    ids = [name_of(number) for number in range(tools)]
    graph = SqliteGraph(path)
    await graph.setup()
    begun = time.perf_counter()
    put = applied = 0.0
    for page in documents(ids):
        put += await seconds_of(graph.put_tools(page))
    for batch in batches(ids, drawn):
        applied += await seconds_of(graph.apply(batch))
    edges, sizes = len(drawn.source), await graph.compute_statistics()
    assert sizes.transitions + sizes.finish_transitions == edges
    applied += await seconds_of(graph.close())
    whole = time.perf_counter() - begun
    print(
        f"\n{name}: {tools} tools in {put:.1f} s, {edges} edges in {applied:.1f} s ({edges / applied:,.0f} edges/s); "
        f"{whole:.1f} s with the making of the batches; {path.stat().st_size / 1e6:,.0f} MB",
        flush=True,
    )
    graph = SqliteGraph(path)
    yield Built(name, graph, path, ids, np.unique(drawn.source))
    await graph.close()


async def seconds_of(work: Awaitable[object]) -> float:
    started = time.perf_counter()
    await work
    return time.perf_counter() - started


def offered(neighbours: list[Neighbour]) -> int:
    return len(select_top_candidates(compute_transition_weights(neighbours), K))


async def synchronous(graph: SqliteGraph, tool: ToolId) -> int:
    return offered(graph.read_out_edges(tool))


async def asynchronous(graph: SqliteGraph, tool: ToolId) -> int:
    return offered(await graph.get_out_edges(tool))


def drop_from_memory(path: Path) -> None:
    """Have the operating system forget what it holds of the file, so that queries read it from the disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)


async def times(graphs: list[Built], ask: Ask, seed: int) -> dict[str, Numbers]:
    """Sorted nanoseconds of queries at random tools, no tool twice, the graphs asked in turn."""
    random = np.random.default_rng(seed)
    chosen: dict[str, list[int]] = {g.name: random.choice(g.sources, QUERIES, replace=False).tolist() for g in graphs}
    taken: dict[str, list[int]] = {g.name: [] for g in graphs}
    offers = dict.fromkeys(taken, 0)
    for start in range(0, QUERIES, ROUND):
        for g in graphs:
            for number in chosen[g.name][start : start + ROUND]:
                tool = g.ids[number]
                started = time.perf_counter_ns()
                offers[g.name] += await ask(g.graph, tool)
                taken[g.name].append(time.perf_counter_ns() - started)
    assert all(offers.values()), "a graph that offers nothing is fast for the wrong reason"
    return {name: np.sort(np.array(values)) for name, values in taken.items()}


async def compare(title: str, graphs: list[Built], ask: Ask, seed: int) -> None:
    """Print the percentiles of each graph, and by how much the first one's median exceeds that of the others."""
    measured = await times(graphs, ask, seed)
    large = measured[graphs[0].name]
    for name, taken in measured.items():
        p50, p99 = taken[QUERIES // 2] / 1e6, taken[QUERIES * 99 // 100] / 1e6
        ratio = large[QUERIES // 2] / taken[QUERIES // 2]
        print(f"  {title}, {name}: p50 {p50:.3f} ms, p99 {p99:.3f} ms; large / this {ratio:.2f}", flush=True)


async def test_queries_as_the_graph_grows() -> None:
    with tempfile.TemporaryDirectory(dir=FOLDER, prefix="footpath-bench-") as name:
        folder = Path(name)
        async with AsyncExitStack() as stack:
            graphs = [
                await stack.enter_async_context(built("large", folder, TOOLS, draw(TOOLS, TOOLS, DEGREE))),
                await stack.enter_async_context(
                    built("small, same degrees", folder, SMALL_TOOLS, draw(SMALL_TOOLS, SMALL_TOOLS, DEGREE))
                ),
                await stack.enter_async_context(
                    built("small, ToolBench's degrees", folder, SMALL_TOOLS, draw(SMALL_TOOLS, SMALL_SOURCES, None))
                ),
            ]
            for graph in graphs:
                drop_from_memory(graph.path)
            await compare("first read from disk", graphs, synchronous, seed=1)
            for graph in graphs:
                graph.path.read_bytes()
            await compare("synchronous core", graphs, synchronous, seed=2)
            await compare("async API", graphs, asynchronous, seed=3)
