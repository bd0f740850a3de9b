from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from domain.errors import ModelUnavailableError, UsageError
from retriever.embedders.embedding_service import MAX_CHARS
from retriever.index import Embedder
from retriever.words import split_sentences
from tests.models.openai_replies import ChatRequest, Refuses, Reply, Respond, scripted
from tests.models.openai_server import ModelServer, model_server
from tests.models.word_vectors import DIMENSION, embedding_body, word_embeddings, word_vector
from wiring.encoders import create_embedder
from wiring.settings import Settings


@asynccontextmanager
async def embedding(embed: Respond = word_embeddings, **settings: Any) -> AsyncGenerator[tuple[Embedder, ModelServer]]:
    """The encoder of settings that name the local server."""
    async with model_server(scripted("no chat"), model="words", embed=embed) as server:
        named = {"embedding_url": server.url, "embedding_name": "words", "embedding_dimension": DIMENSION}
        embedder, close = create_embedder(Settings.model_validate({"embedder": "service", **named, **settings}))
        try:
            yield embedder, server
        finally:
            await close()


def texts(server: ModelServer) -> list[list[str]]:
    return [request.body["input"] for request in server.requests]


async def test_texts_go_in_batches_and_come_back_in_order() -> None:
    asked = [f"text {n}" for n in range(25)]
    async with embedding(embedding_batch=4) as (embedder, server):
        found = await embedder.embed(asked, "document")
    assert sorted(map(len, texts(server))) == [1, 4, 4, 4, 4, 4, 4]
    expected = np.array([word_vector(text) for text in asked])
    assert found == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True), abs=1e-6)


async def test_prefixes_and_the_bound_of_a_text() -> None:
    prefixes: dict[str, Any] = {"embedding_query_prefix": "query: ", "embedding_document_prefix": "passage: "}
    async with embedding(**prefixes) as (embedder, server):
        await embedder.embed(["one"], "query")
        await embedder.embed(["two", "x" * 10_000, ""], "document")
    assert texts(server) == [["query: one"], ["passage: two", "passage: " + "x" * MAX_CHARS, "passage:  "]]


async def test_requests_and_their_sentences_go_in_one_batch() -> None:
    asked = "One two three four. Five six seven eight."
    async with embedding(embedding_query_prefix="query: ") as (embedder, server):
        both, alone = await embedder.embed_requests([asked, "nine"])
        assert both == pytest.approx(await embedder.embed([asked, *split_sentences(asked)], "query"))
        assert alone == pytest.approx(await embedder.embed(["nine"], "query"))
    assert texts(server)[0] == [f"query: {one}" for one in (asked, *split_sentences(asked), "nine")]


async def test_the_identity_names_all_that_makes_a_vector_and_no_host() -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"embedding_name": "other"},
        {"embedding_dimension": 8},
        {"embedding_query_prefix": "a", "embedding_document_prefix": "b"},
        {"embedding_query_prefix": "ab"},
        {"embedding_document_prefix": "ab"},
    ]
    found: list[str] = []
    for change in changes:
        async with embedding(**change) as (embedder, server):
            found.append(embedder.identity)
            assert str(server.port) not in embedder.identity
    assert len(set(found)) == len(changes)
    async with embedding(embedding_batch=1, embedding_api_key="key") as (embedder, _):
        assert embedder.identity == found[0]


async def test_a_model_is_asked_for_shorter_vectors() -> None:
    async with embedding(embedding_dimension=8, embedding_shorten=True) as (embedder, server):
        assert (await embedder.embed(["one"], "query")).shape == (1, 8)
    assert server.requests[0].body["dimensions"] == 8


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (embedding_body([[1.0] * 8]), "8 numbers where FOOTPATH_EMBEDDING_DIMENSION is 64"),
        (embedding_body([[]]), "0 numbers"),
        (embedding_body([[0.0] * DIMENSION]), "zeros only"),
        (embedding_body([[float("nan")] * DIMENSION]), "NaN"),
        (embedding_body([[float("inf")] + [1.0] * (DIMENSION - 1)]), "infinite"),
    ],
)
async def test_vectors_that_are_none_are_refused(reply: Reply, says: str) -> None:
    async with embedding(scripted(reply)) as (embedder, _):
        with pytest.raises(ModelUnavailableError, match=says) as caught:
            await embedder.embed(["one"], "query")
    assert (caught.value.kind, caught.value.lasting) == ("protocol", True)


async def test_small_and_large_numbers_keep_their_direction() -> None:
    rows = [[1e-300, 0.0, 1e-300], [0.0, 1e300, 0.0]]
    async with embedding(scripted(embedding_body(rows)), embedding_dimension=3) as (embedder, _):
        found = await embedder.embed(["one", "two"], "query")
    assert found == pytest.approx(np.array([[0.5**0.5, 0, 0.5**0.5], [0, 1, 0]]), abs=1e-6)


async def test_one_failed_batch_fails_all_and_the_others_are_let_go() -> None:
    def embed(request: ChatRequest) -> Reply:
        return Refuses(400, "no") if "bad" in request.body["input"] else word_embeddings(request)

    async with embedding(embed, embedding_batch=1) as (embedder, server):
        with pytest.raises(ModelUnavailableError, match="refused the request"):
            await embedder.embed(["bad", *(f"text {n}" for n in range(200))], "document")
        assert len(server.requests) < 100


@pytest.mark.parametrize("name", ["embedding_url", "embedding_name", "embedding_dimension"])
def test_a_service_without_a_part_of_its_settings_is_refused(name: str) -> None:
    named: dict[str, Any] = {"embedding_url": "http://h/v1", "embedding_name": "m", "embedding_dimension": 8}
    with pytest.raises(UsageError, match=f"needs FOOTPATH_{name.upper()} "):
        create_embedder(
            Settings.model_validate({"embedder": "service", **named, name: None if name[-1] == "n" else ""})
        )
