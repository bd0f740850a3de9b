"""A few texts that all processes of a Qdrant server's vectors share: metadata of a collection without vectors."""

from retriever.backends.qdrant_connection import MissingCollectionError, QdrantAddress, QdrantConnection
from retriever.backends.qdrant_side_collections import SideCollections


class QdrantNotes:
    """Notes of the collections whose names begin with ``name``."""

    def __init__(self, address: QdrantAddress, *, name: str = "footpath") -> None:
        self._connection = QdrantConnection(address)
        self._collection = f"{name}-notes"
        self._side = SideCollections(self._connection, self._collection)

    async def read(self, key: str) -> str:
        """Empty where nothing was written. Raises ``UnavailableError``."""
        await self._connection.open()
        try:
            found = await self._connection.call(
                "read a collection", lambda client: client.get_collection(self._collection)
            )
        except MissingCollectionError:
            return ""
        return str((found.config.metadata or {}).get(key, ""))

    async def write(self, key: str, text: str) -> None:
        """Every process reads it from now on. Raises ``UnavailableError``."""
        await self._connection.open()
        await self._side.make(self._collection, None)
        await self._connection.call(
            "write a note", lambda client: client.update_collection(self._collection, metadata={key: text})
        )

    async def close(self) -> None:
        """Idempotent."""
        await self._connection.close()
