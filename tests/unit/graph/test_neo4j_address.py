"""Addresses where no Neo4j answers. No server is needed."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from domain.errors import UnavailableError
from graph.backends import neo4j_connection
from graph.backends.neo4j_graph import Neo4jGraph
from tests.support.stream_server import serve_connections


async def refusal(url: str) -> str:
    graph = Neo4jGraph(url, "neo4j", "a-secret")
    with pytest.raises(UnavailableError) as caught:
        await asyncio.wait_for(graph.setup(), 20)
    assert "a-secret" not in str(caught.value)
    return str(caught.value)


@asynccontextmanager
async def listener(answer: bytes | None) -> AsyncGenerator[int]:
    """Somebody else on a port: sends ``answer`` and hangs up, or (None) says nothing."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(20)
        if answer is None:
            await asyncio.sleep(60)
        else:
            writer.write(answer)

    async with serve_connections(serve) as port:
        yield port


async def test_nobody_listens() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"bolt://127.0.0.1:{probe.getsockname()[1]}"
    message = await refusal(url)
    assert message.startswith(f"{url}: no Neo4j answers there")
    assert "FOOTPATH_GRAPH_URL" in message


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", b"\0\0\0\0"])
async def test_somebody_else_listens(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neo4j_connection, "_CONNECT_SECONDS", 1.0)
    async with listener(answer) as port:
        assert "Neo4j" in (await refusal(f"bolt://127.0.0.1:{port}")).partition("(")[0]


async def test_somebody_listens_and_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neo4j_connection, "_CONNECT_SECONDS", 0.5)
    async with listener(None) as port:
        assert "Neo4j" in (await refusal(f"bolt://127.0.0.1:{port}")).partition("(")[0]


@pytest.mark.parametrize(
    "url", ["ftp://127.0.0.1:7687", "127.0.0.1:7687", "bolt://neo4j:a-secret@127.0.0.1:1", "bolt://[", ""]
)
async def test_what_is_no_address(url: str) -> None:
    assert "bolt://host:7687" in await refusal(url)
