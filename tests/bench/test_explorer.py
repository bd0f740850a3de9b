"""How long a picture of the tool graph takes: from afar, around tools and between them, over the graph of a store that ``FOOTPATH_BENCH_STORE`` names.

What is asked for begins at the tools that requests went through most, which have the most beside them. Nothing of the store is changed.
"""

import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from graph.backends.sqlite_graph import SqliteGraph
from graph.weights import DEFAULT_WEIGHTS
from server.explorer.overview import overview
from server.explorer.paths import paths_between
from server.explorer.surroundings import Wanted, surroundings

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]
STORE = os.environ.get("FOOTPATH_BENCH_STORE", "")
TIMES = 40

Work = Callable[[], Awaitable[Any]]


@pytest.mark.skipif(not STORE, reason="FOOTPATH_BENCH_STORE names no store")
async def test_pictures_of_a_store(capsys: pytest.CaptureFixture[str]) -> None:
    graph = SqliteGraph(Path(STORE) / "graph.db")
    await graph.setup()
    ids = [document.id async for document in graph.stream_documents()]
    walked = Counter[Any]()
    async for edge in graph.stream_edges():
        walked[edge.source] += edge.imported + edge.live
    busiest = [tool for tool, _ in walked.most_common() if tool in set(ids)][:TIMES]
    lines = [f"{len(ids):,} tools"]
    for depth, most in ((1, 24), (2, 40), (3, 80)):
        wanted = Wanted(depth=depth, most=most)
        asked = [
            lambda tool=tool, wanted=wanted: surroundings(graph, DEFAULT_WEIGHTS, tool, wanted) for tool in busiest
        ]
        lines.append(f"around, {depth} deep, {most} tools: {await timed(asked)}")
    pairs = pairwise(busiest)
    lines.append(
        f"paths: {await timed([lambda a=a, b=b: paths_between(graph, DEFAULT_WEIGHTS, a, b, 10) for a, b in pairs])}"
    )
    lines.append(f"from afar: {await timed([lambda: overview(graph, ids, 24) for _ in range(10)])}")
    await graph.close()
    with capsys.disabled():
        print("\n" + "\n".join(lines))


async def timed(asked: Sequence[Work]) -> str:
    """The median and the longest by the clock, and the median of what this process computed."""
    clock, computed = list[float](), list[float]()
    for one in asked:
        begun, before = time.perf_counter(), time.process_time()
        await one()
        clock.append(1000 * (time.perf_counter() - begun))
        computed.append(1000 * (time.process_time() - before))
    return f"{median(clock):.0f} ms, longest {max(clock):.0f} ms; computing {median(computed):.0f} ms"
