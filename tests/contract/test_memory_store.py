"""The memory store in a file keeps the contract."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from domain.memory import MemoryStore
from graph.backends.sqlite_memories import SqliteMemories
from tests.support.memory_store_contract import MemoryStoreContract


class TestSqlite(MemoryStoreContract):
    @pytest.fixture
    async def memories(self, tmp_path: Path) -> AsyncGenerator[MemoryStore]:
        store = SqliteMemories(tmp_path / "memories.db")
        await store.setup()
        yield store
        await store.close()
