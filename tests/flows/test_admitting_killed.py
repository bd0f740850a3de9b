"""Kill -9 while tools are admitted and withdrawn: the store opens, and comes to what the rows say."""

import asyncio
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from retriever.indexing import compare_indexes
from tests.support.admission_process import TOOLS
from tests.support.indexed_store import indexed_store
from tests.support.server_process import ROOT
from tests.support.small_world import BOOKS, GEOCODE, OLD_WEATHER
from wiring.container import open_container
from wiring.links import ignore_progress, link
from wiring.tool_admission import reconcile

pytestmark = pytest.mark.timeout(120)


def killed(store: Path, chance: Random) -> None:
    """A process that changes the store, killed at some moment."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.support.admission_process", str(store)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "begun\n"
    try:
        child.wait(chance.uniform(0.0, 0.8))
    except subprocess.TimeoutExpired:
        child.kill()
    assert child.wait() == -9
    child.stdout.close()


async def test_killed_at_moments_by_chance(tmp_path: Path) -> None:
    chance, known = Random(23), [tool.id for tool in TOOLS]
    store = await indexed_store(tmp_path / "store", [GEOCODE, OLD_WEATHER, BOOKS])
    for _ in range(2):
        await asyncio.to_thread(killed, store, chance)
        offered = {tool.id: tool for tool in chance.sample(TOOLS, 2)}
        async with open_container(None, store) as container:
            await reconcile(container, offered, known)
            documents = {one.id: one async for one in container.graph.stream_documents()}
            assert documents == {one.id: one for one in (GEOCODE, OLD_WEATHER, BOOKS)} | offered
            _, index, lexical = await container.get_retrieval()
            assert (await compare_indexes(container.graph.stream_documents, index, lexical)).is_equal
            assert (await container.graph.count_links()).pending == 0
            links = [(await container.graph.load_neighbourhoods([tool]))[tool].feeds for tool in sorted(documents)]
            await container.graph.expect_links({}, documents)
            await link(container, ignore_progress, embedded=True)
            assert links == [
                (await container.graph.load_neighbourhoods([tool]))[tool].feeds for tool in sorted(documents)
            ]
