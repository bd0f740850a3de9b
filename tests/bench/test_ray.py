"""The build of 10,000 official files on two Ray nodes beside the local one. Equal; the speed is told, with no target."""

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.servers.ray.cluster import two_nodes

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "playground" / "data"
FILES = 10_000
pytestmark = [pytest.mark.bench, pytest.mark.ray, pytest.mark.timeout(900)]


def replicated(into: Path) -> Path:
    """The playground's search trees over and over, under other names."""
    files = sorted((DATA / "answer").rglob("*.json"))
    (into / "G1_answer").mkdir(parents=True)
    for number in range(FILES):
        shutil.copyfile(files[number % len(files)], into / "G1_answer" / f"{number}_playground_DFS_woFilter_w2.json")
    return into


def build(answers: Path, store: Path, *more: str) -> dict[str, Any]:
    sources = ["--tools", str(DATA / "openapi.json"), "--trajectories", str(answers), "--store", str(store)]
    command = [sys.executable, str(ROOT / "scripts" / "build_graph.py"), *sources, "--no-embed", "--json", *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    return orjson.loads(done.stdout)


def rows(database: Path) -> dict[str, list[str]]:
    with sqlite3.connect(database) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: sorted(map(repr, connection.execute(f'SELECT * FROM "{name}"'))) for name in tables}


def test_ten_thousand_files(tmp_path: Path) -> None:
    answers = replicated(tmp_path / "answer")
    seconds: dict[str, float] = {}
    databases: list[dict[str, list[str]]] = []
    with two_nodes() as address:
        for name, options in {"one": ("--workers", "1"), "two": ("--workers", "2"), "ray": ("--ray", address)}.items():
            figures = build(answers, tmp_path / name, *options)
            assert figures["trajectories"]["read"] == FILES
            seconds[name] = figures["seconds"]["total"]
            databases.append(rows(tmp_path / name / "graph.db"))
            print(f"\n{name}: {figures['seconds']}, {figures['peak_mb']:.0f} MB, ", end="")
            print(f"{(tmp_path / name / 'graph.db').stat().st_size / FILES:.0f} bytes of database a file")
    assert databases[0] == databases[1] == databases[2]
    print(
        f"Ray over one process: {seconds['ray'] / seconds['one']:.2f}, over two: {seconds['ray'] / seconds['two']:.2f}"
    )
