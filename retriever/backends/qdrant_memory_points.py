"""Layout of memories on a Qdrant server.

One collection without vectors, the *bodies*, has a point per memory and a point per judgement: a server can count points but not
increment a number, so judgements never need to be read and written back. One collection per encoder has the vectors; the body of a
memory with a vector there has that encoder's mark, so that memories without one are found by a filter.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from retriever.backends import qdrant_side_collections as side
from retriever.backends.qdrant_connection import QdrantConnection

if TYPE_CHECKING:
    from qdrant_client import models

MARKED = "yes"
"""Value of a mark."""

_NAMESPACE = UUID("5d0c9a1e-6f1b-5b7a-8c55-2a9b4f0d7e33")
_ABOUT = "memory "


def point_id(memory: str) -> str:
    """Return the server's id of a memory's points; it takes only UUIDs and integers."""
    return str(uuid5(_NAMESPACE, memory))


def judgement_id(memory: str, key: str) -> str:
    """Return the id of a judgement's point; judgements with the same key share it and count once."""
    return str(uuid5(_NAMESPACE, f"{about(memory)} {key}"))


def about(memory: str) -> str:
    """Return the field value by which a judgement names its memory.

    A bare id looks like a UUID, and a server would write it differently in its counts.
    """
    return f"{_ABOUT}{memory}"


def judged(filed_under: str) -> str:
    """Return the id of the memory that a judgement is about; the inverse of :func:`about`."""
    return filed_under.removeprefix(_ABOUT)


def where(wanted: Mapping[str, Sequence[str]], *, without: str = "") -> "models.Filter":
    """Return a filter for points whose fields each have one of these values, without the mark ``without``."""
    return side.where(wanted, not_in={without: [MARKED]} if without else None)


class MemoryCollections:
    """Collections whose names begin with ``name``-memories, created and indexed when first needed."""

    def __init__(self, connection: QdrantConnection, name: str) -> None:
        self._connection = connection
        self._side = side.SideCollections(connection, f"{name}-memories-")
        self.bodies = f"{name}-memories"
        self._ready: set[str] = set()

    async def setup(self) -> None:
        """Create the collection of bodies; idempotent."""
        await self._side.make(self.bodies, None)
        await self._side.index(self.bodies, "kind", "memory", "id")

    def vectors(self, identity: str) -> str:
        """Return the name of an encoder's collection."""
        return f"{self.bodies}-{side.digest(identity)}"

    def mark(self, identity: str) -> str:
        """Return the field of a body that says that the memory has a vector of this encoder."""
        return f"embedded_{side.digest(identity)}"

    async def vectors_of_all(self) -> list[str]:
        """Return the existing collections of vectors."""
        return await self._side.names()

    async def exists(self, collection: str) -> bool:
        """Return whether a collection exists."""
        return await self._side.exists(collection)

    async def ready_to_mark(self, identity: str) -> str:
        """Index the encoder's mark for filters, and return it."""
        mark = self.mark(identity)
        if mark not in self._ready:
            await self._side.index(self.bodies, mark)
            self._ready.add(mark)
        return mark

    async def ready_for_vectors(self, identity: str, dimension: int) -> str:
        """Create an encoder's collection if it is missing, and return its name.

        Marks of a former collection of that encoder are removed, because its vectors are gone.
        """
        collection = self.vectors(identity)
        if collection not in self._ready:
            mark = await self.ready_to_mark(identity)
            if await self._side.make(collection, dimension):
                marked = where({mark: [MARKED]})
                await self._connection.call(
                    "write memories", lambda client: client.delete_payload(self.bodies, [mark], marked)
                )
            await self._side.index(collection, "owner")
            self._ready.add(collection)
        return collection
