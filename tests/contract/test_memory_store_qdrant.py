"""Memories on Qdrant keep the contract: in its client's local mode, and on a server over HTTP and gRPC."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager

import pytest

from domain.errors import UnavailableError
from domain.memory import MemoryStore
from retriever.backends.qdrant_connection import QdrantAddress
from retriever.backends.qdrant_memories import QdrantMemories
from tests.servers.qdrant.places import QdrantPlace
from tests.servers.qdrant.server import QdrantServer
from tests.support.memory_store_contract import ENCODER, MemoryStoreContract, filled, memory


class TestQdrantLocal(MemoryStoreContract):
    @pytest.fixture
    async def memories(self) -> AsyncGenerator[MemoryStore]:
        store = QdrantMemories(QdrantAddress(":memory:"))
        await store.setup()
        yield store
        await store.close()


class TestQdrantServer(MemoryStoreContract):
    @pytest.fixture
    async def memories(self, qdrant_server: QdrantPlace) -> AsyncGenerator[MemoryStore]:
        async with qdrant_server.memories() as store:
            yield store


class TestQdrantServerOverGrpc(MemoryStoreContract):
    @pytest.fixture
    async def memories(self, qdrant_server: QdrantPlace) -> AsyncGenerator[MemoryStore]:
        async with qdrant_server.memories(prefer_grpc=True) as store:
            yield store


async def test_who_may_only_read_recalls_what_others_keep(
    run_qdrant: Callable[..., AbstractContextManager[QdrantServer]],
) -> None:
    one = memory("x")
    with run_qdrant("write", "read") as server:
        writer, reader = (QdrantMemories(QdrantAddress(server.url, key)) for key in ("write", "read"))
        await writer.setup()
        await filled(writer, (one, [1.0, 0.0]))
        await reader.setup()
        assert [found.memory for found in await reader.find_similar([1.0, 0.0], ENCODER, "", 1)] == [one]
        with pytest.raises(UnavailableError, match="read and write"):
            await reader.remove([one.id])
        assert await writer.count() == 1
        await writer.close()
        await reader.close()
