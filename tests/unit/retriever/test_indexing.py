from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from domain.tool import ToolDoc, ToolId
from retriever import indexing
from retriever.backends.exact import ExactIndex
from retriever.index import VectorPoint
from retriever.indexing import index_tools
from retriever.lexical import LexicalIndex
from tests.support.tool_samples import BagEmbedder, document, stream

DOCUMENTS = [document(f"api {n}", f"text {n}") for n in range(25)]


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setattr(indexing, "_BATCH_SIZE", 10)


@pytest.fixture
def lexical(tmp_path: Path) -> LexicalIndex:
    return LexicalIndex(tmp_path)


async def ready(kind: type[ExactIndex] = ExactIndex) -> ExactIndex:
    index = kind()
    await index.setup(BagEmbedder.identity, BagEmbedder.dimension)
    return index


async def test_everything_becomes_searchable(lexical: LexicalIndex) -> None:
    index, seen = await ready(), list[int]()
    report = await index_tools(stream(DOCUMENTS), BagEmbedder(), index, lexical, seen.append)
    assert (report.tools, report.embedded, report.lexical) == (25, 25, True)
    assert await index.count() == await lexical.count() == 25
    assert seen == sorted(seen)
    assert seen[-1] == 25


async def test_only_changes_are_embedded(lexical: LexicalIndex) -> None:
    index, embedder = await ready(), BagEmbedder()
    await index_tools(stream(DOCUMENTS), embedder, index, lexical)
    embedder.embedded.clear()
    again = await index_tools(stream(DOCUMENTS), embedder, index, lexical)
    assert (again.embedded, again.lexical, embedder.embedded) == (0, False, [])
    changed = [document("api 3", "another text"), document("new", "brand new")]
    report = await index_tools(stream(changed), embedder, index, lexical)
    assert report.embedded == 2
    assert await index.count() == await lexical.count() == 26
    assert (await lexical.match("brand")).select_best(1) == [changed[1].id]


async def test_an_interrupted_run_goes_on(lexical: LexicalIndex) -> None:
    class Flaky(ExactIndex):
        puts = 0

        async def put(self, points: Sequence[VectorPoint]) -> None:
            self.puts += 1
            if self.puts == 2:
                raise KeyboardInterrupt
            await super().put(points)

    index, embedder = await ready(Flaky), BagEmbedder()
    with pytest.raises(KeyboardInterrupt):
        await index_tools(stream(DOCUMENTS), embedder, index, lexical)
    assert await index.count() == 10
    report = await index_tools(stream(DOCUMENTS), embedder, index, lexical)
    assert report.embedded == 15
    assert set(await index.fetch_digests()) == {one.id for one in DOCUMENTS}


async def test_documents_that_break_off_lose_no_batch(lexical: LexicalIndex) -> None:
    async def broken() -> AsyncIterator[ToolDoc]:
        for one in DOCUMENTS[:12]:
            yield one
        raise OSError("gone")

    index = await ready()
    with pytest.raises(OSError, match="gone"):
        await index_tools(broken(), BagEmbedder(), index, lexical)
    assert await index.count() == 10


async def test_no_documents(lexical: LexicalIndex) -> None:
    report = await index_tools(stream([]), BagEmbedder(), await ready(), lexical)
    assert (report.tools, report.embedded, report.lexical) == (0, 0, False)


async def test_unknown_tools_stay(lexical: LexicalIndex) -> None:
    index = await ready()
    await index_tools(stream(DOCUMENTS[:5]), BagEmbedder(), index, lexical)
    await index_tools(stream(DOCUMENTS[5:]), BagEmbedder(), index, lexical)
    assert ToolId(DOCUMENTS[0].id) in await index.fetch_digests()
    assert await lexical.count() == 25
