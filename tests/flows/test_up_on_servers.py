"""``up.py`` where the settings name servers: it serves what these hold, and neither makes nor builds anything beside them."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.support import forked_commands
from tests.support.small_catalogue import DOCUMENTS
from tests.support.source_tree import ROOT
from wiring.container import open_container
from wiring.indexing import index_documents
from wiring.settings import Settings

PORTS = ["--page-port", "0", "--server-port", "0", "--playground-port", "0"]
UP = [sys.executable, str(ROOT / "scripts" / "up.py"), *PORTS]


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"FOOTPATH_GRAPH_URL": "bolt://127.0.0.1:1"}, "FOOTPATH_GRAPH_URL"),
        ({"FOOTPATH_VECTOR_URL": "http://127.0.0.1:1"}, "FOOTPATH_VECTOR_URL"),
        (
            {"FOOTPATH_GRAPH_URL": "bolt://127.0.0.1:1", "FOOTPATH_VECTOR_URL": "http://127.0.0.1:1"},
            "FOOTPATH_GRAPH_URL and FOOTPATH_VECTOR_URL",
        ),
    ],
)
def test_a_folder_that_would_not_be_served_is_refused(tmp_path: Path, variables: dict[str, str], named: str) -> None:
    done = forked_commands.run([*UP, "--store", "mystore"], cwd=tmp_path, env=variables, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--store mystore would not be served: {named} name" in done.stderr
    assert "Leave --store out" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_graph_in_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    done = forked_commands.run(UP, cwd=tmp_path, env={"FOOTPATH_VECTOR_URL": "http://127.0.0.1:1"}, timeout=60)
    assert (done.returncode, "holds no Footpath store; build one" in done.stderr) == (3, True)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def shared(tmp_path: Path, qdrant_settings: dict[str, str]) -> Settings:
    """Settings of a store whose vectors are on a server."""
    settings = Settings.model_validate({"store": tmp_path / "store", **qdrant_settings})

    async def fill() -> None:
        async with open_container(settings, create=True) as container:
            await container.graph.put_tools(DOCUMENTS)
            await index_documents(container, lambda stage, done, total: None)

    asyncio.run(fill())
    return settings


def test_what_the_servers_hold_is_served(tmp_path: Path, shared: Settings) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("FOOTPATH_")}
    environment |= {
        "FOOTPATH_VECTOR_URL": shared.vector_url,
        "FOOTPATH_VECTOR_COLLECTION": shared.vector_collection,
        "FOOTPATH_STORE": str(shared.store),
        "FOOTPATH_SERVER_HOME": str(tmp_path / "home"),
        "PYTHONPATH": str(ROOT),
    }
    messages = tmp_path / "messages"
    with (
        messages.open("w") as stderr,
        subprocess.Popen(UP, stdout=subprocess.PIPE, stderr=stderr, text=True, cwd=tmp_path, env=environment) as up,
    ):
        assert up.stdout
        try:
            lines = [up.stdout.readline(), up.stdout.readline()]
            addresses = dict(line.strip().split(": ", 1) for line in lines)
            assert list(addresses) == ["server", "page"], messages.read_text()
            assert _becomes_ready(addresses["server"]), messages.read_text()
        finally:
            up.terminate()
    assert f"the graph in {shared.store}, the vectors in {shared.vector_url}" in messages.read_text()
    assert "The playground is not started" in messages.read_text()
    assert not (tmp_path / ".footpath").exists()


def _becomes_ready(address: str) -> bool:
    """Whether the server finds all parts of the store, in a minute: on a busy machine its first look may take too long."""
    until = time.monotonic() + 60
    while httpx.get(f"{address}/health/ready", trust_env=False, timeout=60).status_code != 200:
        if time.monotonic() > until:
            return False
        time.sleep(0.5)
    return True
