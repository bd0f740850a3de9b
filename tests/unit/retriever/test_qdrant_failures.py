"""Everything that can be wrong with a Qdrant server has a message that says what to do, and shows no key."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import orjson
import pytest

from domain.errors import StoreRefusedError, StoreVersionError, UnavailableError, UsageError
from retriever.backends.qdrant import QdrantIndex
from retriever.backends.qdrant_connection import QdrantAddress
from tests.servers.qdrant.places import QdrantPlace
from tests.servers.qdrant.server import QdrantServer
from tests.support.scripted_http_server import Answer, reply, reset, serving, silence
from tests.support.server_processes import find_free_port
from tests.support.vector_index_contract import A, point, unit

KEY, READ_ONLY = "s3cret-key", "l00k-only"
ROOT = reply(body=orjson.dumps({"title": "qdrant - vector search engine", "version": "1.18.0"}))


@pytest.fixture(scope="module")
def guarded_url(run_qdrant: Callable[..., AbstractContextManager[QdrantServer]]) -> Iterator[str]:
    with run_qdrant(KEY, READ_ONLY) as server:
        yield server.url


async def refusal(index: QdrantIndex, dimension: int = 8) -> str:
    with pytest.raises(UnavailableError) as caught:
        await index.setup("model", dimension)
    await index.close()
    assert KEY not in str(caught.value)
    return str(caught.value)


async def test_server_down() -> None:
    message = await refusal(QdrantIndex(QdrantAddress(f"http://127.0.0.1:{find_free_port()}", KEY)))
    assert "nothing answers there" in message
    assert "Start the server, or correct FOOTPATH_VECTOR_URL" in message


async def test_server_down_over_grpc(qdrant_server: QdrantPlace) -> None:
    closed = QdrantAddress(qdrant_server.url, prefer_grpc=True, grpc_port=find_free_port(), timeout=2)
    message = await refusal(QdrantIndex(closed))
    assert "nothing answers there" in message or "no answer within" in message


async def test_no_key(guarded_url: str) -> None:
    assert "wants an API key: set FOOTPATH_VECTOR_API_KEY" in await refusal(QdrantIndex(QdrantAddress(guarded_url)))


async def test_wrong_key(guarded_url: str) -> None:
    message = await refusal(QdrantIndex(QdrantAddress(guarded_url, "wrong")))
    assert "refuses the API key" in message
    assert "wrong" not in message


async def test_a_key_that_may_only_read(guarded_url: str) -> None:
    writer, reader = QdrantIndex(QdrantAddress(guarded_url, KEY)), QdrantIndex(QdrantAddress(guarded_url, READ_ONLY))
    await writer.setup("model", 8)
    await writer.put([point(A, unit(1))])
    await reader.setup("model", 8)
    assert [hit.id for hit in await reader.search(unit(1), 1)] == [A]
    with pytest.raises(UnavailableError, match="read and write"):
        await reader.put([point(A, unit(0, 1))])
    assert await writer.fetch_digests() == {A: "d"}
    await writer.close()
    await reader.close()


@pytest.mark.parametrize("key", ["two words", "new\nline", "schlüssel"])
def test_a_key_that_no_header_can_carry(key: str) -> None:
    with pytest.raises(UsageError) as caught:
        QdrantIndex(QdrantAddress("http://127.0.0.1:1", key))
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (reply(body=b"<html>Welcome</html>", content_type="text/html"), "not as a Qdrant server"),
        (reply(body=b'{"title": "Another", "version": "1.0.0"}'), "not as a Qdrant server"),
        (reply(body=b'{"version": {"number": "8.1"}}'), "not as a Qdrant server"),
        (reply("404 Not Found", b"nothing here"), "Is it a Qdrant server"),
        (reply("301 Moved Permanently", b"", location="http://192.0.2.1/"), "refused the request (301"),
        (reply("429 Too Many Requests", b"{}", retry_after="3"), "wait a little and run again"),
        (reply("500 Oops", b'{"status": {"error": "disk is full"}}'), "it failed (500: disk is full)"),
        (reply("503 Unavailable", b"<h1>" + b"x" * 5_000), "it failed (503: <h1>xxx"),
        (reset, "nothing answers there"),
    ],
)
async def test_answers_that_are_none(answer: Answer, expected: str) -> None:
    async with serving(answer) as served:
        message = await refusal(QdrantIndex(QdrantAddress(served.url, KEY)))
    assert expected in message
    assert len(message) < 500


async def test_slow_server() -> None:
    async with serving(silence) as served:
        message = await refusal(QdrantIndex(QdrantAddress(served.url, timeout=1)))
    assert "no answer within 1 s" in message


async def test_a_server_that_is_too_old() -> None:
    old = reply(body=orjson.dumps({"title": "qdrant - vector search engine", "version": "1.9.2"}))
    async with serving(old) as served:
        with pytest.raises(StoreVersionError, match=r"version 1\.9\.2; Footpath needs 1\.16 or newer"):
            await QdrantIndex(QdrantAddress(served.url)).setup("model", 8)


async def test_a_server_that_fails_later() -> None:
    async with serving(ROOT, reply("500 Oops", b'{"status": {"error": "panicked"}}')) as served:
        assert "cannot list the aliases" in await refusal(QdrantIndex(QdrantAddress(served.url)))


async def test_a_refused_setup_leaves_it_shut_and_can_be_repeated(guarded_url: str) -> None:
    index = QdrantIndex(QdrantAddress(guarded_url, "wrong"))
    for _ in range(2):
        with pytest.raises(StoreRefusedError, match="refuses the API key"):
            await index.setup("model", 8)
        with pytest.raises(UnavailableError, match="not open"):
            await index.count()
    await index.close()
