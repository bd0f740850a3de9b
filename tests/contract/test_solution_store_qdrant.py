"""Patterns of solutions on Qdrant keep the contract: in its client's local mode, and on a server over HTTP and gRPC."""

from collections.abc import AsyncGenerator

import pytest

from domain.solution import PatternIndex
from retriever.backends.qdrant_connection import QdrantAddress
from retriever.backends.qdrant_patterns import QdrantPatterns
from tests.servers.qdrant.places import QdrantPlace
from tests.support.solution_store_contract import PatternIndexContract


class TestQdrantLocal(PatternIndexContract):
    @pytest.fixture
    async def patterns(self) -> AsyncGenerator[PatternIndex]:
        index = QdrantPatterns(QdrantAddress(":memory:"))
        await index.setup()
        yield index
        await index.close()


class TestQdrantServer(PatternIndexContract):
    @pytest.fixture
    async def patterns(self, qdrant_server: QdrantPlace) -> AsyncGenerator[PatternIndex]:
        async with qdrant_server.patterns() as index:
            yield index


class TestQdrantServerOverGrpc(PatternIndexContract):
    @pytest.fixture
    async def patterns(self, qdrant_server: QdrantPlace) -> AsyncGenerator[PatternIndex]:
        async with qdrant_server.patterns(prefer_grpc=True) as index:
            yield index
