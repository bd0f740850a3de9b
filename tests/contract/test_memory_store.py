"""The memory stores keep their contract: SQLite, and Qdrant in its client's local mode."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from domain.memory import MemoryStore
from graph.backends.memories import SqliteMemories
from retriever.backends.qdrant_memories import QdrantMemories
from tests.contract.memory_store import MemoryStoreContract


class TestSqlite(MemoryStoreContract):
    @pytest.fixture
    async def memories(self, tmp_path: Path) -> AsyncGenerator[MemoryStore]:
        store = SqliteMemories(tmp_path / "memories.db")
        await store.setup()
        yield store
        await store.close()


class TestQdrantLocal(MemoryStoreContract):
    @pytest.fixture
    async def memories(self) -> AsyncGenerator[MemoryStore]:
        store = QdrantMemories(":memory:")
        await store.setup()
        yield store
        await store.close()
