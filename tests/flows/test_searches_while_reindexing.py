"""Searches go on while the store is changed to another encoder, there and back: on a server shared by processes, and in a folder."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from domain.errors import StoreBusyError, StoreVersionError
from retriever.indexing import index_tools
from tests.models.openai_replies import scripted
from tests.models.openai_server import ModelServer, model_server
from tests.models.word_vectors import DIMENSION
from tests.support.small_catalogue import DOCUMENTS
from wiring.container import Container, open_container
from wiring.encoder_change import EncoderChange
from wiring.encoders import EncoderChoice, EncoderService
from wiring.links import ignore_progress
from wiring.reindex import reindex
from wiring.settings import Settings

REQUEST = "rain forecast of a city"
SEARCHES = 8
"""How many must end well between one step and the next."""


@pytest.fixture
async def server() -> AsyncGenerator[ModelServer]:
    async with model_server(scripted("no chat"), model="words") as server:
        yield server


def asking(server: ModelServer, store: Path, prefix: str = "", **place: Any) -> Settings:
    """Settings of a service as encoder; under another prefix it is another encoder."""
    service = {"embedder": "service", "embedding_url": server.url, "embedding_name": "words", "embedding_attempts": 1}
    chosen = {**service, "embedding_dimension": DIMENSION, "embedding_document_prefix": prefix}
    return Settings.model_validate({**chosen, "store": store, **place})


async def index(settings: Settings) -> None:
    async with open_container(settings, create=True) as container:
        await container.graph.put_tools(DOCUMENTS)
        await index_tools(container.graph.stream_documents(), *await container.get_retrieval())


class Searching:
    """Searches of one process, as runs make them: each begins anew and holds what it began with. One that fails ends the test."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._done = asyncio.Semaphore(0)

    async def go_on(self) -> None:
        """Search again and again, until it is cancelled."""
        while True:
            search = await self._container.open_search()
            for _ in range(3):
                assert len(await search.find_tools(REQUEST, 1)) == 1
            self._done.release()
            await asyncio.sleep(0.01)

    async def more(self) -> None:
        """Wait for searches that begin from now on to end well."""
        while not self._done.locked():
            await self._done.acquire()
        for _ in range(SEARCHES):
            await self._done.acquire()


@asynccontextmanager
async def searching(container: Container) -> AsyncGenerator[Searching]:
    """Four searches at a time."""
    searches = Searching(container)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(searches.go_on()) for _ in range(4)]
        await searches.more()
        yield searches
        for task in tasks:
            task.cancel()


async def test_a_running_process_loses_no_search_by_a_reindex_there_and_back(
    tmp_path: Path, server: ModelServer, qdrant_settings: dict[str, str]
) -> None:
    old, new = (asking(server, tmp_path / "store", prefix, **qdrant_settings) for prefix in ("", "passage: "))
    await index(old)
    async with open_container(old) as container:
        async with searching(container) as searches:
            for settings in (new, old, new):
                assert (await reindex(settings=settings)).kept
                await searches.more()
        began = await container.open_search()
        async with open_container(new) as other:
            await EncoderChange(other).drop_former()
            assert await (await other.open_search()).find_tools(REQUEST, 1)
        with pytest.raises(StoreVersionError, match=r"were dropped after a change .*FOOTPATH_EMBEDDER"):
            await began.find_tools(REQUEST, 1)
        with pytest.raises(StoreVersionError, match=r"were made by .*reindex"):
            await container.open_search()


async def test_a_reindex_of_the_same_encoder_is_not_noticed(
    tmp_path: Path, server: ModelServer, qdrant_settings: dict[str, str]
) -> None:
    settings = asking(server, tmp_path / "store", **qdrant_settings)
    await index(settings)
    async with open_container(settings) as container, searching(container) as searches:
        for _ in range(2):
            assert len((await reindex(settings=settings)).dropped) == 1
            await searches.more()


async def test_a_folder_is_changed_by_the_process_that_searches_it(tmp_path: Path, server: ModelServer) -> None:
    """Another one is refused, and disturbs nothing."""
    old, new = (asking(server, tmp_path / "store", prefix) for prefix in ("", "passage: "))
    await index(old)
    service = EncoderService(url=server.url, model="words", dimension=DIMENSION, document_prefix="passage: ")
    async with open_container(old) as container, searching(container) as searches:
        with pytest.raises(StoreBusyError, match="in use by another process"):
            await reindex(settings=new)
        await searches.more()
        change = EncoderChange(container)
        await change.prepare(EncoderChoice(kind="service", name="another", service=service), ignore_progress)
        steps: list[Callable[[], Any]] = [change.switch, change.switch_back, change.switch_back]
        for step in steps:
            await searches.more()
            await step()
        await searches.more()


async def test_vectors_in_a_folder_are_not_dropped_under_a_process_that_searches_by_them(
    tmp_path: Path, server: ModelServer
) -> None:
    old, new = (asking(server, tmp_path / "store", prefix) for prefix in ("", "passage: "))
    await index(old)
    assert (await reindex(settings=new)).kept
    async with open_container(old) as container, searching(container) as searches:
        async with open_container(new) as other:
            with pytest.raises(StoreBusyError, match="in use by another process"):
                await EncoderChange(other).drop_former()
        await searches.more()
    async with open_container(new) as other:
        assert await EncoderChange(other).drop_former() == ["vectors"]
    async with open_container(old) as container:
        with pytest.raises(StoreVersionError, match="reindex"):
            await container.open_search()
