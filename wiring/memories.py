"""Where long-term memory lies: a Qdrant server, or a file of the store's folder."""

from pathlib import Path

from domain.memory import MemoryStore
from wiring.settings import Settings


def memories_of(settings: Settings, file: Path, *, on_server: bool) -> MemoryStore:
    """A store of memories that is not open yet."""
    if on_server:
        from retriever.backends.qdrant_memories import QdrantMemories

        key = settings.vector_api_key.get_secret_value()
        return QdrantMemories(
            settings.vector_url, key, name=settings.vector_collection, prefer_grpc=settings.vector_grpc
        )
    from graph.backends.memories import SqliteMemories

    return SqliteMemories(file)
