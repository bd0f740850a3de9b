"""``scripts/build_graph.py`` as a process: its contract, and what bad input, a full disk and Ctrl-C leave behind."""

import gzip
import json
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import forked_commands

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "build_graph.py"
KEYS = {"tools", "trajectories", "calls", "transitions", "finish_transitions", "seconds", "peak_mb"}


def command(store: Path, *options: str | Path) -> list[str]:
    return [sys.executable, str(SCRIPT), "--store", str(store), "--no-embed", "--json", *map(str, options)]


def build(store: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    return forked_commands.run(command(store, *options), timeout=100)


def build_bounded(
    store: Path, *options: str | Path, before: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    """By a new Python, whose memory is its own, and whose limits are set before it starts."""
    return subprocess.run(
        command(store, *options), capture_output=True, text=True, timeout=100, preexec_fn=before, check=False
    )


def tool(number: int) -> dict[str, Any]:
    return {
        "category": "C",
        "tool_name": "T",
        "api_name": f"api {number}",
        "function": f"api_{number}_for_t",
        "description": "words " * 40,
    }


def trajectory(number: int, tools: int) -> dict[str, Any]:
    calls = [{"function": f"api_{(number * step) % tools}_for_t", "ok": step != 3} for step in range(1, 6)]
    return {"id": f"{number}", "query": "q" * 300, "calls": calls, "finish": "give_answer"}


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("sources")
    return (
        write(folder / "tools.jsonl", [tool(n) for n in range(400)]),
        write(folder / "trajectories.jsonl", [trajectory(n, 400) for n in range(12_000)]),
    )


def facts(store: Path) -> list[tuple[Any, ...]]:
    """Everything that was counted, straight from the file."""
    query = """
        SELECT s.id, t.id, e.imported, s.calls, s.successes
        FROM edge e JOIN node s ON s.num = e.source JOIN node t ON t.num = e.target ORDER BY s.id, t.id
    """
    with sqlite3.connect(store / "graph.db") as connection:
        return connection.execute(query).fetchall()


@pytest.fixture(scope="module")
def undisturbed(sources: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    store = tmp_path_factory.mktemp("undisturbed") / "store"
    done = build(store, "--tools", sources[0], "--trajectories", sources[1])
    assert done.returncode == 0, done.stderr
    return facts(store)


def test_one_object_on_stdout_and_a_report(tmp_path: Path) -> None:
    tools = write(tmp_path / "tools.jsonl", [tool(1), tool(2)])
    path = write(tmp_path / "t.jsonl", [trajectory(1, 3), {"id": "2", "calls": [], "finish": "give_up"}])
    calls = write(
        tmp_path / "calls.jsonl",
        [
            {"category": "C", "tool_name": "t", "api_name": "api_1", "kind": kind, "response": text}
            for kind, text in (
                ("ok", "{}"),
                ("empty", "[]"),
                ("soft_error", "Error"),
                ("soft_error", "Invalid API key"),
            )
        ],
    )
    done = build(
        tmp_path / "store",
        *("--tools", tools, "--trajectories", path, "--calls", calls, "--report", tmp_path / "report.json"),
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary.keys() >= KEYS
    assert summary["tools"] == 2
    assert summary["trajectories"] == {"read": 2, "kept": 1, "dropped": {"gave_up": 1}}
    assert summary["calls"] == {"read": 9, "known": 8, "ok": 6, "unresolved": 1, "ambiguous": 0}
    assert "9 read: 6 succeeded, 2 failed, 1 of unknown outcome" in done.stderr
    assert "8 of these are of a known tool, 1 of none, 0 of several" in done.stderr
    assert (summary["transitions"], summary["finish_transitions"]) == (1, 1)
    assert summary["seconds"].keys() == {"parse", "count", "write", "embed", "links", "total"}
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["unresolved"] == {"api_0_for_t": 1}
    with sqlite3.connect(tmp_path / "store" / "graph.db") as connection:
        (row,) = connection.execute("SELECT calls, successes FROM node WHERE id = 'C/T/api%201'").fetchall()
    assert row == (5, 4)


def test_broken_input_is_named_and_the_rest_is_built(tmp_path: Path, sources: tuple[Path, Path]) -> None:
    packed = gzip.compress(sources[1].read_bytes()[:1_000_000])
    broken = tmp_path / "broken.jsonl.gz"
    broken.write_bytes(packed[:-2_000])
    done = build(tmp_path / "store", "--tools", sources[0], "--trajectories", broken)
    assert done.returncode == 1
    read = json.loads(done.stdout)["trajectories"]["read"]
    assert read > 1_000
    assert f"{broken}:{read + 1}: the gzip data ends early; the {read} lines before it were read" in done.stderr
    strict = build(tmp_path / "strict", "--tools", sources[0], "--trajectories", broken, "--strict")
    assert (strict.returncode, strict.stdout) == (1, "")
    assert "--strict stops here" in strict.stderr


def test_a_line_of_200_mb(tmp_path: Path, sources: tuple[Path, Path]) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as stream:
        stream.write(b'{"id":"1","calls":[{"function":"api_1_for_t"}]}\n{"id":"')
        for _ in range(200):
            stream.write(b"x" * (1 << 20))
        stream.write(b'"}\n{"id":"3","calls":[{"function":"api_2_for_t"}]}\n')
    done = build_bounded(tmp_path / "store", "--tools", sources[0], "--trajectories", path)
    assert done.returncode == 1
    summary = json.loads(done.stdout)
    assert summary["trajectories"]["kept"] == 2
    assert f"{path}:2: a line longer than 64 MiB" in done.stderr
    assert summary["peak_mb"] < 300


@pytest.mark.parametrize("options", [(), ("--tools", "none"), ("--trajectories", "none"), ("--calls", ".")])
def test_wrong_use(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = build(tmp_path / "store", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("limit", [400_000, 1_500_000])
def test_after_a_full_disk_the_same_command_completes(
    tmp_path: Path, sources: tuple[Path, Path], undisturbed: list[tuple[Any, ...]], limit: int
) -> None:
    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    options = ("--tools", sources[0], "--trajectories", sources[1])
    full = build_bounded(tmp_path / "store", *options, before=small_disk)
    assert (full.returncode, full.stdout) == (3, "")
    assert "Traceback" not in full.stderr
    assert "disk" in full.stderr
    assert build(tmp_path / "store", *options).returncode == 0
    assert facts(tmp_path / "store") == undisturbed


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("applied", [1, 4, 9])
def test_interrupted_at_any_moment_the_same_command_completes(
    tmp_path: Path, sources: tuple[Path, Path], undisturbed: list[tuple[Any, ...]], applied: int, sign: signal.Signals
) -> None:
    options = ("--tools", sources[0], "--trajectories", sources[1])
    store = tmp_path / "store"
    process = subprocess.Popen(command(store, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_batches(store, applied)
    process.send_signal(sign)
    out, err = process.communicate(timeout=60)
    if process.returncode != 0:  # It may have been done already.
        assert out == ""
        if sign == signal.SIGINT:
            assert process.returncode == 130
            assert "Run the same command again" in err
            assert "Traceback" not in err
    assert build(store, *options).returncode == 0
    assert facts(store) == undisturbed


def wait_for_batches(store: Path, number: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            with sqlite3.connect(f"file:{store / 'graph.db'}?mode=ro", uri=True) as connection:
                (found,) = connection.execute("SELECT count(*) FROM batch WHERE key LIKE 'import:%'").fetchone()
        except sqlite3.OperationalError:
            found = 0
        if found >= number:
            return
        time.sleep(0.005)
    raise AssertionError(f"{number} batches were never applied")
