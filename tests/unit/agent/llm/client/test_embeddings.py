import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from agent.llm.client.embeddings import EmbeddingParameters, OpenaiEmbeddings, compute_response_limit
from domain.errors import ModelFailure, ModelUnavailableError
from tests.models.openai_replies import (
    BROKEN_JSON,
    BUSY,
    FORBIDDEN,
    ILL,
    NO_QUOTA,
    OTHER_JSON,
    WEB_PAGE,
    Hangs,
    Refuses,
    Reply,
    Resets,
    Respond,
    Sends,
    scripted,
)
from tests.models.openai_server import ModelServer, model_server
from tests.models.word_vectors import embedding_body, first, word_embeddings, word_vector

KEY = "sk-local-embeddings-1234567890"
WAITS: list[float] = []


async def no_wait(seconds: float) -> None:
    WAITS.append(seconds)


@asynccontextmanager
async def asking(
    embed: Respond = word_embeddings,
    *,
    key: str = KEY,
    name: str = "words",
    path: str = "",
    patience: float = 5.0,
    dimension: int | None = None,
    limit: int | None = None,
) -> AsyncGenerator[tuple[OpenaiEmbeddings, ModelServer]]:
    """A client and the local server."""
    WAITS.clear()
    async with model_server(scripted("no chat"), model="words", api_key=KEY, embed=embed) as server:
        url = f"http://127.0.0.1:{server.port}{path}" if path else server.url
        parameters = EmbeddingParameters(url, name, key, patience, dimension=dimension, response_limit=limit)
        service = OpenaiEmbeddings(parameters, no_wait)
        try:
            yield service, server
        finally:
            await service.close()


async def failure(service: OpenaiEmbeddings) -> ModelUnavailableError:
    with pytest.raises(ModelUnavailableError) as caught:
        await service.embed(["a", "b"])
    assert KEY not in str(caught.value)
    return caught.value


async def test_rows_come_in_the_order_of_the_texts() -> None:
    async with asking() as (service, server):
        rows = await service.embed(["one", "two words", "three"])
    assert [row.tolist() for row in rows] == [word_vector(text) for text in ("one", "two words", "three")]
    (request,) = server.requests
    assert (request.path, request.body["input"]) == ("/v1/embeddings", ["one", "two words", "three"])
    assert "dimensions" not in request.body


async def test_a_shorter_vector_is_asked_for() -> None:
    async with asking(dimension=8) as (service, _):
        assert [row.shape for row in await service.embed(["one"])] == [(8,)]


async def test_only_what_the_protocol_needs_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody-else")
    async with asking() as (service, server):
        await service.embed(["one"])
    sent = server.requests[0].headers
    assert sent["authorization"] == f"Bearer {KEY}"
    assert not [name for name in sent if name.startswith("x-stainless") and name != "x-stainless-raw-response"]
    assert not [value for value in sent.values() if "somebody-else" in value]


@pytest.mark.parametrize(
    ("reply", "kind", "says"),
    [
        (FORBIDDEN, "key", "FOOTPATH_EMBEDDING_API_KEY"),
        (NO_QUOTA, "quota", "no quota left"),
        (Refuses(400, "input is too long"), "request", "input is too long"),
        (Refuses(307, "moved", headers={"location": "http://127.0.0.1:9/"}), "address", "it points to"),
        (BROKEN_JSON, "protocol", "FOOTPATH_EMBEDDING_URL"),
        (OTHER_JSON, "protocol", "in place of embeddings"),
        (WEB_PAGE, "protocol", "doctype"),
        (Sends(b"[" * 100_000), "protocol", "in place of embeddings"),
        (Sends(b'{"data": [{"index": 0, "embedding": "no"}, {"index": 1, "embedding": [1]}]}'), "protocol", "in place"),
        (Sends(b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}'), "protocol", "wrongly"),
        (embedding_body([[1.0]]), "protocol", "1 vectors for 2 texts"),
        (embedding_body([[1.0]] * 3), "protocol", "3 vectors for 2 texts"),
        (Hangs(), "timeout", "FOOTPATH_EMBEDDING_TIMEOUT"),
        (Resets(), "connection", "broke the connection off"),
    ],
)
async def test_failures_say_what_to_do(reply: Reply, kind: ModelFailure, says: str) -> None:
    async with asking(scripted(reply), patience=0.5 if isinstance(reply, Hangs) else 5) as (service, _):
        error = await failure(service)
    assert error.kind == kind
    assert says in str(error)


async def test_a_wrong_key_a_wrong_name_and_a_wrong_address() -> None:
    async with asking(key="sk-another-key") as (service, _):
        error = await failure(service)
        assert (error.kind, "sk-another-key" in str(error)) == ("key", False)
    async with asking(name="other") as (service, _):
        assert "FOOTPATH_EMBEDDING_NAME" in str(await failure(service))
    async with asking(path="/elsewhere") as (service, _):
        assert "has no embeddings (404)" in str(await failure(service))


async def test_a_key_that_is_echoed_stands_in_no_message_and_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with asking(scripted(Refuses(400, f"bad request with {KEY}"))) as (service, _):
        assert "bad request with" in str(await failure(service))
    assert caplog.records
    assert not [record for record in caplog.records if record.name != "asyncio" and KEY in record.getMessage()]


async def test_a_busy_service_is_waited_for_as_long_as_it_says() -> None:
    async with asking(first(BUSY, ILL)) as (service, server):
        assert len(await service.embed(["one"])) == 1
    assert len(server.requests) == 3
    assert WAITS[0] >= 1.0


async def test_a_service_that_asks_for_too_long_a_wait_is_given_up() -> None:
    busy = Refuses(429, "Rate limit reached.", headers={"retry-after": "3600"})
    async with asking(scripted(busy)) as (service, server):
        error = await failure(service)
    assert (error.kind, error.retry_after, len(server.requests), WAITS) == ("busy", 3600.0, 1, [])


async def test_an_answer_without_end_is_not_read() -> None:
    huge = Sends(b'{"data": [' + b"1," * 100_000)
    async with asking(scripted(huge), limit=100_000) as (service, _):
        assert "longer than 100,000 bytes" in str(await failure(service))


async def test_no_redirect_is_followed_with_the_key() -> None:
    async with model_server(scripted("no chat"), model="words") as other:
        moved = Refuses(307, "moved", headers={"location": f"{other.url}/embeddings"})
        async with asking(scripted(moved)) as (service, _):
            assert (await failure(service)).kind == "address"
    assert other.requests == []


async def test_nobody_is_there() -> None:
    async with asking() as (_, server):
        url = server.url
    service = OpenaiEmbeddings(EmbeddingParameters(url, "words", KEY), no_wait)
    error = await failure(service)
    await service.close()
    assert (error.kind, "FOOTPATH_EMBEDDING_URL" in str(error)) == ("connection", True)


async def test_a_batch_of_long_vectors_has_room() -> None:
    body = embedding_body([[-0.012345678901234567e-05] * 3072] * 64).body
    assert len(body) < compute_response_limit(64, 3072)
