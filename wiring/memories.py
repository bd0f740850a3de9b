"""Back end of long-term memory: a Qdrant server, or a file of the store's folder."""

from pathlib import Path

from domain.memory import MemoryStore
from wiring.settings import Settings
from wiring.store_servers import vector_address


def memories_of(settings: Settings, file: Path, *, on_server: bool) -> MemoryStore:
    """Create a store of memories, not open yet."""
    if on_server:
        from retriever.backends.qdrant_memories import QdrantMemories

        return QdrantMemories(vector_address(settings), name=settings.vector_collection)
    from graph.backends.sqlite_memories import SqliteMemories

    return SqliteMemories(file)
