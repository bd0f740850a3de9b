"""Vector index on a Qdrant server, shared by several processes and machines."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

import numpy as np
from numpy.typing import NDArray

from domain.errors import StoreVersionError, UnavailableError
from domain.ranking import find_with_ties, rank_results
from domain.tool import ToolId
from retriever.backends.qdrant_collections import EncoderIdentity, QdrantCollections
from retriever.backends.qdrant_connection import MissingCollectionError, QdrantAddress, QdrantConnection, Result
from retriever.index import VectorHit, VectorPoint, Vectors, get_hit_id, get_hit_score

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient, models

_NAMESPACE = UUID("0e3f6e7e-5a0b-5c0e-9a55-7a1f0a0b6c11")
"""Namespace of point ids made from tool ids; a server takes only UUIDs and integers."""

_BATCH_SIZE = 256
"""Points of one request: with 1,024 dimensions 5 MB of JSON, and a server accepts 32 MB."""
_PAGE_SIZE = 2_000


class QdrantIndex:
    """Vector index with one collection per encoder; see :mod:`retriever.backends.qdrant_collections`.

    Search is exact and finds the same as the embedded index. With ``quantization``, for collections of millions, it is
    approximate: it walks a graph of 8-bit vectors and scores the results again with the original ones. Vectors can be
    found as soon as ``put`` returns.
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
        self._encoder: EncoderIdentity | None = None
        self._collection = ""

    async def setup(self, identity: str, dimension: int) -> None:
        """Open this encoder's active collection, or create the first one.

        Raises:
            StoreVersionError: only other encoders have vectors there, or the server is too old.
            UnavailableError: the server is down, slow, refuses the key, or is not a Qdrant server.
        """
        encoder = EncoderIdentity(identity, dimension)
        await self._connection.open()
        self._collection = await self._collections.open(encoder)
        self._encoder = encoder

    async def setup_staging(self, identity: str, dimension: int) -> None:
        """Open a collection besides the active one; other processes do not find its points before :meth:`activate`.

        An interrupted re-index continues where it stopped. Raises what :meth:`setup` does, except that vectors of other
        encoders are no error.
        """
        encoder = EncoderIdentity(identity, dimension)
        await self._connection.open()
        self._collection = await self._collections.open_staging(encoder)
        self._encoder = encoder

    async def list_active_encoders(self) -> list[tuple[str, int]]:
        """Return identity and dimension of the encoders with active vectors. The index need not be set up."""
        await self._connection.open()
        return [(encoder.identity, encoder.dimension) for encoder in await self._collections.list_active_encoders()]

    async def activate(self) -> None:
        """Make this index's collection the active one for every process that uses this encoder, at once."""
        encoder = self._require_encoder()
        if self._collection != (alias := self._collections.get_alias(encoder)):
            await self._collections.activate(encoder, self._collection)
            self._collection = alias

    async def drop_older(self) -> list[str]:
        """Delete this encoder's formerly active collections, and return their names."""
        return await self._collections.drop_older(self._require_encoder())

    async def delete(self, identity: str, dimension: int, *, staged: bool) -> list[str]:
        """Delete an encoder's active vectors, or those not yet active, and return the collections' names.

        The index need not be set up.
        """
        await self._connection.open()
        return await self._collections.delete(EncoderIdentity(identity, dimension), staged=staged)

    async def write_note(self, key: str, value: str) -> None:
        """Store a value with the active collection; other processes read it with :meth:`read_notes`."""
        await self._collections.write_note(self._require_encoder(), key, value)

    async def read_notes(self) -> dict[str, str]:
        """Return the values stored with the active collection."""
        return await self._collections.read_notes(self._require_encoder())

    async def put(self, points: Sequence[VectorPoint]) -> None:
        from qdrant_client import models

        collection = self._check_shapes(point.vector for point in points)
        rows = [
            models.PointStruct(
                id=build_tool_point_id(point.id),
                vector=point.vector.tolist(),
                payload={"id": point.id, "digest": point.digest, "category": point.category},
            )
            for point in points
        ]
        for start in range(0, len(rows), _BATCH_SIZE):
            batch = rows[start : start + _BATCH_SIZE]
            # Each is awaited, not only the last: on a cluster they are on several machines.
            await self._call("write vectors", lambda client, batch=batch: client.upsert(collection, batch))

    async def remove(self, ids: Iterable[ToolId]) -> None:
        from qdrant_client import models

        collection, point_ids = self._check_shapes(), [build_tool_point_id(tool) for tool in ids]
        for start in range(0, len(point_ids), _PAGE_SIZE):
            selector = models.PointIdsList(points=list(point_ids[start : start + _PAGE_SIZE]))
            await self._call("remove vectors", lambda client, selector=selector: client.delete(collection, selector))

    async def search(
        self, vector: NDArray[np.float32], limit: int, filters: Mapping[str, str] | None = None
    ) -> list[VectorHit]:
        if limit <= 0:
            return []
        collection, conditions = self._check_shapes([vector]), _build_filter(filters or {})

        async def find(count: int) -> list[VectorHit]:
            answer = await self._call(
                "search",
                lambda client: client.query_points(
                    collection,
                    query=vector.tolist(),
                    query_filter=conditions,
                    search_params=_build_search_params(quantization=self._quantization),
                    limit=count,
                    with_payload=["id"],
                ),
            )
            return [VectorHit(ToolId((hit.payload or {})["id"]), float(hit.score)) for hit in answer.points]

        return rank_results(await find_with_ties(find, limit, get_hit_score), limit, get_hit_score, get_hit_id)

    async def compute_cosines(self, queries: Vectors, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        from qdrant_client import models

        collection, tools_by_point = self._check_shapes(queries), {build_tool_point_id(tool): tool for tool in ids}
        keys, cosines = list(tools_by_point), dict[str, NDArray[np.float32]]()
        for start in range(0, len(keys), _PAGE_SIZE):
            page = keys[start : start + _PAGE_SIZE]
            requests = [
                models.QueryRequest(
                    query=vector.tolist(),
                    filter=models.Filter(must=[models.HasIdCondition(has_id=list(page))]),
                    params=models.SearchParams(exact=True, quantization=models.QuantizationSearchParams(ignore=True)),
                    limit=len(page),
                )
                for vector in queries
            ]
            answers = await self._call(
                "read vectors", lambda client, requests=requests: client.query_batch_points(collection, requests)
            )
            for column, answer in enumerate(answers):
                for hit in answer.points:
                    cosines.setdefault(str(hit.id), np.zeros(len(queries), np.float32))[column] = hit.score
        return {tool: cosines[key] for key, tool in tools_by_point.items() if key in cosines}

    async def fetch_vectors(self, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        collection, tools_by_point = self._check_shapes(), {build_tool_point_id(tool): tool for tool in ids}
        keys, vectors = list(tools_by_point), dict[ToolId, NDArray[np.float32]]()
        for start in range(0, len(keys), _PAGE_SIZE):
            page = keys[start : start + _PAGE_SIZE]
            records = await self._call(
                "read vectors",
                lambda client, page=page: client.retrieve(collection, page, with_payload=False, with_vectors=True),
            )
            vectors.update(
                (tools_by_point[str(record.id)], np.asarray(record.vector, np.float32)) for record in records
            )
        return vectors

    async def fetch_digests(self) -> dict[ToolId, str]:
        collection, fields = self._check_shapes(), ["id", "digest"]
        digests: dict[ToolId, str] = {}
        offset = None
        while True:
            records, offset = await self._call(
                "list the vectors",
                lambda client, offset=offset: client.scroll(
                    collection, limit=_PAGE_SIZE, offset=offset, with_payload=fields
                ),
            )
            payloads = (record.payload or {} for record in records)
            digests.update((ToolId(payload["id"]), payload["digest"]) for payload in payloads)
            if offset is None:
                return digests

    async def count(self) -> int:
        collection = self._check_shapes()
        return (await self._call("count vectors", lambda client: client.count(collection, exact=True))).count

    async def close(self) -> None:
        self._encoder = None
        await self._connection.close()

    async def _call(self, action: str, request: "Callable[[AsyncQdrantClient], Awaitable[Result]]") -> Result:
        """Send a request about the collection. Raises ``StoreVersionError`` if it has been dropped meanwhile."""
        try:
            return await self._connection.call(action, request)
        except MissingCollectionError as error:
            raise self._collections.build_dropped_error(self._require_encoder()) from error

    def _require_encoder(self) -> EncoderIdentity:
        """Return the encoder that the index was set up with. Raises ``UnavailableError`` before that."""
        if self._encoder is None:
            raise UnavailableError(
                f"the vector index at {self._connection.address.url} is not open: call setup first"
            ).set_part("vectors")
        return self._encoder

    def _check_shapes(self, vectors: Iterable[NDArray[np.float32]] = ()) -> str:
        """Check the shapes of vectors, and return the name of the collection.

        They are all checked before the first is sent: a server might refuse one after others were written.

        Raises:
            StoreVersionError: a vector does not have the encoder's dimension.
            UnavailableError: the index is not set up.
        """
        encoder = self._require_encoder()
        for vector in vectors:
            if vector.shape != (encoder.dimension,):
                raise StoreVersionError(
                    f"a vector of shape {vector.shape} does not fit {encoder.identity} ({encoder.dimension} dimensions); "
                    "use the encoder that the index was set up with"
                )
        return self._collection


def build_tool_point_id(tool: ToolId) -> str:
    """Return the server's id of a tool's point."""
    return str(uuid5(_NAMESPACE, tool))


def _build_filter(filters: Mapping[str, str]) -> "models.Filter | None":
    from qdrant_client import models

    conditions: list[models.Condition] = [
        models.FieldCondition(key=key, match=models.MatchValue(value=value)) for key, value in filters.items()
    ]
    return models.Filter(must=conditions) if conditions else None


def _build_search_params(*, quantization: bool) -> "models.SearchParams":
    from qdrant_client import models

    if not quantization:
        return models.SearchParams(exact=True)
    return models.SearchParams(quantization=models.QuantizationSearchParams(rescore=True, oversampling=2.0))
