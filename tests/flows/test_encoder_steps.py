"""A change of encoder step by step, by the command: killed in the middle, taken up, switched to, and what else it says."""

import sys
import time
from pathlib import Path

import orjson
import pytest

from retriever.calibration_texts import TOPICS
from tests.models.openai_replies import ChatRequest, Hangs, Reply, scripted
from tests.models.openai_server import model_server_in_thread
from tests.models.word_vectors import DIMENSION, word_embeddings
from tests.support import forked_commands
from tests.support.small_catalogue import document
from tests.support.source_tree import ROOT
from wiring.container import open_container

TOOLS, PORTION, BATCH = 600, 512, 64
FIRST = 1 + 4 * len(TOPICS)
"""Texts that are sent before any tool's: one to see that it answers, and those by which its scale is measured."""


@pytest.fixture
async def store(tmp_path: Path) -> Path:
    """With more tools than are written at once, none of them indexed."""
    async with open_container(None, tmp_path / "store", create=True) as container:
        await container.graph.put_tools([document("many", f"tool{n}", f"Tells the number {n}") for n in range(TOOLS)])
    return tmp_path / "store"


def test_a_killed_preparation_goes_on_where_it_was(store: Path, tmp_path: Path) -> None:
    asked: list[int] = []

    def hangs_after_a_portion(request: ChatRequest) -> Reply:
        asked.append(len(request.body["input"]))
        return Hangs() if sum(asked) > PORTION + FIRST else word_embeddings(request)

    def command(step: str, *more: str) -> list[str]:
        return [sys.executable, str(ROOT / "scripts" / "reindex.py"), "--store", str(store), "--step", step, *more]

    with model_server_in_thread(scripted("no chat"), model="words", embed=hangs_after_a_portion) as server:
        settings = {"EMBEDDER": "service", "EMBEDDING_URL": server.url, "EMBEDDING_NAME": "words"}
        settings |= {"EMBEDDING_DIMENSION": str(DIMENSION), "EMBEDDING_BATCH": str(BATCH)}
        environment = {f"FOOTPATH_{name}": value for name, value in settings.items()}

        def run(step: str, *more: str) -> tuple[int, str, str]:
            done = forked_commands.run(command(step, *more), cwd=tmp_path, env=environment, timeout=120)
            return done.returncode, done.stdout, done.stderr

        process = forked_commands.start(command("prepare"), cwd=tmp_path, env=environment)
        while sum(asked) <= PORTION + FIRST:
            assert process.poll() is None
            time.sleep(0.05)
        process.kill()
        process.wait(60)
        assert run("switch")[::2] == (
            2,
            "no vectors of another encoder are ready: prepare them first, and let that come to its end\n",
        )

        server.embed = word_embeddings
        code, told, _ = run("prepare", "--json")
        assert (code, orjson.loads(told)) == (0, {"tools": TOOLS, "embedded": TOOLS - PORTION, "removed": 0})
        code, _, said = run("compare")
        assert (code, "no vectors are in use" in said) == (2, True)
        assert run("switch")[0] == 0
        code, told, said = run("discard", "--json")
        assert (code, orjson.loads(told), said) == (0, {"deleted": []}, "there was nothing to delete\n")
        assert run("back")[0] == 2
