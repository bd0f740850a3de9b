"""Where a Qdrant server for tests is, and indexes and memories with collections of their own on it."""

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from uuid import uuid4

from qdrant_client import QdrantClient

from retriever.backends.qdrant import QdrantIndex
from retriever.backends.qdrant_connection import QdrantAddress
from retriever.backends.qdrant_memories import QdrantMemories
from retriever.backends.qdrant_patterns import QdrantPatterns

MakeIndex = Callable[..., QdrantIndex]


@dataclass(frozen=True)
class QdrantPlace:
    url: str
    api_key: str = field(default="", repr=False)

    @property
    def grpc_port(self) -> int:
        """Where a client looks for gRPC."""
        return QdrantAddress(self.url, prefer_grpc=True).effective_grpc_port

    @contextmanager
    def collections(self) -> Generator[str]:
        """A name that no other collection's begins with; those whose names do go at the end."""
        name = f"test-{uuid4().hex[:12]}"
        try:
            yield name
        finally:
            self._wipe(name)

    @asynccontextmanager
    async def indexes(self) -> AsyncGenerator[MakeIndex]:
        """Makes indexes that share collections nobody else has; the collections go at the end."""
        made = list[QdrantIndex]()
        with self.collections() as name:

            def make(*, prefer_grpc: bool = False, **options: bool) -> QdrantIndex:
                made.append(QdrantIndex(QdrantAddress(self.url, self.api_key, prefer_grpc), name=name, **options))
                return made[-1]

            try:
                yield make
            finally:
                for index in made:
                    await index.close()

    @asynccontextmanager
    async def memories(self, *, prefer_grpc: bool = False) -> AsyncGenerator[QdrantMemories]:
        """A memory store, set up and empty; its collections go at the end."""
        with self.collections() as name:
            store = QdrantMemories(QdrantAddress(self.url, self.api_key, prefer_grpc=prefer_grpc), name=name)
            try:
                await store.setup()
                yield store
            finally:
                await store.close()

    @asynccontextmanager
    async def patterns(self, *, prefer_grpc: bool = False) -> AsyncGenerator[QdrantPatterns]:
        """An index of patterns, set up and empty; its collections go at the end."""
        with self.collections() as name:
            index = QdrantPatterns(QdrantAddress(self.url, self.api_key, prefer_grpc=prefer_grpc), name=name)
            try:
                await index.setup()
                yield index
            finally:
                await index.close()

    def settings(self, name: str) -> dict[str, str]:
        """Settings of a product whose vectors are in collections called ``name`` and so on."""
        key = {"vector_api_key": self.api_key} if self.api_key else {}
        return {"vector_url": self.url, "vector_collection": name, **key}

    def _wipe(self, name: str) -> None:
        with closing(
            QdrantClient(url=self.url, headers={"api-key": self.api_key}, check_compatibility=False)
        ) as client:
            for one in client.get_collections().collections:
                if one.name.startswith(name):
                    client.delete_collection(one.name)
