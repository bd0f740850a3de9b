"""Index of solutions' patterns on a Qdrant server: one collection per encoder, one point per pattern."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID, uuid5

from domain.solution import NearPattern, rank_patterns
from domain.ties import find_with_ties
from retriever.backends.qdrant_connection import MissingCollectionError, QdrantAddress, QdrantConnection
from retriever.backends.qdrant_side_collections import SideCollections, digest, where

_NAMESPACE = UUID("0f1b7a44-92d5-5c0e-8d0a-63f0c1c1a9b2")
_PAGE = 2_000
"""Solutions of one request."""


class QdrantPatterns:
    """Implementation of ``PatternIndex`` in collections whose names begin with ``name``."""

    def __init__(self, address: QdrantAddress, *, name: str = "footpath") -> None:
        self._connection = QdrantConnection(address)
        self._prefix = f"{name}-patterns-"
        self._collections = SideCollections(self._connection, self._prefix)
        self._ready: set[str] = set()

    async def setup(self) -> None:
        """Connect; collections are created when first needed."""
        await self._connection.open()

    async def known(self, solutions: Iterable[str], identity: str) -> dict[str, int]:
        """Return the number of points of each solution that has any."""
        wanted = list(dict.fromkeys(solutions))
        collection = self._collection(identity)
        pages = [wanted[start : start + _PAGE] for start in range(0, len(wanted), _PAGE)]
        try:
            return {one: count for page in pages for one, count in (await self._counted(collection, page)).items()}
        except MissingCollectionError:
            return {}

    async def put(self, identity: str, owner: str, solution: str, vectors: Sequence[Sequence[float]]) -> None:
        from qdrant_client import models

        numbers = [str(number) for number in range(len(vectors))]
        points = [
            models.PointStruct(
                id=_point_id(solution, number),
                vector=list(vector),
                payload={"solution": solution, "number": number, "owner": owner},
            )
            for number, vector in zip(numbers, vectors, strict=True)
        ]
        collection = self._collection(identity)
        if points:
            await self._make_ready(collection, len(vectors[0]))
            await self._connection.call("write patterns", lambda client: client.upsert(collection, points))
        # New points first: a failure in between leaves surplus patterns rather than none.
        if points or await self._collections.exists(collection):
            others = models.FilterSelector(filter=where({"solution": [solution]}, not_in={"number": numbers}))
            await self._connection.call("remove patterns", lambda client: client.delete(collection, others))

    async def near(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[NearPattern]:
        from qdrant_client import models

        collection = self._collection(identity)
        if limit < 1:
            return []
        seen = where({"owner": sorted({"", owner})})

        async def find(asked: int) -> list[NearPattern]:
            found = await self._connection.call(
                "search patterns",
                lambda client: client.query_points(
                    collection, query=list(vector), query_filter=seen, limit=asked, with_payload=["solution", "number"],
                    search_params=models.SearchParams(exact=True),
                ),
            )  # fmt: skip
            return [_near(point.payload or {}, float(point.score)) for point in found.points]

        try:
            return rank_patterns(await find_with_ties(find, limit, lambda one: one.similarity), limit)
        except MissingCollectionError:
            return []

    async def remove(self, solutions: Iterable[str]) -> None:
        from qdrant_client import models

        gone = list(solutions)
        if not gone:
            return
        selector = models.FilterSelector(filter=where({"solution": gone}))
        for collection in await self._collections.names():
            await self._connection.call(
                "remove patterns", lambda client, name=collection: client.delete(name, selector)
            )

    async def close(self) -> None:
        await self._connection.close()

    def _collection(self, identity: str) -> str:
        return f"{self._prefix}{digest(identity)}"

    async def _counted(self, collection: str, solutions: list[str]) -> dict[str, int]:
        filed = where({"solution": solutions})
        found = await self._connection.call(
            "count patterns",
            lambda client: client.facet(collection, "solution", facet_filter=filed, limit=len(solutions), exact=True),
        )
        return {str(hit.value): hit.count for hit in found.hits}

    async def _make_ready(self, collection: str, dimension: int) -> None:
        if collection not in self._ready:
            await self._collections.make(collection, dimension)
            await self._collections.index(collection, "owner", "solution", "number")
            self._ready.add(collection)


def _point_id(solution: str, number: str) -> str:
    """Return the id of a pattern's point; the server takes only UUIDs and integers."""
    return str(uuid5(_NAMESPACE, f"{solution} {number}"))


def _near(payload: dict[str, Any], score: float) -> NearPattern:
    return NearPattern(solution=payload["solution"], number=int(payload["number"]), similarity=min(1.0, score))
