"""Vector index on a Qdrant server, shared by several processes and machines."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

import numpy as np
from numpy.typing import NDArray

from domain.errors import StoreVersionError, UnavailableError
from domain.ties import find_with_ties, rank
from domain.tool import ToolId
from retriever.backends.qdrant_collections import Encoder, QdrantCollections
from retriever.backends.qdrant_connection import MissingCollectionError, QdrantAddress, QdrantConnection, Result
from retriever.index import Hit, Point, Vectors, hit_id, hit_score

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient, models

_NAMESPACE = UUID("0e3f6e7e-5a0b-5c0e-9a55-7a1f0a0b6c11")
"""Namespace of point ids made from tool ids, as in the embedded index: a server takes only UUIDs and integers."""

_BATCH = 256
"""Points of one request: with 1,024 dimensions 5 MB of JSON, and a server accepts 32 MB."""
_PAGE = 2_000


class QdrantIndex:
    """Vector index with one collection per encoder; see :mod:`retriever.backends.qdrant_collections`.

    Search is exact and finds the same as the embedded index. With ``quantization`` it is approximate, over a graph of 8-bit vectors
    and re-scored with the original ones, for collections of millions. Vectors are applied before ``put`` returns.
    """

    def __init__(
        self,
        address: QdrantAddress,
        *,
        name: str = "footpath",
        quantization: bool = False,
    ) -> None:
        self._connection = QdrantConnection(address)
        self._collections = QdrantCollections(self._connection, name, quantization=quantization)
        self._quantization = quantization
        self._encoder: Encoder | None = None
        self._collection = ""

    async def setup(self, identity: str, dimension: int) -> None:
        """Open this encoder's active collection, or create the first one.

        Raises:
            StoreVersionError: only other encoders have vectors there, or the server is too old.
            UnavailableError: the server is down, slow, refuses the key, or is not a Qdrant server.
        """
        encoder = Encoder(identity, dimension)
        await self._connection.open()
        self._collection = await self._collections.open(encoder)
        self._encoder = encoder

    async def setup_beside(self, identity: str, dimension: int) -> None:
        """Open a collection besides the active one; its points are found by no other process before :meth:`switch`.

        An interrupted re-index continues where it stopped. Raises as :meth:`setup`, but vectors of other encoders are no error.
        """
        encoder = Encoder(identity, dimension)
        await self._connection.open()
        self._collection = await self._collections.beside(encoder)
        self._encoder = encoder

    async def in_force(self) -> list[tuple[str, int]]:
        """Return identity and dimension of the encoders with active vectors. The index need not be set up."""
        await self._connection.open()
        return [(one.identity, one.dimension) for one in await self._collections.in_force()]

    async def switch(self) -> None:
        """Make this index's collection the active one for every process that uses this encoder, at once."""
        encoder = self._opened()
        if self._collection != (alias := self._collections.alias(encoder)):
            await self._collections.switch(encoder, self._collection)
            self._collection = alias

    async def drop_older(self) -> list[str]:
        """Delete this encoder's formerly active collections, and return their names."""
        return await self._collections.drop_older(self._opened())

    async def delete(self, identity: str, dimension: int, *, beside: bool) -> list[str]:
        """Delete an encoder's active vectors, or those not yet active, and return the collections' names.

        The index need not be set up.
        """
        await self._connection.open()
        return await self._collections.delete(Encoder(identity, dimension), beside=beside)

    async def note(self, key: str, value: str) -> None:
        """Store a value with the active collection; other processes read it with :meth:`notes`."""
        await self._collections.note(self._opened(), key, value)

    async def notes(self) -> dict[str, str]:
        """Return the values stored with the active collection."""
        return await self._collections.notes(self._opened())

    async def put(self, points: Sequence[Point]) -> None:
        from qdrant_client import models

        collection = self._fit(point.vector for point in points)
        rows = [
            models.PointStruct(
                id=point_id(point.id),
                vector=point.vector.tolist(),
                payload={"id": point.id, "digest": point.digest, "category": point.category},
            )
            for point in points
        ]
        for start in range(0, len(rows), _BATCH):
            batch = rows[start : start + _BATCH]
            # Each is awaited, not only the last: on a cluster they are on several machines.
            await self._call("write vectors", lambda client, batch=batch: client.upsert(collection, batch))

    async def remove(self, ids: Iterable[ToolId]) -> None:
        from qdrant_client import models

        collection, gone = self._fit(), [point_id(tool) for tool in ids]
        for start in range(0, len(gone), _PAGE):
            selector = models.PointIdsList(points=list(gone[start : start + _PAGE]))
            await self._call("remove vectors", lambda client, selector=selector: client.delete(collection, selector))

    async def search(
        self, vector: NDArray[np.float32], limit: int, where: Mapping[str, str] | None = None
    ) -> list[Hit]:
        if limit <= 0:
            return []
        collection, conditions = self._fit([vector]), _filter(where or {})

        async def find(asked: int) -> list[Hit]:
            found = await self._call(
                "search",
                lambda client: client.query_points(
                    collection,
                    query=vector.tolist(),
                    query_filter=conditions,
                    search_params=_search_params(quantization=self._quantization),
                    limit=asked,
                    with_payload=["id"],
                ),
            )
            return [Hit(ToolId((hit.payload or {})["id"]), float(hit.score)) for hit in found.points]

        return rank(await find_with_ties(find, limit, hit_score), limit, hit_score, hit_id)

    async def cosines(self, asked: Vectors, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        from qdrant_client import models

        collection, wanted = self._fit(asked), {point_id(tool): tool for tool in ids}
        keys, found = list(wanted), dict[str, NDArray[np.float32]]()
        for start in range(0, len(keys), _PAGE):
            page = keys[start : start + _PAGE]
            requests = [
                models.QueryRequest(
                    query=vector.tolist(),
                    filter=models.Filter(must=[models.HasIdCondition(has_id=list(page))]),
                    params=models.SearchParams(exact=True, quantization=models.QuantizationSearchParams(ignore=True)),
                    limit=len(page),
                )
                for vector in asked
            ]
            answers = await self._call(
                "read vectors", lambda client, requests=requests: client.query_batch_points(collection, requests)
            )
            for column, answer in enumerate(answers):
                for hit in answer.points:
                    found.setdefault(str(hit.id), np.zeros(len(asked), np.float32))[column] = hit.score
        return {tool: found[key] for key, tool in wanted.items() if key in found}

    async def vectors(self, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        collection, wanted = self._fit(), {point_id(tool): tool for tool in ids}
        keys, found = list(wanted), dict[ToolId, NDArray[np.float32]]()
        for start in range(0, len(keys), _PAGE):
            page = keys[start : start + _PAGE]
            records = await self._call(
                "read vectors",
                lambda client, page=page: client.retrieve(collection, page, with_payload=False, with_vectors=True),
            )
            found.update((wanted[str(record.id)], np.asarray(record.vector, np.float32)) for record in records)
        return found

    async def digests(self) -> dict[ToolId, str]:
        collection, fields = self._fit(), ["id", "digest"]
        found: dict[ToolId, str] = {}
        offset = None
        while True:
            records, offset = await self._call(
                "list the vectors",
                lambda client, offset=offset: client.scroll(
                    collection, limit=_PAGE, offset=offset, with_payload=fields
                ),
            )
            payloads = (record.payload or {} for record in records)
            found.update((ToolId(payload["id"]), payload["digest"]) for payload in payloads)
            if offset is None:
                return found

    async def count(self) -> int:
        collection = self._fit()
        return (await self._call("count vectors", lambda client: client.count(collection, exact=True))).count

    async def close(self) -> None:
        self._encoder = None
        await self._connection.close()

    async def _call(self, action: str, request: "Callable[[AsyncQdrantClient], Awaitable[Result]]") -> Result:
        """Send a request about the collection. Raises ``StoreVersionError`` if it was dropped since it was opened."""
        try:
            return await self._connection.call(action, request)
        except MissingCollectionError as error:
            raise self._collections.dropped(self._opened()) from error

    def _opened(self) -> Encoder:
        """Return the encoder that the index was set up with. Raises ``UnavailableError`` before that."""
        if self._encoder is None:
            raise UnavailableError(
                f"the vector index at {self._connection.address.url} is not open: call setup first"
            ).of("vectors")
        return self._encoder

    def _fit(self, vectors: Iterable[NDArray[np.float32]] = ()) -> str:
        """Check the vectors' shapes and return the collection; a server might refuse one after others were written."""
        encoder = self._opened()
        for vector in vectors:
            if vector.shape != (encoder.dimension,):
                raise StoreVersionError(
                    f"a vector of shape {vector.shape} does not fit {encoder.identity} ({encoder.dimension} dimensions); "
                    "use the encoder that the index was set up with"
                )
        return self._collection


def point_id(tool: ToolId) -> str:
    """Return the server's id of a tool's point."""
    return str(uuid5(_NAMESPACE, tool))


def _filter(where: Mapping[str, str]) -> "models.Filter | None":
    from qdrant_client import models

    conditions: list[models.Condition] = [
        models.FieldCondition(key=key, match=models.MatchValue(value=value)) for key, value in where.items()
    ]
    return models.Filter(must=conditions) if conditions else None


def _search_params(*, quantization: bool) -> "models.SearchParams":
    from qdrant_client import models

    if not quantization:
        return models.SearchParams(exact=True)
    return models.SearchParams(quantization=models.QuantizationSearchParams(rescore=True, oversampling=2.0))
