"""Solutions and their patterns in dictionaries and in files keep the contract."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from domain.solution import PatternIndex, SolutionStore
from graph.backends.in_memory import InMemoryPatterns, InMemorySolutions
from graph.backends.sqlite_solutions import SqlitePatterns, SqliteSolutions
from tests.support.solution_store_contract import PatternIndexContract, SolutionStoreContract


class TestInMemory(SolutionStoreContract, PatternIndexContract):
    @pytest.fixture
    def solutions(self) -> SolutionStore:
        return InMemorySolutions()

    @pytest.fixture
    def patterns(self) -> PatternIndex:
        return InMemoryPatterns()


class TestSqlite(SolutionStoreContract, PatternIndexContract):
    @pytest.fixture
    async def solutions(self, tmp_path: Path) -> AsyncGenerator[SolutionStore]:
        store = SqliteSolutions(tmp_path / "solutions.db")
        await store.setup()
        yield store
        await store.close()

    @pytest.fixture
    async def patterns(self, tmp_path: Path) -> AsyncGenerator[PatternIndex]:
        index = SqlitePatterns(tmp_path / "patterns.db")
        await index.setup()
        yield index
        await index.close()
