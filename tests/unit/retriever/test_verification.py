"""Comparing the indexes with the documents, and mending them."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from domain.tool import ToolDoc, ToolId
from retriever.backends.exact import ExactIndex
from retriever.embedders.sentence_embedder import BaseEmbedder
from retriever.index import Embedder, Vectors
from retriever.indexing import IndexComparison, compare_indexes, index_tools, repair_indexes
from retriever.lexical import LexicalIndex, LexicalParameters
from tests.support.graph_samples import A, B, C, document


class Counting(BaseEmbedder):
    """An encoder that counts what it embeds."""

    identity = "counting"
    dimension = 2

    def __init__(self) -> None:
        self.texts = 0

    async def embed(self, texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        self.texts += len(texts)
        return np.array([[1.0, 0.0]] * len(texts), np.float32)


class Tools:
    """Documents that change, and their indexes."""

    def __init__(self, folder: Path) -> None:
        self.documents = {tool: document(tool, description=f"about {tool}") for tool in (A, B, C)}
        self.embedder = Counting()
        self.index = ExactIndex()
        self.lexical = LexicalIndex(folder)

    async def stream(self) -> AsyncIterator[ToolDoc]:
        for tool in sorted(self.documents):
            yield self.documents[tool]

    async def compare(self) -> IndexComparison:
        return await compare_indexes(self.stream, self.index, self.lexical)

    async def repair(self) -> int:
        embedder: Embedder = self.embedder
        return await repair_indexes(self.stream, embedder, self.index, self.lexical, await self.compare())


@pytest.fixture
async def tools(tmp_path: Path) -> Tools:
    made = Tools(tmp_path / "lexical")
    await made.index.setup(made.embedder.identity, made.embedder.dimension)
    await index_tools(made.stream(), made.embedder, made.index, made.lexical)
    made.embedder.texts = 0
    return made


async def test_what_was_indexed_is_equal(tools: Tools) -> None:
    found = await tools.compare()
    assert found.is_equal
    assert (found.documents, found.points, found.vectors.indexed, found.words.indexed) == (3, 3, 3, 3)
    assert (await tools.repair(), tools.embedder.texts) == (0, 0)


async def test_every_difference_is_named(tools: Tools) -> None:
    fresh = ToolId("Zoo/z/z")
    del tools.documents[A]
    tools.documents[B] = document(B, description="another text")
    tools.documents[fresh] = document(fresh)
    found = await tools.compare()
    assert not found.is_equal
    for index in (found.vectors, found.words):
        assert (index.missing, index.changed, index.orphans) == ([fresh], [B], [A])


async def test_repair_embeds_only_what_is_missing_or_changed(tools: Tools) -> None:
    fresh = ToolId("Zoo/z/z")
    del tools.documents[A]
    tools.documents[B] = document(B, description="another text")
    tools.documents[fresh] = document(fresh)
    assert await tools.repair() == tools.embedder.texts == 2
    assert (await tools.compare()).is_equal
    assert set(await tools.index.fetch_digests()) == set(await tools.lexical.read_texts()) == {B, C, fresh}
    assert (await tools.lexical.match("Maps")).select_best(3) == []


async def test_lost_vectors_alone(tools: Tools) -> None:
    await tools.index.remove([A, C])
    found = await tools.compare()
    assert (found.vectors.missing, bool(found.words)) == ([A, C], False)
    assert await tools.repair() == 2
    assert (await tools.compare()).is_equal


async def test_lost_words_alone(tools: Tools, tmp_path: Path) -> None:
    tools.lexical = LexicalIndex(tmp_path / "elsewhere")
    assert (await tools.compare()).words.missing == [A, B, C]
    assert await tools.repair() == 0
    assert (await tools.compare()).is_equal


async def test_words_of_other_parameters_are_made_anew(tools: Tools, tmp_path: Path) -> None:
    del tools.documents[A]
    tools.lexical = LexicalIndex(tmp_path / "lexical", LexicalParameters(k1=0.5))
    assert (await tools.compare()).words.missing == [B, C]
    await tools.repair()
    assert set(await tools.lexical.read_texts()) == {B, C}


async def test_a_graph_without_documents_empties_the_indexes(tools: Tools) -> None:
    tools.documents.clear()
    assert (await tools.compare()).vectors.orphans == [A, B, C]
    assert await tools.repair() == 0
    assert (await tools.compare()).is_equal
    assert await tools.index.count() == await tools.lexical.count() == 0
