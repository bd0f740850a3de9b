"""Whether forty new tools are found among those of a store, as the gate foretells it and as it is once they are there."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from admission.findability import TOP_K, check_findability
from domain.tool import ToolDoc
from graph.importers.openapi import read_openapi
from retriever.indexing import index_tools
from tests.support.findable_sources import NewSource, new_sources
from tests.support.indexed_store import indexed_store
from wiring.container import Container, open_container
from wiring.gate_setup import create_what_if_search
from wiring.settings import Settings

PLAYGROUND = Path(__file__).parents[2] / "playground" / "data" / "openapi.json"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asyncio.run(indexed_store(tmp_path_factory.mktemp("found") / "store", list(read_openapi(PLAYGROUND))))


@pytest.fixture(scope="module")
def sources() -> list[NewSource]:
    return new_sources()


async def foretold(container: Container, sources: Sequence[NewSource], kind: str) -> dict[str, int | None]:
    """The place of each tool for its request, each source asked for by itself."""
    found: dict[str, int | None] = {}
    for source in sources:
        what_if = await create_what_if_search(container)(source.tools)
        requests = {tool.id: (source.requests[tool.api][kind],) for tool in source.tools}
        for tool, finding in (await check_findability(requests, frozenset(requests), what_if)).items():
            ranks = finding.evidence["ranks"]
            assert isinstance(ranks, dict)
            (rank,) = ranks.values()
            assert rank is None or isinstance(rank, int)
            found[tool] = rank
    return found


async def test_the_gate_foretells_what_the_search_will_find(store: Path, sources: list[NewSource]) -> None:
    """And nothing of what it tries is left in the store."""
    async with open_container(Settings(), store) as container:
        before = await (await container.open_search()).count_tools()
        told = {kind: await foretold(container, sources, kind) for kind in ("plain", "other")}
        assert await (await container.open_search()).count_tools() == before
        source = sources[0]
        await index_tools(_told(source.tools), *await container.get_retrieval())
        search = await container.open_search()
        assert await search.count_tools() == before + len(source.tools)
        for kind in ("plain", "other"):
            asked = [source.requests[tool.api][kind] for tool in source.tools]
            for tool, hits in zip(source.tools, await search.find_tools_for_all(asked, TOP_K), strict=True):
                place = next((place for place, hit in enumerate(hits, start=1) if hit.id == tool.id), None)
                assert place == told[kind][tool.id], tool.api
    good = {kind: sum(place is not None for place in places.values()) for kind, places in told.items()}
    assert good["plain"] == 40
    assert good["other"] >= 30


async def _told(tools: Sequence[ToolDoc]) -> AsyncIterator[ToolDoc]:
    for tool in tools:
        yield tool
