"""A build on two Ray nodes leaves what a build on this machine leaves: facts, records, vectors, words and figures."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from domain.tool import ToolId
from tests.servers.ray.cluster import two_nodes
from wiring.container import open_container
from wiring.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "playground" / "data"
COPIES = 3
pytestmark = [pytest.mark.ray, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with two_nodes() as address:
        yield address


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hundreds of search trees in the official form, some of them broken: more than one block."""
    folder = tmp_path_factory.mktemp("trees") / "answer"
    for file in sorted((DATA / "answer").rglob("*.json")):
        group = folder / file.parent.name
        group.mkdir(parents=True, exist_ok=True)
        for number in range(COPIES):
            (group / f"{number}_{file.name}").write_bytes(file.read_bytes())
    (folder / "G1_answer" / "broken.json").write_bytes(b'{"tree": ')
    return folder


def build(answers: Path, store: Path, *more: str) -> dict[str, Any]:
    sources = ["--tools", str(DATA / "openapi.json"), "--trajectories", str(answers)]
    command = [
        sys.executable,
        str(ROOT / "scripts" / "build_graph.py"),
        *sources,
        "--store",
        str(store),
        "--json",
        *more,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, cwd=ROOT)
    assert done.returncode == 1, done.stderr
    assert "broken.json" in done.stderr
    return {name: value for name, value in orjson.loads(done.stdout).items() if name not in ("seconds", "peak_mb")}


def rows(database: Path) -> dict[str, list[str]]:
    """Everything a database holds."""
    with sqlite3.connect(database) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: sorted(map(repr, connection.execute(f'SELECT * FROM "{name}"'))) for name in tables}


async def retrieval(store: Path) -> tuple[dict[ToolId, str], dict[ToolId, np.ndarray], str]:
    async with open_container(Settings(store=store)) as container:
        _, index, lexical = await container.get_retrieval()
        digests = await index.fetch_digests()
        return digests, await index.fetch_vectors(digests), await lexical.read_fingerprint()


async def test_equal_to_a_local_build(address: str, answers: Path, tmp_path: Path) -> None:
    local, cluster = tmp_path / "local", tmp_path / "cluster"
    expected = build(answers, local, "--workers", "1")
    assert expected["trajectories"]["read"] >= 256
    assert build(answers, cluster, "--ray", address) == expected
    assert rows(cluster / "graph.db") == rows(local / "graph.db")
    digests, vectors, words = await retrieval(local)
    on_cluster = await retrieval(cluster)
    assert (on_cluster[0], on_cluster[2]) == (digests, words)
    assert all(np.array_equal(on_cluster[1][tool], vectors[tool]) for tool in digests)


def test_repeated_it_adds_nothing(address: str, answers: Path, tmp_path: Path) -> None:
    first = build(answers, tmp_path, "--no-embed", "--ray", address)
    before = rows(tmp_path / "graph.db")
    assert build(answers, tmp_path, "--no-embed", "--ray", address)["already"] == first["trajectories"]["read"]
    assert rows(tmp_path / "graph.db") == before


def test_no_cluster_there(answers: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "build_graph.py"), "--trajectories", str(answers)]
    done = subprocess.run(
        [*command, "--store", str(tmp_path / "store"), "--ray", "127.0.0.2:1"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert "no Ray cluster answers at 127.0.0.2:1" in done.stderr
    assert not (tmp_path / "store").exists()
