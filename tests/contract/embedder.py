"""What every encoder promises. Test classes inherit this and give the fixture ``embedder``."""

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retriever.index import Embedder
from retriever.words import find_sentence_spans

_WORDS = st.sampled_from(
    [
        "weather",
        "city",
        "harbour",
        "20",
        "dollars into euros",
        "the",
        "A forecast.",
        "Ärger",
        "天气",
        "x" * 40,
        "\ud800",
    ]
) | st.text(max_size=12)
_TEXTS = st.lists(_WORDS, max_size=60).map(" ".join)
"""Of no token to more than the encoder reads."""


class EmbedderContract:
    async def test_unit_vectors_in_order(self, embedder: Embedder) -> None:
        texts = [f"{'long text ' * (n % 7)} number {n}" for n in range(70)]
        vectors = await embedder.embed(texts, "document")
        assert vectors.shape == (70, embedder.dimension)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(70), abs=1e-5)
        for row in (0, 33, 69):
            alone = (await embedder.embed([texts[row]], "document"))[0]
            assert alone == pytest.approx(vectors[row], abs=1e-5)
            assert int(np.argmax(vectors @ alone)) == row

    @settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(_TEXTS, min_size=1, max_size=40), st.randoms(use_true_random=False))
    async def test_a_vector_does_not_depend_on_what_is_embedded_beside_it(
        self, embedder: Embedder, texts: list[str], chance: random.Random
    ) -> None:
        """Otherwise a store that was built at once and one that grew tool by tool find different tools."""
        together = await embedder.embed(texts, "document")
        order = chance.sample(range(len(texts)), len(texts))
        some = order[: len(texts) // 2 + 1]
        assert await embedder.embed([texts[at] for at in order], "document") == pytest.approx(together[order], abs=1e-5)
        assert await embedder.embed([texts[at] for at in some], "document") == pytest.approx(together[some], abs=1e-5)
        alone = await embedder.embed([texts[order[0]]], "document")
        assert alone[0] == pytest.approx(together[order[0]], abs=1e-5)
        read = await embedder.embed_requests(texts)
        assert (await embedder.embed_requests([texts[order[0]]]))[0] == pytest.approx(read[order[0]], abs=1e-5)

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
        assert await embedder.embed_requests([]) == []

    async def test_a_request_is_followed_by_its_sentences(self, embedder: Embedder) -> None:
        rain, money = "Will it rain in Rome tomorrow?", "Please convert 20 dollars to euros."
        both, one, none = await embedder.embed_requests([f"{rain} {money}", rain, ""])
        assert both.shape == (3, embedder.dimension)
        assert both.dtype == np.float32
        assert np.linalg.norm(both, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
        asked = await embedder.embed([rain, money], "query")
        assert (both[1:] @ asked.T).argmax(axis=1).tolist() == [0, 1]
        assert one.shape == none.shape == (1, embedder.dimension)
        assert float(one[0] @ asked[0]) > 0.97

    async def test_odd_requests(self, embedder: Embedder) -> None:
        odd = ["\ud800 is one two three. \0 is one two three.", "a b c d. " * 50_000, "天 气 预 报. 天 气 预 报. "]
        found = await embedder.embed_requests(odd)
        assert [len(vectors) for vectors in found] == [1 + len(find_sentence_spans(text)) for text in odd] == [3, 7, 3]
        assert all(
            np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(vectors)), abs=1e-5) for vectors in found
        )

    async def test_the_identity_is_told_without_asking(self, embedder: Embedder) -> None:
        assert embedder.identity.endswith(f":{embedder.dimension}")
        assert embedder.identity == embedder.identity.strip()
