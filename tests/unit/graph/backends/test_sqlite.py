"""A SQLite graph at work: other writers, cancelled callers, threads, closing."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from domain.errors import StoreBusyError, UnavailableError
from graph.backends.sqlite_graph import SqliteGraph
from tests.support.graph_samples import A, walked
from tests.unit.graph.backends.filled_store import filled, names
from tests.unit.graph.backends.large_batch import large_batch


async def test_a_writer_that_does_not_end_is_named_and_readers_go_on(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    await filled(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    graph = SqliteGraph(path, busy_seconds=0.05)
    with pytest.raises(StoreBusyError, match="another process"):
        await graph.learn(walked("r", A))
    assert len(await graph.get_out_edges(A)) == 1
    other.execute("ROLLBACK")
    other.close()
    assert await graph.learn(walked("r", A))
    await graph.close()


async def test_a_write_waits_for_another_one(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    await filled(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    graph = SqliteGraph(path)
    learning = asyncio.create_task(graph.learn(walked("r", A)))
    await asyncio.sleep(0.1)
    assert not learning.done()
    other.execute("COMMIT")
    other.close()
    assert await learning
    await graph.close()


@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.1, 0.3])
async def test_cancelled_in_a_batch_it_holds_all_or_nothing(tmp_path: Path, seconds: float) -> None:
    graph = SqliteGraph(tmp_path / "graph.db")
    await graph.setup()
    large = large_batch("large")
    applying = asyncio.create_task(graph.apply(large))
    await asyncio.sleep(seconds)
    applying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await applying
    await graph.apply(large)  # queues behind what may still be running
    target = next(iter(large.transitions))[1]
    assert (await graph.compute_statistics()).transitions == len(large.transitions)
    assert {edge.imported for edge in await graph.get_in_edges(target)} == {1}
    await graph.close()


async def test_reads_do_not_wait_for_a_write(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    await filled(path)
    graph = SqliteGraph(path)
    applying = asyncio.create_task(graph.apply(large_batch("large")))
    reads = 0
    while not applying.done():
        assert (await graph.compute_statistics()).batches in (1, 2)
        reads += 1
    assert await applying
    assert reads > 1
    await graph.close()


async def test_closing_lets_what_was_asked_for_end(tmp_path: Path) -> None:
    graph = SqliteGraph(tmp_path / "graph.db")
    await graph.setup()
    learning = [asyncio.create_task(graph.learn(walked(f"r{n}", A))) for n in range(5)]
    await asyncio.sleep(0)
    await graph.close()
    assert await asyncio.gather(*learning) == [True] * 5
    assert names(tmp_path) == ["graph.db"]


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    graph = SqliteGraph(tmp_path / "graph.db")
    await graph.setup()
    await graph.close()
    for work in (graph.setup(), graph.compute_statistics(), graph.learn(walked("r", A))):
        with pytest.raises(UnavailableError, match="closed"):
            await work
    with pytest.raises(UnavailableError, match="closed"):
        await asyncio.to_thread(graph.read_out_edges, A)


async def test_the_read_in_ones_own_thread_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    await filled(path)
    graph = SqliteGraph(path)
    assert await asyncio.to_thread(graph.read_out_edges, A) == await graph.get_out_edges(A) != []
    await graph.close()


def test_making_the_object_touches_nothing(tmp_path: Path) -> None:
    SqliteGraph(tmp_path / "nowhere" / "graph.db")
    assert names(tmp_path) == []


async def test_the_store_is_in_wal_mode_and_synchronises_fully(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    await filled(path)
    graph = SqliteGraph(path)
    modes = await graph._database.read(  # pyright: ignore[reportPrivateUsage]
        lambda c: [c.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    )
    assert modes == ["wal", 2]
    await graph.close()
