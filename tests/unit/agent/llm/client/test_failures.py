"""What goes wrong with an endpoint is told as what it is, with what to do, and without the key."""

import asyncio

import pytest

from agent.llm.client.langchain_model import LangchainModel, ModelParameters
from domain.errors import ModelUnavailableError
from tests.models.openai_replies import (
    BROKEN_JSON,
    FORBIDDEN,
    NO_CHOICES,
    NO_MODEL,
    NO_QUOTA,
    OTHER_JSON,
    WEB_PAGE,
    WRONG_KEY,
    Refuses,
    Reply,
    Sends,
    scripted,
)
from tests.support.stream_server import serve_connections
from tests.unit.agent.llm.client.talking import HELLO, KEY, WAITS, no_wait, streamed, talking

MOVED = Sends(b"", 308, headers={"location": "https://models.example.com/v1"})
PACKED = Sends(b"\x1f\x8b" + b"x" * 50, headers={"content-encoding": "gzip"})


@pytest.mark.parametrize(
    ("reply", "kind", "advice"),
    [
        (WRONG_KEY, "key", "FOOTPATH_MODEL_API_KEY"),
        (FORBIDDEN, "key", "FOOTPATH_MODEL_API_KEY"),
        (NO_MODEL, "model", "FOOTPATH_MODEL_NAME"),
        (Refuses(404, "not found"), "address", "mostly ends in /v1"),
        (MOVED, "address", "https://models.example.com/v1"),
        (NO_QUOTA, "quota", "no quota left"),
    ],
    ids=["401", "403", "404 model", "404", "308", "quota"],
)
async def test_what_lasts_is_asked_once(reply: Reply, kind: str, advice: str) -> None:
    async with talking(scripted(reply)) as (model, server):
        with pytest.raises(ModelUnavailableError, match=advice) as told:
            await model.complete(HELLO)
        assert (told.value.kind, told.value.lasting) == (kind, True)
        assert len(server.requests) == 1
    assert WAITS == []


@pytest.mark.parametrize("reply", [BROKEN_JSON, NO_CHOICES, OTHER_JSON, WEB_PAGE, PACKED])
async def test_what_is_no_chat_completion_is_said_to_be_none(reply: Sends) -> None:
    async with talking(scripted(reply)) as (model, _):
        with pytest.raises(ModelUnavailableError, match="OpenAI-compatible") as told:
            await model.complete(HELLO)
        assert told.value.kind == "protocol"
        with pytest.raises(ModelUnavailableError):
            await streamed(model)


async def test_an_answer_without_end_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.llm.client.transport.RESPONSE_LIMIT", 10_000)
    async with talking(scripted("z" * 20_000)) as (model, _):
        with pytest.raises(ModelUnavailableError, match="longer than 10,000 bytes"):
            await model.complete(HELLO)


async def test_the_key_is_never_told() -> None:
    async with talking(scripted(Refuses(401, f"Incorrect API key provided: {KEY}"))) as (model, _):
        with pytest.raises(ModelUnavailableError) as told:
            await model.complete(HELLO)
        assert KEY not in str(told.value)
        assert "Incorrect API key provided: …" in str(told.value)


@pytest.mark.parametrize(
    ("url", "kind", "words"),
    [
        ("http://127.0.0.1:9/v1", "connection", "start the model's server"),
        ("http://models.invalid/v1", "dns", "host of http://models.invalid/v1 is not known"),
    ],
)
async def test_what_is_not_there(url: str, kind: str, words: str) -> None:
    async with talking(scripted("x"), url=url, attempts=1) as (model, _):
        with pytest.raises(ModelUnavailableError, match=words) as told:
            await model.complete(HELLO)
        assert told.value.kind == kind


async def test_no_tls_where_tls_is_asked_for() -> None:
    async def answer_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")

    async with serve_connections(answer_plainly) as port:
        model = LangchainModel(ModelParameters(f"https://127.0.0.1:{port}/v1", "rules"), sleep=no_wait)
        with pytest.raises(ModelUnavailableError, match="http:// where the server speaks no TLS") as told:
            await model.complete(HELLO)
        assert (told.value.kind, told.value.lasting) == ("tls", True)
        await model.close()
