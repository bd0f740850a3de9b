"""Several processes on one SQLite graph, and processes that die while they write."""

import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from graph.backends.sqlite_graph import SqliteGraph
from graph.facts import MAX_LESSONS, Edge, ToolFacts
from tests.support.graph_samples import NOON, A, B, left_after, walked
from tests.unit.graph.backends.large_batch import large_batch

ROOT = Path(__file__).resolve().parents[4]
pytestmark = pytest.mark.outer


def worker(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.unit.graph.backends.store_worker", *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str]) -> list[str]:
    """The lines that the process printed; it must end well."""
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    return out.splitlines()


def integrity(path: Path) -> str:
    connection = sqlite3.connect(path)
    (verdict,) = connection.execute("PRAGMA integrity_check").fetchone()
    connection.close()
    return verdict


async def new_store(path: Path) -> SqliteGraph:
    graph = SqliteGraph(path)
    await graph.setup()
    return graph


def of_good_calls(count: int) -> ToolFacts:
    """All but the evidence, which is rounded in another order by each order of the runs."""
    return ToolFacts(ok=count, quality=float(count), reliability=float(count), heard=NOON.timestamp())


async def test_eight_processes_lose_no_increment(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    graph = await new_store(path)
    for process in [worker("learn", path, f"process {n}", 25) for n in range(8)]:
        assert len(finished(process)) == 25
    [walked] = await graph.get_out_edges(A)
    assert replace(walked.edge, strength=0.0) == Edge(A, B, 0, 200)
    assert replace(walked.facts, good=0.0) == of_good_calls(200)
    assert (walked.edge.strength, walked.facts.good) == pytest.approx((left_after(200), left_after(200)))
    await graph.close()


async def test_fifty_processes_at_once_add_up(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    graph = await new_store(path)
    for process in [worker("learn", path, f"process {n}", 2) for n in range(50)]:
        assert len(finished(process)) == 2
    assert [replace(edge, strength=0.0) async for edge in graph.stream_edges()] == [Edge(A, B, 0, 100)]
    for tool in (A, B):
        facts = (await graph.get_facts([tool]))[tool]
        assert replace(facts, good=0.0) == of_good_calls(100)
        assert facts.good == pytest.approx(left_after(100))
        assert len({lesson.run for lesson in await graph.get_lessons(tool)}) == MAX_LESSONS
    await graph.close()


async def test_eight_processes_set_up_at_once_and_one_applies(tmp_path: Path) -> None:
    path = tmp_path / "new" / "graph.db"
    said = [line for process in [worker("setup", path) for _ in range(8)] for line in finished(process)]
    assert sorted(said) == ["False"] * 7 + ["True"]
    graph = SqliteGraph(path)
    assert (await graph.get_out_edges(A))[0].edge.imported == 1
    await graph.close()


async def test_a_process_sees_what_another_wrote(tmp_path: Path) -> None:
    graph = await new_store(tmp_path / "graph.db")
    await graph.learn(walked("mine", A, B))
    finished(worker("learn", tmp_path / "graph.db", "theirs", 1))
    assert (await graph.get_out_edges(A))[0].edge.live == 2
    await graph.close()


async def test_killed_while_writing_it_keeps_all_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    await (await new_store(path)).close()
    process = worker("learn", path, "run", 100_000)
    assert process.stdout
    acknowledged = [process.stdout.readline().strip() for _ in range(60)]
    process.send_signal(signal.SIGKILL)
    acknowledged += process.stdout.read().splitlines()  # communicate alone passes over what is buffered here
    process.communicate(timeout=60)
    acknowledged = [key for key in acknowledged if key.startswith("run ")]

    assert integrity(path) == "ok"
    graph = SqliteGraph(path)
    assert await graph.find_applied(acknowledged) == set(acknowledged)
    kept = (await graph.compute_statistics()).batches
    assert len(acknowledged) <= kept <= len(acknowledged) + 1
    assert (await graph.get_out_edges(A))[0].edge.live == kept
    assert (await graph.get_facts([B]))[B].ok == kept
    await graph.close()


@pytest.mark.parametrize("seconds", [0.02, 0.15, 0.4])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
async def test_interrupted_in_a_batch_it_holds_all_or_nothing(
    tmp_path: Path, how: signal.Signals, seconds: float
) -> None:
    path = tmp_path / "graph.db"
    process = worker("apply", path)
    assert process.stdout
    assert process.stdout.readline() == "begins\n"
    time.sleep(seconds)  # noqa: ASYNC251 - the moment is what is tested
    process.send_signal(how)
    process.communicate(timeout=60)

    batch = large_batch("large")
    graph = SqliteGraph(path)
    whole = (await graph.compute_statistics()).transitions
    assert whole in (0, len(batch.transitions))
    assert await graph.apply(batch) == (whole == 0)
    assert (await graph.compute_statistics()).transitions == len(batch.transitions)
    await graph.close()
    assert integrity(path) == "ok"


@pytest.mark.parametrize("there", [False, True])
async def test_a_read_only_folder_is_named_with_what_to_do(there: bool) -> None:
    with tempfile.TemporaryDirectory() as name:  # not tmp_path, which lies where other users cannot look
        path = Path(name) / "graph.db"
        if there:
            await (await new_store(path)).close()
            path.chmod(0o444)
        path.parent.chmod(0o555)
        said = finished(worker("readonly", path))[1:]  # the first line is of the warm-up
        path.parent.chmod(0o755)
    assert len(said) == 2
    assert all(str(path) in line for line in said)
    assert "writable" in said[0]
    assert ("writable" if there else "no store here") in said[1]
