"""The playground's store on a real Neo4j, built with the script as a user builds it: what an embedded store holds."""

import gzip
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson

from graph.backends.neo4j_graph import Neo4jGraph
from tests.servers.neo4j.server import Neo4jServer

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "playground" / "data"
SOURCES = ("--tools", DATA / "openapi.json", "--trajectories", DATA / "answer", "--no-embed")


def ran(script: str, *arguments: object, **environment: str) -> dict[str, Any]:
    command = [sys.executable, f"scripts/{script}.py", *map(str, arguments), "--json"]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    return orjson.loads(done.stdout)


def graph_lines(export: Path) -> list[bytes]:
    """An export without the memories, which say when they were made, and without the digest of all."""
    with gzip.open(export) as lines:
        return [line for line in lines if orjson.loads(line)["kind"] not in ("memory", "end")]


async def test_the_playground_is_built_as_it_is_embedded(
    neo4j_graph: Neo4jGraph, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    server = {
        "FOOTPATH_GRAPH_URL": neo4j_server.url,
        "FOOTPATH_GRAPH_PASSWORD": neo4j_server.password,
        "FOOTPATH_STORE": str(tmp_path / "on a server"),
    }
    ran("build_graph", *SOURCES, **server)
    ran("build_graph", *SOURCES, "--store", tmp_path / "embedded")
    ran("export_store", tmp_path / "server.gz", **server)
    ran("export_store", tmp_path / "embedded.gz", "--store", tmp_path / "embedded")
    assert graph_lines(tmp_path / "server.gz") == graph_lines(tmp_path / "embedded.gz")
    secrets = {one.secret async for tool in neo4j_graph.stream_documents() for one in tool.credentials}
    assert secrets == {"rates_pro_ratesprokey", "courier_mail_couriermailtoken"}
