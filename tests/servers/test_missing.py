"""A server that cannot be had: a skip that says why, or with ``--require`` a failure."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ONE = "tests/contract/test_graph_store_neo4j.py::TestNeo4jGraph::test_an_empty_graph_has_nothing"


def without_java(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", ONE, "-p", "no:cacheprovider", *options]
    environment = os.environ | {"PATH": os.devnull}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100, check=False)


def test_by_default_it_is_skipped_and_said_once() -> None:
    done = without_java()
    assert done.returncode == 0, done.stdout
    lines = [line for line in done.stdout.splitlines() if "java is not on the PATH" in line]
    assert lines == ["Skipped: neo4j not tested on a real server: java is not on the PATH: install Java 17"]


def test_a_required_one_is_a_failure() -> None:
    done = without_java("--require=neo4j")
    assert done.returncode == 1, done.stdout
    assert "--require=neo4j: java is not on the PATH" in done.stdout
