"""How memories lie on a Qdrant server.

One collection without vectors, the *bodies*, holds a point per memory and, as points of their own, every judgement: a server counts
points, but adds to no number, so that nothing that is counted is ever read and written back. One collection per encoder holds the
vectors; the body of a memory that has one there carries that encoder's mark, so that those without are found by a filter.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from retriever.backends import qdrant_side_collections as side
from retriever.backends.qdrant_connection import QdrantConnection

if TYPE_CHECKING:
    from qdrant_client import models

MARKED = "yes"
"""The value of a mark."""

_NAMESPACE = UUID("5d0c9a1e-6f1b-5b7a-8c55-2a9b4f0d7e33")
_ABOUT = "memory "


def point_id(memory: str) -> str:
    """The server's id of a memory's points: it takes UUIDs and integers only."""
    return str(uuid5(_NAMESPACE, memory))


def judgement_id(memory: str, key: str) -> str:
    """The id of a judgement's point that counts once by its key."""
    return str(uuid5(_NAMESPACE, f"{about(memory)} {key}"))


def about(memory: str) -> str:
    """What a judgement is filed under: a bare id looks like a UUID, and a server would write it otherwise when it counts."""
    return f"{_ABOUT}{memory}"


def judged(filed_under: str) -> str:
    """The id of the memory that a judgement is about; undoes :func:`about`."""
    return filed_under.removeprefix(_ABOUT)


def where(wanted: Mapping[str, Sequence[str]], *, without: str = "") -> "models.Filter":
    """Points whose fields have one of these values each, and that carry no mark called ``without``."""
    return side.where(wanted, not_in={without: [MARKED]} if without else None)


class MemoryCollections:
    """The collections whose names begin with ``name``-memories, made and indexed when they are first needed."""

    def __init__(self, connection: QdrantConnection, name: str) -> None:
        self._connection = connection
        self._side = side.SideCollections(connection, f"{name}-memories-")
        self.bodies = f"{name}-memories"
        self._ready: set[str] = set()

    async def setup(self) -> None:
        """Make the bodies' collection; idempotent."""
        await self._side.make(self.bodies, None)
        await self._side.index(self.bodies, "kind", "memory", "id")

    def vectors(self, identity: str) -> str:
        """The collection of an encoder's vectors."""
        return f"{self.bodies}-{side.digest(identity)}"

    def mark(self, identity: str) -> str:
        """The field of a body that says that the memory has a vector of this encoder."""
        return f"embedded_{side.digest(identity)}"

    async def vectors_of_all(self) -> list[str]:
        """The collections of vectors that there are."""
        return await self._side.names()

    async def exists(self, collection: str) -> bool:
        """Whether a collection is there."""
        return await self._side.exists(collection)

    async def ready_to_mark(self, identity: str) -> str:
        """The encoder's mark, which can be filtered by."""
        mark = self.mark(identity)
        if mark not in self._ready:
            await self._side.index(self.bodies, mark)
            self._ready.add(mark)
        return mark

    async def ready_for_vectors(self, identity: str, dimension: int) -> str:
        """The collection of an encoder's vectors. Where it has to be made, nothing carries the mark of a former one any more."""
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
