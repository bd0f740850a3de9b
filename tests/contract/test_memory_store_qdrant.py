"""Memories on Qdrant keep the contract: in its client's local mode, over HTTP, and on a server where there is one."""

from collections.abc import AsyncGenerator

import pytest

from domain.errors import UnavailableError
from domain.memory import MemoryStore
from retriever.backends.qdrant_connection import QdrantAddress
from retriever.backends.qdrant_memories import QdrantMemories
from tests.contract.memory_store import ENCODER, MemoryStoreContract, filled, memory
from tests.servers.qdrant.places import QdrantPlace
from tests.servers.qdrant.stand_in import serving_stand_in


class TestQdrantLocal(MemoryStoreContract):
    @pytest.fixture
    async def memories(self) -> AsyncGenerator[MemoryStore]:
        store = QdrantMemories(QdrantAddress(":memory:"))
        await store.setup()
        yield store
        await store.close()


class TestStandIn(MemoryStoreContract):
    @pytest.fixture
    async def memories(self, qdrant_stand_in: QdrantPlace) -> AsyncGenerator[MemoryStore]:
        async with qdrant_stand_in.memories() as store:
            yield store


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


async def test_who_may_only_read_recalls_what_others_keep() -> None:
    one = memory("x")
    with serving_stand_in("write", "read") as url:
        writer, reader = QdrantMemories(QdrantAddress(url, "write")), QdrantMemories(QdrantAddress(url, "read"))
        await writer.setup()
        await filled(writer, (one, [1.0, 0.0]))
        await reader.setup()
        assert [found.memory for found in await reader.near([1.0, 0.0], ENCODER, "", 1)] == [one]
        with pytest.raises(UnavailableError, match="read and write"):
            await reader.remove([one.id])
        assert await writer.count() == 1
        await writer.close()
        await reader.close()
