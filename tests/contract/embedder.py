"""What every encoder promises. Test classes inherit this and give the fixture ``embedder``."""

import numpy as np
import pytest

from retriever.index import Embedder


class EmbedderContract:
    async def test_unit_vectors_in_order(self, embedder: Embedder) -> None:
        texts = [f"{'long text ' * (n % 7)} number {n}" for n in range(70)]
        vectors = await embedder.embed(texts, "document")
        assert vectors.shape == (70, embedder.dimension)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(70), abs=1e-5)
        for row in (0, 33, 69):
            alone = (await embedder.embed([texts[row]], "document"))[0]
            assert float(alone @ vectors[row]) > 0.97
            assert int(np.argmax(vectors @ alone)) == row

    async def test_likeness(self, embedder: Embedder) -> None:
        asked, near, far = await embedder.embed(
            ["convert dollars to euros", "convert 20 dollars into euros", "weather forecast for tomorrow"], "query"
        )
        assert asked @ near > asked @ far + 0.2

    async def test_odd_texts(self, embedder: Embedder) -> None:
        odd = ["", " ", "\ud800", "天气", "x" * 1_000_000, "a b " * 100_000, "\0", "\n"]
        vectors = await embedder.embed(odd, "query")
        assert vectors.shape == (len(odd), embedder.dimension)
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(odd)), abs=1e-5)

    async def test_nothing(self, embedder: Embedder) -> None:
        assert (await embedder.embed([], "query")).shape == (0, embedder.dimension)

    async def test_the_identity_is_told_without_asking(self, embedder: Embedder) -> None:
        assert embedder.identity.endswith(f":{embedder.dimension}")
        assert embedder.identity == embedder.identity.strip()
