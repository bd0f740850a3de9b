"""The gRPC port of a Qdrant server: where it is looked for, and that a closed connection leaves nothing open."""

import asyncio
import gc
from pathlib import Path

import pytest

from domain.errors import UnavailableError
from retriever.backends.qdrant_connection import QdrantAddress, QdrantConnection
from tests.servers.qdrant.places import QdrantPlace


@pytest.mark.parametrize(
    ("url", "named", "expected"),
    [
        ("http://qdrant", 0, 6334),
        ("http://localhost:6333", 0, 6334),
        ("https://xyz.cloud.example:443/", 0, 6334),
        ("http://127.0.0.1:16333/prefix", 0, 16334),
        ("http://127.0.0.1:16333", 7000, 7000),
    ],
)
def test_the_port_is_the_named_one_or_follows_from_the_address(url: str, named: int, expected: int) -> None:
    assert QdrantAddress(url, prefer_grpc=True, grpc_port=named).port_of_grpc == expected


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def used(address: QdrantAddress) -> UnavailableError:
    """A connection that is opened, used, refused and closed; the refusal."""
    connection = QdrantConnection(address)
    await connection.open()
    await connection.call("list the collections", lambda client: client.get_collections())
    with pytest.raises(UnavailableError) as refusal:
        await connection.call("count", lambda client: client.count("none"))
    await connection.close()
    return refusal.value


def test_a_closed_connection_holds_no_socket_even_where_its_errors_are_kept(qdrant_server: QdrantPlace) -> None:
    beside = QdrantAddress(qdrant_server.url, prefer_grpc=True)
    named = QdrantAddress("http://127.0.0.1:1", prefer_grpc=True, grpc_port=qdrant_server.grpc_port)
    asyncio.run(used(beside))  # what gRPC opens once and for all
    gc.collect()
    gc.disable()  # what it would find some time later is what a test trips over at random
    try:
        before = open_files()
        kept = [asyncio.run(used(address)) for address in (beside, named, beside)]
        assert open_files() == before
        assert len(kept) == 3
    finally:
        gc.enable()


async def test_where_no_grpc_answers_the_setting_is_named() -> None:
    connection = QdrantConnection(QdrantAddress("http://127.0.0.1:1", prefer_grpc=True, grpc_port=2, timeout=3))
    with pytest.raises(UnavailableError, match="FOOTPATH_VECTOR_GRPC_PORT"):
        await connection.open()
