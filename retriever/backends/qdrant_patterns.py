"""Index of solutions' patterns on a Qdrant server: one collection per encoder, one point per pattern."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID, uuid5

from domain.ranking import find_with_ties
from domain.solution import NearPattern, rank_patterns
from retriever.backends.qdrant_connection import MissingCollectionError, QdrantAddress, QdrantConnection
from retriever.backends.qdrant_side_collections import SideCollections, build_filter, hash_encoder_identity

_NAMESPACE = UUID("0f1b7a44-92d5-5c0e-8d0a-63f0c1c1a9b2")
_PAGE_SIZE = 2_000
"""Maximum of solutions asked about by one request."""


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

    async def count_patterns(self, solutions: Iterable[str], identity: str) -> dict[str, int]:
        """Return the number of points of each solution that has any."""
        solution_ids = list(dict.fromkeys(solutions))
        collection = self._get_collection(identity)
        pages = [solution_ids[start : start + _PAGE_SIZE] for start in range(0, len(solution_ids), _PAGE_SIZE)]
        try:
            return {
                solution_id: count
                for page in pages
                for solution_id, count in (await self._count_points(collection, page)).items()
            }
        except MissingCollectionError:
            return {}

    async def put(self, identity: str, owner: str, solution: str, vectors: Sequence[Sequence[float]]) -> None:
        from qdrant_client import models

        numbers = [str(number) for number in range(len(vectors))]
        points = [
            models.PointStruct(
                id=_build_pattern_point_id(solution, number),
                vector=list(vector),
                payload={"solution": solution, "number": number, "owner": owner},
            )
            for number, vector in zip(numbers, vectors, strict=True)
        ]
        collection = self._get_collection(identity)
        if points:
            await self._ensure_collection(collection, len(vectors[0]))
            await self._connection.call("write patterns", lambda client: client.upsert(collection, points))
        # New points first: a failure in between leaves surplus patterns rather than none.
        if points or await self._collections.has_collection(collection):
            surplus = models.FilterSelector(filter=build_filter({"solution": [solution]}, not_in={"number": numbers}))
            await self._connection.call("remove patterns", lambda client: client.delete(collection, surplus))

    async def find_similar(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[NearPattern]:
        from qdrant_client import models

        collection = self._get_collection(identity)
        if limit < 1:
            return []
        visible = build_filter({"owner": sorted({"", owner})})

        async def find(count: int) -> list[NearPattern]:
            answer = await self._connection.call(
                "search patterns",
                lambda client: client.query_points(
                    collection, query=list(vector), query_filter=visible, limit=count, with_payload=["solution", "number"],
                    search_params=models.SearchParams(exact=True),
                ),
            )  # fmt: skip
            return [_to_near_pattern(point.payload or {}, float(point.score)) for point in answer.points]

        try:
            return rank_patterns(await find_with_ties(find, limit, lambda one: one.similarity), limit)
        except MissingCollectionError:
            return []

    async def remove(self, solutions: Iterable[str]) -> None:
        from qdrant_client import models

        solution_ids = list(solutions)
        if not solution_ids:
            return
        selector = models.FilterSelector(filter=build_filter({"solution": solution_ids}))
        for collection in await self._collections.list_collections():
            await self._connection.call(
                "remove patterns", lambda client, name=collection: client.delete(name, selector)
            )

    async def close(self) -> None:
        await self._connection.close()

    def _get_collection(self, identity: str) -> str:
        return f"{self._prefix}{hash_encoder_identity(identity)}"

    async def _count_points(self, collection: str, solutions: list[str]) -> dict[str, int]:
        solution_filter = build_filter({"solution": solutions})
        answer = await self._connection.call(
            "count patterns",
            lambda client: client.facet(
                collection, "solution", facet_filter=solution_filter, limit=len(solutions), exact=True
            ),
        )
        return {str(hit.value): hit.count for hit in answer.hits}

    async def _ensure_collection(self, collection: str, dimension: int) -> None:
        if collection not in self._ready:
            await self._collections.create_if_missing(collection, dimension)
            await self._collections.index_fields(collection, "owner", "solution", "number")
            self._ready.add(collection)


def _build_pattern_point_id(solution: str, number: str) -> str:
    """Return the id of a pattern's point; the server takes only UUIDs and integers."""
    return str(uuid5(_NAMESPACE, f"{solution} {number}"))


def _to_near_pattern(payload: dict[str, Any], score: float) -> NearPattern:
    return NearPattern(solution=payload["solution"], number=int(payload["number"]), similarity=min(1.0, score))
