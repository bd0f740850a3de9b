"""An encoder and a re-ranker of one's own, in place of those that come along."""

import asyncio
import re
import shutil
from contextlib import AsyncExitStack
from pathlib import Path
from shlex import quote

import orjson
import pytest

import retriever.embedders.onnx_embedder as bundled
from domain.errors import StoreVersionError, UsageError
from graph.backends.sqlite_graph import SqliteGraph
from retriever.indexing import index_tools
from retriever.reranker import read_reranker
from tests.support.small_catalogue import DOCUMENTS
from wiring.container import Container, open_container
from wiring.measured_searches import build_searches
from wiring.settings import Settings
from wiring.store_folder import StoreFolder

RERANKER = Path(bundled.__file__).parents[1] / "reranker.json"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The same weights in files that are another encoder's."""
    folder = tmp_path / "own"
    shutil.copytree(bundled.BUNDLED_FOLDER, folder)
    tokens = folder / "tokenizer.json"
    tokens.write_text(tokens.read_text() + " ")
    return folder


def reranker(file: Path, encoder: str) -> Path:
    file.write_bytes(orjson.dumps({**orjson.loads(RERANKER.read_bytes()), "encoder": encoder}))
    return file


async def test_an_index_belongs_to_the_encoder_of_the_folder(own: Path, tmp_path: Path) -> None:
    store, settings = tmp_path / "my store", Settings(encoder_folder=own)
    async with open_container(settings, store, create=True) as container:
        await container.graph.put_tools(DOCUMENTS)
        await index_tools(container.graph.stream_documents(), *await container.get_retrieval())
        search = await container.open_search()
        assert (await search.find_tools("will it rain in Rome", 1))[0].id.endswith("/rain")
        identity = (await container.embedder()).identity
    assert identity != bundled.OnnxEmbedder().identity
    async with open_container(Settings(), store) as container:
        with pytest.raises(
            StoreVersionError, match=f"python scripts/reindex.py --store {re.escape(quote(str(store)))};"
        ):
            await container.get_retrieval()
    on_server = Settings(store=store, graph_url="bolt://127.0.0.1:1")
    async with AsyncExitStack() as stack:
        container = Container(on_server, StoreFolder(store), SqliteGraph(store / "graph.db"), stack, embedded=False)
        with pytest.raises(StoreVersionError, match=r"python scripts/reindex\.py;"):
            await container.get_retrieval()
    async with open_container(settings, store) as container:
        assert list(await build_searches(container)) == ["bm25", "dense", "fused", "reranked"]
    async with open_container(settings.model_copy(update={"rerank": False}), store) as container:
        with pytest.raises(UsageError, match="FOOTPATH_RERANK is false"):
            await build_searches(container, ["reranked"])
    fitting = await asyncio.to_thread(reranker, tmp_path / "own.json", identity)
    async with open_container(settings.model_copy(update={"reranker_file": fitting}), store) as container:
        assert await (await container.open_search()).find_tools("will it rain in Rome", 1)
        assert read_reranker(fitting).encoder == identity
    async with open_container(settings.model_copy(update={"reranker_file": RERANKER}), store) as container:
        with pytest.raises(UsageError, match=r"was learnt with footpath-minilm.*or leave FOOTPATH_RERANKER_FILE empty"):
            await container.open_search()


async def test_a_folder_without_an_encoder_is_told_before_a_store_is_opened(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no encoder"):
        async with open_container(Settings(encoder_folder=tmp_path), tmp_path / "store", create=True):
            raise AssertionError("opened")
