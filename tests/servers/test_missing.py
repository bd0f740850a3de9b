"""Servers that cannot be had: skips that say why, or with ``--require`` failures."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEO4J = "tests/contract/test_graph_store_neo4j.py::TestNeo4jGraph::test_an_empty_graph_has_nothing"
POSTGRES = "tests/contract/rows/test_migrations.py::test_several_at_once_do_it_once"
"""One passes without a server, and one needs it."""
QDRANT = (
    "tests/unit/retriever/test_qdrant_grpc.py::test_a_closed_connection_holds_no_socket_even_where_its_errors_are_kept"
)
WITHOUT = (
    "import sys, pathlib, pytest; from tests.servers.postgres import server; server.PLACES = pathlib.Path('/nowhere'); "
    "from tests.servers.qdrant import server; server.SHARED_SERVERS = pathlib.Path('/nowhere'); "
    "sys.exit(pytest.main(sys.argv[1:]))"
)
"""Programs are also looked for where Debian puts them and beside the project, so these places are told to be others."""


def without_servers(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT, NEO4J, POSTGRES, QDRANT, "-p", "no:cacheprovider", *options]
    environment = os.environ | {"PATH": os.devnull, "QDRANT_BIN": "", "QDRANT_URL": ""}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=200, check=False)


def test_by_default_they_are_skipped_and_said_once() -> None:
    done = without_servers()
    assert done.returncode == 0, done.stdout
    assert "1 passed, 3 skipped" in done.stdout
    said = [line for line in done.stdout.splitlines() if line.startswith("Skipped: ")]
    assert len(said) == 3
    assert said[0] == "Skipped: neo4j not tested on a real server: java is not on the PATH: install Java 17"
    assert said[1].startswith("Skipped: postgres not tested on a real server: initdb is neither")
    assert said[2].startswith("Skipped: qdrant not tested on a real server: QDRANT_BIN names no Qdrant server")


def test_required_ones_are_failures() -> None:
    done = without_servers("--require=neo4j", "--require=postgres", "--require=qdrant")
    assert done.returncode == 1, done.stdout
    assert "1 passed, 3 errors" in done.stdout
    assert "--require=neo4j: java is not on the PATH" in done.stdout
    assert "--require=postgres: initdb is neither on the PATH" in done.stdout
    assert "--require=qdrant: QDRANT_BIN names no Qdrant server" in done.stdout
