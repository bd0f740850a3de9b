"""Where a Qdrant server for tests is, and indexes and memories with collections of their own on it."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import uuid4

from qdrant_client import AsyncQdrantClient

from retriever.backends.qdrant import QdrantIndex
from retriever.backends.qdrant_connection import QdrantAddress
from retriever.backends.qdrant_memories import QdrantMemories
from retriever.backends.qdrant_patterns import QdrantPatterns

MakeIndex = Callable[..., QdrantIndex]


@dataclass(frozen=True)
class QdrantPlace:
    url: str
    api_key: str = field(default="", repr=False)

    @asynccontextmanager
    async def indexes(self) -> AsyncGenerator[MakeIndex]:
        """Makes indexes that share collections nobody else has; the collections go at the end."""
        name, made = f"test-{uuid4().hex[:12]}", list[QdrantIndex]()

        def make(*, prefer_grpc: bool = False, **options: bool) -> QdrantIndex:
            made.append(QdrantIndex(QdrantAddress(self.url, self.api_key, prefer_grpc), name=name, **options))
            return made[-1]

        try:
            yield make
        finally:
            for index in made:
                await index.close()
            await self.wipe(name)

    @asynccontextmanager
    async def memories(self, *, prefer_grpc: bool = False) -> AsyncGenerator[QdrantMemories]:
        """A memory store, set up and empty; its collections go at the end."""
        name = f"test-{uuid4().hex[:12]}"
        store = QdrantMemories(QdrantAddress(self.url, self.api_key, prefer_grpc=prefer_grpc), name=name)
        try:
            await store.setup()
            yield store
        finally:
            await store.close()
            await self.wipe(name)

    @asynccontextmanager
    async def patterns(self) -> AsyncGenerator[QdrantPatterns]:
        """An index of patterns, set up and empty; its collections go at the end."""
        name = f"test-{uuid4().hex[:12]}"
        index = QdrantPatterns(QdrantAddress(self.url, self.api_key), name=name)
        try:
            await index.setup()
            yield index
        finally:
            await index.close()
            await self.wipe(name)

    async def wipe(self, name: str) -> None:
        """Delete the collections whose names begin with ``name``."""
        client = AsyncQdrantClient(url=self.url, headers={"api-key": self.api_key}, check_compatibility=False)
        for one in (await client.get_collections()).collections:
            if one.name.startswith(name):
                await client.delete_collection(one.name)
        await client.close()
