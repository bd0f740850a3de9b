"""Tools admitted and withdrawn on a real Neo4j, with the vectors on a Qdrant beside it: by a server that answers, and by one that is killed."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random

import pytest

from domain.tool import ToolId
from graph.backends.neo4j_graph import Neo4jGraph
from retriever.indexing import compare_indexes, index_tools
from tests.flows.test_admitted_tools import TOOL, atlas, people
from tests.servers.neo4j.server import Neo4jServer
from tests.support.admission_process import TOOLS
from tests.support.server_process import ROOT
from tests.support.server_world import serving
from tests.support.small_world import BOOKS, GEOCODE, OLD_WEATHER
from wiring.container import Container, open_container
from wiring.links import ignore_progress, link
from wiring.settings import Settings
from wiring.tool_admission import reconcile

HERE = (GEOCODE, OLD_WEATHER, BOOKS)


@pytest.fixture
async def where(
    neo4j_graph: Neo4jGraph, neo4j_server: Neo4jServer, qdrant_settings: dict[str, str], tmp_path: Path
) -> dict[str, str]:
    """Settings of a store of three tools on the servers."""
    await neo4j_graph.put_tools(HERE)
    settings = {
        "graph_url": neo4j_server.url,
        "graph_password": neo4j_server.password,
        **qdrant_settings,
        "store": str(tmp_path / "here"),
    }
    async with open_container(Settings.model_validate(settings)) as container:
        await index_tools(container.graph.stream_documents(), *await container.get_retrieval())
        await link(container, ignore_progress, embedded=False)
    return settings


async def test_the_next_question_is_offered_what_was_admitted_and_not_what_was_withdrawn(
    where: dict[str, str], tmp_path: Path
) -> None:
    async with atlas() as (host, asked), serving(tmp_path / "home", allow_hosts=host, **where) as world:
        author, user, _ = await people(world)
        source = await author.has_source(host)
        during = await user.asks()
        assert asked == ["/places?city=Paris"], during
        await author("POST", f"/sources/{source}/quarantine", {"tools": [TOOL], "reason": "stale"})
        assert TOOL not in json.dumps(await user.asks())
        assert len(asked) == 1
        whole = await world.services.agents.get_full_container()
        assert await whole.graph.get_tools([TOOL]) == {}
        _, index, lexical = await whole.get_retrieval()
        assert TOOL not in await index.fetch_digests()
        assert TOOL not in await lexical.list_ids()


def killed(where: Mapping[str, str], chance: Random) -> None:
    """A process that changes the store, killed at some moment."""
    told = {f"FOOTPATH_{name.upper()}": value for name, value in where.items()}
    command = [sys.executable, "-m", "tests.support.admission_process"]
    child = subprocess.Popen(command, cwd=ROOT, env=os.environ | told, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "begun\n"
    try:
        child.wait(chance.uniform(0.0, 0.8))
    except subprocess.TimeoutExpired:
        child.kill()
    assert child.wait() == -9
    child.stdout.close()


async def links_of(container: Container, tools: Iterable[ToolId]) -> list[object]:
    return [(await container.graph.load_neighbourhoods([tool]))[tool].feeds for tool in sorted(tools)]


async def test_killed_in_between_the_store_comes_to_what_the_rows_say(where: dict[str, str]) -> None:
    chance, known = Random(7), [tool.id for tool in TOOLS]
    await asyncio.to_thread(killed, where, chance)
    offered = {tool.id: tool for tool in chance.sample(TOOLS, 2)}
    async with open_container(Settings.model_validate(where)) as container:
        await reconcile(container, offered, known)
        documents = {one.id: one async for one in container.graph.stream_documents()}
        assert documents == {one.id: one for one in HERE} | offered
        _, index, lexical = await container.get_retrieval()
        assert (await compare_indexes(container.graph.stream_documents, index, lexical)).is_equal
        assert (await container.graph.count_links()).pending == 0
        after = await links_of(container, documents)
        await container.graph.expect_links({}, documents)
        await link(container, ignore_progress, embedded=False)
        assert after == await links_of(container, documents)
