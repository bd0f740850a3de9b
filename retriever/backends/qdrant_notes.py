"""Texts that all processes share, stored as metadata of a collection without vectors."""

from retriever.backends.qdrant_connection import MissingCollectionError, QdrantAddress, QdrantConnection
from retriever.backends.qdrant_side_collections import SideCollections


class QdrantNotes:
    """Texts by key that all processes share, as metadata of the collection ``{name}-notes``."""

    def __init__(self, address: QdrantAddress, *, name: str = "footpath") -> None:
        self._connection = QdrantConnection(address)
        self._collection = f"{name}-notes"
        self._side = SideCollections(self._connection, self._collection)

    async def read(self, key: str) -> str:
        """Return a note; empty if it was never written. Raises ``UnavailableError``."""
        await self._connection.open()
        try:
            info = await self._connection.call(
                "read a collection", lambda client: client.get_collection(self._collection)
            )
        except MissingCollectionError:
            return ""
        return str((info.config.metadata or {}).get(key, ""))

    async def write(self, key: str, text: str) -> None:
        """Store a note for every process. Raises ``UnavailableError``."""
        await self._connection.open()
        await self._side.create_if_missing(self._collection, None)
        await self._connection.call(
            "write a note", lambda client: client.update_collection(self._collection, metadata={key: text})
        )

    async def close(self) -> None:
        """Close the connection; idempotent."""
        await self._connection.close()
