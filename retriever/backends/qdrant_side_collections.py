"""Collections of a Qdrant server other than those of the tools' vectors, created and indexed when first needed.

One of them has no points: its metadata holds notes that all processes share.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from domain.errors import UnavailableError
from retriever.backends.qdrant_connection import LOCAL_URL, MissingCollectionError, QdrantAddress, QdrantConnection

if TYPE_CHECKING:
    from qdrant_client import models


def hash_encoder_identity(identity: str) -> str:
    """Return the hash of an encoder's identity that is part of a collection's name."""
    return blake2b(identity.encode(), digest_size=6).hexdigest()


def build_filter(
    conditions: Mapping[str, Sequence[str]], *, not_in: Mapping[str, Sequence[str]] | None = None
) -> "models.Filter":
    """Return a filter for points.

    Each field of ``conditions`` must have one of its values, and no field of ``not_in`` any of its values.
    """
    from qdrant_client import models

    def match_any(key: str, values: Sequence[str]) -> "models.FieldCondition":
        return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))

    return models.Filter(
        must=[match_any(key, values) for key, values in conditions.items()],
        must_not=[match_any(key, values) for key, values in (not_in or {}).items()] or None,
    )


class SideCollections:
    """Collections whose names begin with one prefix."""

    def __init__(self, connection: QdrantConnection, prefix: str) -> None:
        self._connection = connection
        self._prefix = prefix

    async def list_collections(self) -> list[str]:
        """Return the names of the existing collections."""
        answer = await self._connection.call("list the collections", lambda client: client.get_collections())
        return [collection.name for collection in answer.collections if collection.name.startswith(self._prefix)]

    async def has_collection(self, collection: str) -> bool:
        """Return whether a collection exists."""
        return await self._connection.call("find a collection", lambda client: client.collection_exists(collection))

    async def create_if_missing(self, collection: str, dimension: int | None) -> bool:
        """Create a collection if it is missing, and return whether this call created it.

        Two processes may try at once: it is enough that the collection exists afterwards.
        """
        from qdrant_client import models

        config: models.VectorParams | dict[str, models.VectorParams] = (
            models.VectorParams(size=dimension, distance=models.Distance.COSINE) if dimension else {}
        )
        if await self.has_collection(collection):
            return False
        try:
            await self._connection.call(
                "make a collection", lambda client: client.create_collection(collection, vectors_config=config)
            )
        except (UnavailableError, ValueError):
            if not await self.has_collection(collection):
                raise
            return False
        return True

    async def index_fields(self, collection: str, *fields: str) -> None:
        """Index the fields that have no index yet. If all have one, a read-only key is enough."""
        from qdrant_client import models

        if self._connection.address.url == LOCAL_URL:
            return
        info = await self._connection.call("read a collection", lambda client: client.get_collection(collection))
        for field in sorted({*fields} - info.payload_schema.keys()):
            await self._connection.call(
                "index a field",
                lambda client, field=field: client.create_payload_index(
                    collection, field, models.PayloadSchemaType.KEYWORD
                ),
            )


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
