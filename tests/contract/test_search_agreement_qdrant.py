"""A store that needs no server and one whose vectors and memories lie on Qdrant, built apart of the same sources, find the same."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from agent.offer.offer_maker import OfferMaker
from evaluation.evaluation_cases import read_evaluation_cases
from wiring.container import Container, open_container
from wiring.settings import Settings
from wiring.store_build import BuildOptions, build

PLAYGROUND = Path(__file__).resolve().parents[2] / "playground"
EACH = 3
"""Every so many of the playground's requests are asked."""
LIMIT = 16
REQUESTS = [one.request for one in read_evaluation_cases(sorted((PLAYGROUND / "requests").glob("*.jsonl")))[::EACH]]


def ignore(stage: str, done: int, total: int | None) -> None:
    """It takes seconds."""
    del stage, done, total


async def build_playground(settings: Settings) -> None:
    data = PLAYGROUND / "data"
    await build(BuildOptions(tools=(data / "openapi.json",), trajectories=(data / "answer",)), ignore, settings)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agreement") / "store"
    asyncio.run(build_playground(Settings(store=folder)))
    return folder


async def search_all(container: Container) -> list[list[tuple[str, float]]]:
    """The best tools of each request with their fused scores."""
    search = await container.open_search()
    found = [await search.find_tools(request, LIMIT) for request in REQUESTS]
    return [[(hit.id, round(hit.score, 3)) for hit in hits] for hits in found]


async def precedents(container: Container) -> list[list[Sequence[str]]]:
    """The paths of the requests most like each one."""
    search = await container.open_search()
    return [[one.tools for one in await search.find_precedents(request, 32)] for request in REQUESTS]


async def offer_all(container: Container) -> list[list[str]]:
    search = await container.open_search()
    maker = OfferMaker(search, container.graph, search, container.weights)
    return [[tool.id for tool in (await maker.offer(request, LIMIT)).tools] for request in REQUESTS]


async def memories_of(container: Container) -> list[dict[str, Any]]:
    store = await container.memories()
    return [memory.model_dump(mode="json", exclude={"at"}) async for memory in store.stream_all()]


@pytest.fixture
async def both(
    built: Path, tmp_path: Path, qdrant_settings: dict[str, str]
) -> AsyncIterator[tuple[Container, Container]]:
    shared = Settings.model_validate({"store": tmp_path / "shared", **qdrant_settings})
    await build_playground(shared)
    folder = await asyncio.to_thread(shutil.copytree, built, tmp_path / "embedded")
    async with AsyncExitStack() as stack:
        embedded = await stack.enter_async_context(open_container(Settings(store=folder)))
        yield embedded, await stack.enter_async_context(open_container(shared))


async def test_both_find_the_same(both: tuple[Container, Container]) -> None:
    embedded, shared = both
    assert await memories_of(embedded) == await memories_of(shared)
    alike = await precedents(embedded)
    assert alike == await precedents(shared)
    assert all(len(one) == 32 for one in alike), "memories had a say"
    assert await search_all(embedded) == await search_all(shared)
    assert await offer_all(embedded) == await offer_all(shared)
