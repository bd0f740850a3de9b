"""Memories on a Qdrant server, shared by several processes and machines.

One collection without vectors holds the memories and, as points of their own, every judgement: a server counts points, but adds to no
number, so that nothing that is counted is ever read and written back. One collection per encoder holds the vectors.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from domain.errors import UnavailableError
from domain.memory import Memory, Recalled
from domain.tool import ToolId
from retriever.backends.qdrant_connection import QdrantAddress, QdrantConnection
from retriever.backends.qdrant_memory_points import about, body_of, memory_of, point

if TYPE_CHECKING:
    from qdrant_client import models

_PAGE = 500


class QdrantMemories:
    """A ``MemoryStore`` of collections whose names begin with ``name``."""

    def __init__(
        self, url: str, api_key: str = "", *, name: str = "footpath", prefer_grpc: bool = False, timeout: int = 30
    ) -> None:
        self._connection = QdrantConnection(QdrantAddress(url, api_key, prefer_grpc, timeout=timeout))
        self._bodies = f"{name}-memories"
        self._ready: set[str] = set()

    async def setup(self) -> None:
        await self._connection.open()
        await self._make(self._bodies, None)
        await self._index(self._bodies, "kind", "memory", "id")

    async def add(self, memories: Sequence[Memory]) -> None:
        from qdrant_client import models

        rows = {point(memory.id): body_of(memory) for memory in memories}
        keys: list[models.ExtendedPointId] = list(rows)
        for start in range(0, len(keys), _PAGE):
            page = keys[start : start + _PAGE]
            known = await self._connection.call(
                "read memories", lambda client, page=page: client.retrieve(self._bodies, page, with_payload=False)
            )
            new = set(map(str, page)) - {str(record.id) for record in known}
            if new:
                points = [models.PointStruct(id=key, vector={}, payload=rows[key]) for key in sorted(new)]
                await self._connection.call(
                    "write memories", lambda client, points=points: client.upsert(self._bodies, points)
                )

    async def without_vector(self, identity: str, limit: int) -> list[Memory]:
        collection, found, after = self._vectors(identity), list[Memory](), ""
        there = await self._exists(collection)
        while len(found) < limit and (page := await self.page(after, _PAGE)):
            known = await self._ids(collection, [memory.id for memory in page]) if there else set[str]()
            found += [memory for memory in page if memory.id not in known]
            after = page[-1].id
        return found[:limit]

    async def put_vectors(self, identity: str, vectors: Sequence[tuple[str, Sequence[float]]]) -> None:
        from qdrant_client import models

        if not vectors:
            return
        collection = self._vectors(identity)
        if collection not in self._ready:
            await self._make(collection, len(vectors[0][1]))
            await self._index(collection, "owner")
            self._ready.add(collection)
        known = {memory.id: memory for memory in await self._read([memory for memory, _ in vectors])}
        points = [
            models.PointStruct(
                id=point(memory), vector=list(vector), payload={"id": memory, "owner": known[memory].owner}
            )
            for memory, vector in vectors
            if memory in known
        ]
        if points:
            await self._connection.call("write vectors", lambda client: client.upsert(collection, points))

    async def near(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[Recalled]:
        from qdrant_client import models

        collection = self._vectors(identity)
        if limit < 1 or not await self._exists(collection):
            return []
        seen = models.Filter(must=[models.FieldCondition(key="owner", match=models.MatchAny(any=sorted({"", owner})))])
        found = await self._connection.call(
            "search memories",
            lambda client: client.query_points(
                collection, query=list(vector), query_filter=seen, limit=limit, with_payload=["id"],
                search_params=models.SearchParams(exact=True),
            ),
        )  # fmt: skip
        places = {(one.payload or {})["id"]: min(1.0, float(one.score)) for one in found.points}
        memories = await self._read(list(places))
        recalled = [Recalled(memory=memory, similarity=places[memory.id]) for memory in memories]
        return sorted(recalled, key=lambda one: (-one.similarity, one.memory.id))

    async def judge(self, memory: str, *, good: bool) -> None:
        from qdrant_client import models

        if not await self._ids(self._bodies, [memory]):
            return
        payload = {"kind": "good" if good else "bad", "memory": about(memory)}
        said = models.PointStruct(id=str(uuid4()), vector={}, payload=payload)
        await self._connection.call("write a judgement", lambda client: client.upsert(self._bodies, [said]))

    async def judge_anew(self, tools: Iterable[ToolId]) -> None:
        from qdrant_client import models

        others, after = set(tools), ""
        while page := await self.page(after, _PAGE):
            after = page[-1].id
            judged = [one for one in page if (one.good or one.bad) and not others.isdisjoint(one.path)]
            if judged:
                said = models.FilterSelector(filter=_where(memory=[about(one.id) for one in judged]))
                await self._connection.call("remove judgements", lambda c, said=said: c.delete(self._bodies, said))
                bodies = [body_of(one.model_copy(update={"good": 0, "bad": 0})) for one in judged]
                points = [models.PointStruct(id=point(body["id"]), vector={}, payload=body) for body in bodies]
                await self._connection.call("write memories", lambda c, points=points: c.upsert(self._bodies, points))

    async def page(self, after: str, limit: int) -> list[Memory]:
        ids: list[str] = []
        offset: Any = None
        while True:
            records, offset = await self._connection.call(
                "list the memories",
                lambda client, offset=offset: client.scroll(
                    self._bodies, scroll_filter=_where(kind=["memory"]), limit=_PAGE, offset=offset, with_payload=["id"]
                ),
            )
            ids += [(record.payload or {})["id"] for record in records]
            if offset is None:
                break
        return sorted(await self._read(sorted(one for one in ids if one > after)[:limit]), key=lambda m: m.id)

    async def remove(self, memories: Iterable[str]) -> None:
        from qdrant_client import models

        gone = list(memories)
        if not gone:
            return
        selector = models.PointIdsList(points=[point(memory) for memory in gone])
        judgements = models.FilterSelector(filter=_where(memory=[about(memory) for memory in gone]))
        collections = await self._connection.call("list the collections", lambda client: client.get_collections())
        vectors = [c.name for c in collections.collections if c.name.startswith(f"{self._bodies}-")]
        for collection in (*vectors, self._bodies):
            await self._connection.call(
                "remove memories", lambda client, name=collection: client.delete(name, selector)
            )
        await self._connection.call("remove memories", lambda client: client.delete(self._bodies, judgements))

    async def count(self) -> int:
        found = await self._connection.call(
            "count memories", lambda client: client.count(self._bodies, _where(kind=["memory"]), exact=True)
        )
        return found.count

    async def close(self) -> None:
        await self._connection.close()

    async def _read(self, ids: Sequence[str]) -> list[Memory]:
        """Those of these memories that there are, with all that was said of them."""
        keys = [point(memory) for memory in ids]
        if not keys:
            return []
        records = await self._connection.call("read memories", lambda client: client.retrieve(self._bodies, keys))
        memories = [Memory.model_validate_json((record.payload or {})["body"]) for record in records]
        said = {kind: await self._said(kind, list(ids)) for kind in ("good", "bad")}
        return [
            memory.model_copy(
                update={kind: getattr(memory, kind) + counts.get(memory.id, 0) for kind, counts in said.items()}
            )
            for memory in memories
        ]

    async def _said(self, kind: str, ids: list[str]) -> dict[str, int]:
        judged = _where(kind=[kind], memory=[about(memory) for memory in ids])
        found = await self._connection.call(
            "count judgements",
            lambda client: client.facet(self._bodies, "memory", facet_filter=judged, limit=len(ids), exact=True),
        )
        return {memory_of(str(hit.value)): hit.count for hit in found.hits}

    async def _ids(self, collection: str, ids: Sequence[str]) -> set[str]:
        keys = [point(memory) for memory in ids]
        records = await self._connection.call(
            "read memories", lambda client: client.retrieve(collection, keys, with_payload=["id"])
        )
        return {(record.payload or {})["id"] for record in records}

    def _vectors(self, identity: str) -> str:
        return f"{self._bodies}-{blake2b(identity.encode(), digest_size=6).hexdigest()}"

    async def _exists(self, collection: str) -> bool:
        return await self._connection.call("find a collection", lambda client: client.collection_exists(collection))

    async def _make(self, collection: str, dimension: int | None) -> None:
        """Two processes may make it at once: what counts is that it is there afterwards."""
        from qdrant_client import models

        config: models.VectorParams | dict[str, models.VectorParams] = (
            models.VectorParams(size=dimension, distance=models.Distance.COSINE) if dimension else {}
        )
        try:
            if not await self._exists(collection):
                await self._connection.call(
                    "make a collection", lambda client: client.create_collection(collection, vectors_config=config)
                )
        except (UnavailableError, ValueError):
            if not await self._exists(collection):
                raise

    async def _index(self, collection: str, *fields: str) -> None:
        """Index those that are not yet: nothing is written where all is there, so that a key that may only read will do."""
        from qdrant_client import models

        if self._connection.address.url == ":memory:":
            return
        found = await self._connection.call("read a collection", lambda client: client.get_collection(collection))
        for field in sorted({*fields} - found.payload_schema.keys()):
            await self._connection.call(
                "index a field",
                lambda client, field=field: client.create_payload_index(
                    collection, field, models.PayloadSchemaType.KEYWORD
                ),
            )


def _where(**wanted: list[str]) -> "models.Filter":
    from qdrant_client import models

    return models.Filter(
        must=[models.FieldCondition(key=key, match=models.MatchAny(any=values)) for key, values in wanted.items()]
    )
