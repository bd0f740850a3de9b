"""Exporting, importing and verifying stores, as a person or a program runs the scripts."""

import asyncio
import json
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from graph.backends.sqlite_graph import SqliteGraph
from graph.backends.sqlite_recordings import SqliteRecordings
from graph.facts import Edge, GraphState, ToolFacts
from tests.support import forked_commands
from tests.support.graph_samples import A, document
from tests.support.small_stores import fill
from wiring.store_folder import StoreFolder

ROOT = Path(__file__).resolve().parents[2]


def command(script: str, *arguments: object) -> list[str]:
    return [sys.executable, f"scripts/{script}_store.py", *map(str, arguments)]


def run(script: str, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    if not options:
        return forked_commands.run(command(script, *arguments), cwd=ROOT, timeout=60)
    return subprocess.run(
        command(script, *arguments), cwd=ROOT, capture_output=True, text=True, timeout=60, check=False, **options
    )


def done(script: str, *arguments: object, code: int = 0) -> dict[str, Any]:
    result = run(script, *arguments, "--json")
    assert result.returncode == code, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = StoreFolder(tmp_path_factory.mktemp("made") / "store")
    folder.open(create=True)

    async def make() -> None:
        graph, recordings = SqliteGraph(folder.graph), SqliteRecordings(folder.recordings)
        await graph.setup()
        await recordings.setup()
        await fill(graph, recordings)
        await graph.close()
        await recordings.close()

    asyncio.run(make())
    return folder.root


def change(store: Path, what: str) -> None:
    async def write() -> None:
        graph = SqliteGraph(StoreFolder(store).graph)
        await graph.setup()
        await graph.put_tools([document(A, description=what)])
        await graph.close()

    asyncio.run(write())


def test_a_store_moves_and_is_the_same_again(store: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "one.jsonl.gz", tmp_path / "two.jsonl.gz"
    sizes = {"documents": 2, "nodes": 5, "edges": 5, "keys": 2, "lessons": 2, "batches": 3, "calls": 4}
    said = done("export", first, "--store", store, "--recordings")
    assert said.items() >= sizes.items()
    assert done("import", first, "--store", tmp_path / "new").items() >= {**sizes, "written": 19, "embedded": 2}.items()
    assert done("export", second, "--store", tmp_path / "new", "--recordings")["digest"] == said["digest"]
    assert first.read_bytes() == second.read_bytes()
    assert done("import", first, "--store", tmp_path / "new").items() >= {"written": 0, "embedded": 0}.items()
    assert done("verify", "--store", tmp_path / "new")["equal"]


def test_verify_names_differences_and_repairs_them(store: Path, tmp_path: Path) -> None:
    done("export", tmp_path / "e", "--store", store)
    done("import", tmp_path / "e", "--store", tmp_path / "new", "--no-embed")
    found = done("verify", "--store", tmp_path / "new", code=1)
    assert (found["equal"], found["vectors"]["missing"]["count"], found["words"]["missing"]["count"]) == (False, 2, 2)
    assert done("verify", "--store", tmp_path / "new", "--repair")["embedded"] == 2
    change(tmp_path / "new", "another text")
    assert done("verify", "--store", tmp_path / "new", code=1)["vectors"]["changed"] == {"count": 1, "first": [A]}
    found = done("verify", "--store", tmp_path / "new", "--repair")
    assert (found["equal"], found["embedded"], found["points"]) == (True, 1, 2)


def test_vectors_of_another_encoder_are_made_anew(store: Path, tmp_path: Path) -> None:
    done("export", tmp_path / "e", "--store", store)
    done("import", tmp_path / "e", "--store", tmp_path / "new")
    stamp = StoreFolder(tmp_path / "new").vectors / "identity.json"
    stamp.write_text(stamp.read_text().replace("minilm", "Other"))
    found = done("verify", "--store", tmp_path / "new", code=1)
    assert (found["equal"], found["points"]) == (False, None)
    assert "Other" in found["encoder"]
    assert done("verify", "--store", tmp_path / "new", "--repair")["embedded"] == 2
    assert done("verify", "--store", tmp_path / "new")["equal"]
    assert [one.name for one in (tmp_path / "new").glob("vectors*")] == ["vectors"]


def test_wrong_use_and_missing_stores(store: Path, tmp_path: Path) -> None:
    export = tmp_path / "e.gz"
    done("export", export, "--store", store)
    cases: tuple[tuple[int, str, str, tuple[object, ...]], ...] = (
        (2, "--force", "export", (export, "--store", store)),
        (3, "no Footpath store", "export", (tmp_path / "f", "--store", tmp_path / "none")),
        (3, "No such file", "export", (tmp_path / "none" / "f", "--store", store)),
        (3, "no Footpath store", "verify", ("--store", tmp_path / "none")),
        (2, "no such file", "import", (tmp_path / "f", "--store", tmp_path / "none")),
        (1, "no export of Footpath", "import", (ROOT / "LICENSE", "--store", tmp_path / "none")),
    )
    for code, says, script, arguments in cases:
        result = run(script, *arguments, "--json")
        assert (result.returncode, result.stdout) == (code, ""), result.stderr
        assert says in result.stderr
        assert "Traceback" not in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["e.gz"]


def test_a_broken_export_makes_no_store(store: Path, tmp_path: Path) -> None:
    export = tmp_path / "e.gz"
    done("export", export, "--store", store)
    export.write_bytes(export.read_bytes()[:-40])
    result = run("import", export, "--store", tmp_path / "new")
    assert result.returncode == 1
    assert "cut off" in result.stderr
    assert not (tmp_path / "new").exists()


def test_a_store_of_its_own_is_not_imported_into(store: Path, tmp_path: Path) -> None:
    done("export", tmp_path / "e", "--store", store)
    done("import", tmp_path / "e", "--store", tmp_path / "new", "--no-embed")
    change(tmp_path / "new", "mine")
    result = run("import", tmp_path / "e", "--store", tmp_path / "new")
    assert result.returncode == 2
    assert "imported into an empty store" in result.stderr


def large(folder: Path) -> Path:
    """A store that takes a moment to export."""
    store = StoreFolder(folder)
    store.open(create=True)

    async def make() -> None:
        graph = SqliteGraph(store.graph)
        await graph.setup()
        hubs = [f"c/s/{n:03}" for n in range(300)]
        edges = [Edge(a, b, 1) for a in hubs for b in hubs]  # pyright: ignore[reportArgumentType]
        await graph.restore(GraphState({A: ToolFacts()}, edges, [f"k{n}" for n in range(1000)]))
        await graph.close()

    asyncio.run(make())
    return folder


def test_ctrl_c_and_a_full_disk_leave_no_file(tmp_path: Path) -> None:
    store, export = large(tmp_path / "store"), tmp_path / "out" / "e"
    export.parent.mkdir()
    process = subprocess.Popen(command("export", export, "--store", store), cwd=ROOT, stderr=subprocess.PIPE, text=True)
    part = export.with_name("e.part")
    while not (part.exists() and part.stat().st_size > 1000):
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, "interrupted; no file was left" in said) == (130, True)
    assert list(export.parent.iterdir()) == []

    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    result = run("export", export, "--store", store, preexec_fn=small_files)
    assert (result.returncode, "cannot write" in result.stderr) == (3, True), result.stderr
    assert list(export.parent.iterdir()) == []


def test_an_import_that_was_killed_goes_on(tmp_path: Path) -> None:
    export, new = tmp_path / "e", tmp_path / "new"
    done("export", export, "--store", large(tmp_path / "store"))
    process = subprocess.Popen(command("import", export, "--store", new, "--no-embed"), cwd=ROOT)
    graph = StoreFolder(new).graph
    while not (graph.exists() and graph.with_name("graph.db-wal").exists() and graph.stat().st_size > 0):
        assert process.poll() is None
        time.sleep(0.005)
    time.sleep(0.2)
    process.kill()
    process.wait(timeout=30)
    done("import", export, "--store", new, "--no-embed")
    done("export", tmp_path / "again", "--store", new)
    assert (tmp_path / "again").read_bytes() == export.read_bytes()
