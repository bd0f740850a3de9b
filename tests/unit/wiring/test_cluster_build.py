"""What a cluster embeds with."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, Callable, Iterable
from pathlib import Path

import pytest

import retriever.embedders.onnx_embedder as bundled
import wiring.cluster as spread
from domain.errors import UnavailableError, UsageError
from tests.support.small_catalogue import DOCUMENTS
from wiring.cluster import R, RayCluster, T, WorkFunction, embed_on_cluster
from wiring.container import open_container
from wiring.settings import Settings


class Here(RayCluster):
    """A cluster of this process alone."""

    async def map(self, prepare: Callable[[], WorkFunction[T, R]], items: Iterable[T]) -> AsyncGenerator[tuple[T, R]]:
        work = prepare()
        for item in items:
            yield item, await asyncio.to_thread(work, item)


def another(folder: Path, threads: int) -> bundled.OnnxEmbedder:
    return bundled.OnnxEmbedder(threads, folder, "other")


class Elsewhere(Here):
    """A cluster whose nodes have another encoder in the folder."""

    async def map(self, prepare: Callable[[], WorkFunction[T, R]], items: Iterable[T]) -> AsyncGenerator[tuple[T, R]]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(spread, "load_encoder", another)
            async for one in super().map(prepare, items):
                yield one


async def test_an_encoder_of_ones_own_is_the_clusters_too(tmp_path: Path) -> None:
    own = tmp_path / "own"
    await asyncio.to_thread(shutil.copytree, bundled.BUNDLED_FOLDER, own)
    embedded: list[int] = []

    def told(stage: str, done: int, total: int | None) -> None:
        embedded.append(done)

    async with open_container(Settings(encoder_folder=own), tmp_path / "store", create=True) as container:
        await container.graph.put_tools(DOCUMENTS)
        model = own / "model.onnx"
        await asyncio.to_thread(model.rename, own / "elsewhere")
        with pytest.raises(UnavailableError, match="own cannot be loaded"):
            await embed_on_cluster(Here("here"), container, told)
        await asyncio.to_thread((own / "elsewhere").rename, model)
        with pytest.raises(UsageError, match="a node has another encoder"):
            await embed_on_cluster(Elsewhere("elsewhere"), container, told)
        await embed_on_cluster(Here("here"), container, told)
        _, index, _ = await container.get_retrieval()
        assert embedded[-1] == await index.count() == len(DOCUMENTS)
