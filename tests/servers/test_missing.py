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


def without_postgres(*options: str) -> subprocess.CompletedProcess[str]:
    """PostgreSQL's programs are looked for where Debian puts them too, so the place is told to be another."""
    program = (
        "import sys, pathlib, pytest; from tests.servers.postgres import server; "
        "server.PLACES = pathlib.Path('/nowhere'); sys.exit(pytest.main(sys.argv[1:]))"
    )
    one = "tests/contract/rows/test_migrations.py::test_several_at_once_do_it_once"
    command = [sys.executable, "-c", program, one, "-p", "no:cacheprovider", *options]
    environment = os.environ | {"PATH": os.devnull}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100, check=False)


def test_postgres_is_skipped_and_said_once() -> None:
    done = without_postgres()
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 skipped" in done.stdout
    assert "Skipped: postgres not tested on a real server: initdb is neither" in done.stdout


def test_a_required_postgres_is_a_failure() -> None:
    done = without_postgres("--require=postgres")
    assert done.returncode == 1, done.stdout
    assert "--require=postgres: initdb is neither on the PATH" in done.stdout
