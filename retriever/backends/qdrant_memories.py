"""Store of memories on a Qdrant server, shared by several processes and machines.

One collection holds the bodies of the memories and the judgements of them; for each encoder, another holds vectors. A
mark on a body says that the memory has a vector of that encoder.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4, uuid5

import orjson

from domain.memory import LEGACY_PROGRAM_KEY, LegacyMemory, Memory, RecalledMemory, read_memory
from domain.ranking import find_with_ties, rank_results
from domain.tool import ToolId
from retriever.backends import qdrant_side_collections as side
from retriever.backends.qdrant_connection import MissingCollectionError, QdrantAddress, QdrantConnection

if TYPE_CHECKING:
    from qdrant_client import models

MARK_VALUE = "yes"
"""Value of the field that marks a body; see :meth:`MemoryCollections.get_mark`."""

_NAMESPACE = UUID("5d0c9a1e-6f1b-5b7a-8c55-2a9b4f0d7e33")
_SUBJECT_PREFIX = "memory "


def build_memory_point_id(memory: str) -> str:
    """Return the server's id of a memory's points; it takes only UUIDs and integers."""
    return str(uuid5(_NAMESPACE, memory))


def build_judgement_point_id(memory: str, key: str) -> str:
    """Return the id of a judgement's point; judgements with the same key share it and count once."""
    return str(uuid5(_NAMESPACE, f"{to_judgement_subject(memory)} {key}"))


def to_judgement_subject(memory: str) -> str:
    """Return the field value by which a judgement names its memory.

    A bare id looks like a UUID, and a server would write it differently in its counts.
    """
    return f"{_SUBJECT_PREFIX}{memory}"


def from_judgement_subject(subject: str) -> str:
    """Return the id of the memory that a judgement is about; the inverse of :func:`to_judgement_subject`."""
    return subject.removeprefix(_SUBJECT_PREFIX)


def build_memory_filter(conditions: Mapping[str, Sequence[str]], *, without: str = "") -> "models.Filter":
    """Return a filter for points whose fields each have one of these values, without the mark ``without``."""
    return side.build_filter(conditions, not_in={without: [MARK_VALUE]} if without else None)


class MemoryCollections:
    """Collections whose names begin with ``name``-memories, created and indexed when first needed."""

    def __init__(self, connection: QdrantConnection, name: str) -> None:
        self._connection = connection
        self._side = side.SideCollections(connection, f"{name}-memories-")
        self.bodies = f"{name}-memories"
        self._ready_names: set[str] = set()

    async def setup(self) -> None:
        """Create the collection of bodies; idempotent."""
        await self._side.create_if_missing(self.bodies, None)
        await self._side.index_fields(self.bodies, "kind", "memory", "id")

    def get_vector_collection(self, identity: str) -> str:
        """Return the name of an encoder's collection."""
        return f"{self.bodies}-{side.hash_encoder_identity(identity)}"

    def get_mark(self, identity: str) -> str:
        """Return the field of a body that says that the memory has a vector of this encoder."""
        return f"embedded_{side.hash_encoder_identity(identity)}"

    async def list_vector_collections(self) -> list[str]:
        """Return the existing collections of vectors."""
        return await self._side.list_collections()

    async def has_collection(self, collection: str) -> bool:
        """Return whether a collection exists."""
        return await self._side.has_collection(collection)

    async def ensure_mark(self, identity: str) -> str:
        """Index the encoder's mark for filters, and return it."""
        mark = self.get_mark(identity)
        if mark not in self._ready_names:
            await self._side.index_fields(self.bodies, mark)
            self._ready_names.add(mark)
        return mark

    async def ensure_vector_collection(self, identity: str, dimension: int) -> str:
        """Create an encoder's collection if it is missing, and return its name.

        Marks of a former collection of that encoder are removed, because its vectors are gone.
        """
        collection = self.get_vector_collection(identity)
        if collection not in self._ready_names:
            mark = await self.ensure_mark(identity)
            if await self._side.create_if_missing(collection, dimension):
                marked = build_memory_filter({mark: [MARK_VALUE]})
                await self._connection.call(
                    "write memories", lambda client: client.delete_payload(self.bodies, [mark], marked)
                )
            await self._side.index_fields(collection, "owner")
            self._ready_names.add(collection)
        return collection


_PAGE_SIZE = 500
"""Maximum of memories read or written by one request."""
_IDS_PER_PAGE = 5_000
"""Maximum of ids read by one request."""
_MEMORY_CONDITION = {"kind": ["memory"]}


class QdrantMemories:
    """Implementation of ``MemoryStore`` in collections whose names begin with ``name``."""

    def __init__(
        self,
        address: QdrantAddress,
        *,
        name: str = "footpath",
    ) -> None:
        self._connection = QdrantConnection(address)
        self._collections = MemoryCollections(self._connection, name)
        self._bodies = self._collections.bodies

    async def setup(self) -> None:
        await self._connection.open()
        await self._collections.setup()

    async def add(self, memories: Sequence[Memory]) -> None:
        from qdrant_client import models

        memory_by_id = {memory.id: memory for memory in reversed(memories)}  # the first of equal ids wins, as in SQLite
        payloads = {
            build_memory_point_id(memory_id): {
                "kind": "memory",
                "id": memory_id,
                "body": memory.model_dump_json(exclude_none=True),
            }
            for memory_id, memory in memory_by_id.items()
        }
        keys: list[models.ExtendedPointId] = list(payloads)
        for start in range(0, len(keys), _PAGE_SIZE):
            page = keys[start : start + _PAGE_SIZE]
            existing = await self._connection.call(
                "read memories", lambda client, page=page: client.retrieve(self._bodies, page, with_payload=False)
            )
            new = set(map(str, page)) - {str(record.id) for record in existing}
            if new:
                points = [models.PointStruct(id=key, vector={}, payload=payloads[key]) for key in sorted(new)]
                await self._connection.call(
                    "write memories", lambda client, points=points: client.upsert(self._bodies, points)
                )

    async def list_without_vector(self, identity: str, limit: int) -> list[Memory]:
        """Return memories without the encoder's mark.

        One that has a vector nevertheless, after an interrupted write, gets its mark here.
        """
        collection = self._collections.get_vector_collection(identity)
        has_collection = await self._collections.has_collection(collection)
        mark = await self._collections.ensure_mark(identity) if has_collection else ""
        memories: list[Memory] = []
        async for page in self._scroll(
            build_memory_filter(_MEMORY_CONDITION, without=mark), ["id", "body"], min(limit, _PAGE_SIZE)
        ):
            embedded = (
                await self._find_existing(collection, [payload["id"] for payload in page])
                if has_collection
                else set[str]()
            )
            if embedded:
                await self._mark_embedded(mark, embedded)
            memories += _parse_memories(payload for payload in page if payload["id"] not in embedded)
            if len(memories) >= limit:
                break
        return await self._add_judgements(memories[:limit])

    async def put_vectors(self, identity: str, vectors: Sequence[tuple[str, Sequence[float]]]) -> None:
        from qdrant_client import models

        if not vectors:
            return
        collection = await self._collections.ensure_vector_collection(identity, len(vectors[0][1]))
        stored = {memory.id: memory for memory in await self._fetch([memory for memory, _ in vectors])}
        points = [
            models.PointStruct(
                id=build_memory_point_id(memory),
                vector=list(vector),
                payload={"id": memory, "owner": stored[memory].owner},
            )
            for memory, vector in vectors
            if memory in stored
        ]
        if points:
            await self._connection.call("write vectors", lambda client: client.upsert(collection, points))
            await self._mark_embedded(self._collections.get_mark(identity), stored)

    async def find_similar(
        self, vector: Sequence[float], identity: str, owner: str, limit: int
    ) -> list[RecalledMemory]:
        from qdrant_client import models

        collection = self._collections.get_vector_collection(identity)
        if limit < 1:
            return []
        visible = build_memory_filter({"owner": sorted({"", owner})})

        async def find(count: int) -> list[tuple[str, float]]:
            answer = await self._connection.call(
                "search memories",
                lambda client: client.query_points(
                    collection, query=list(vector), query_filter=visible, limit=count, with_payload=["id"],
                    search_params=models.SearchParams(exact=True),
                ),
            )  # fmt: skip
            return [((point.payload or {})["id"], min(1.0, float(point.score))) for point in answer.points]

        try:
            scored = await find_with_ties(find, limit, itemgetter(1))
        except MissingCollectionError:
            return []
        similarities = dict(rank_results(scored, limit, itemgetter(1), itemgetter(0)))
        memories = {memory.id: memory for memory in await self._fetch_judged(list(similarities))}
        return [
            RecalledMemory(memory=memories[memory], similarity=similarities[memory])
            for memory in similarities
            if memory in memories
        ]

    async def judge(self, memory: str, *, good: bool, key: str = "") -> None:
        from qdrant_client import models

        if not await self._find_existing(self._bodies, [memory]):
            return
        payload = {"kind": "good" if good else "bad", "memory": to_judgement_subject(memory)}
        # The same id for the same key: a repeated judgement overwrites its own point and counts once.
        name = build_judgement_point_id(memory, key) if key else str(uuid4())
        point = models.PointStruct(id=name, vector={}, payload=payload)
        await self._connection.call("write a judgement", lambda client: client.upsert(self._bodies, [point]))

    async def reset_judgements(self, tools: Iterable[ToolId]) -> None:
        changed_tools = set(tools)
        affected = [
            candidate
            async for candidate in self.stream_all()
            if (candidate.good or candidate.bad) and not changed_tools.isdisjoint(candidate.path)
        ]
        for start in range(0, len(affected), _PAGE_SIZE):
            await self._delete_judgements([memory.id for memory in affected[start : start + _PAGE_SIZE]])
        for memory in affected:
            body = {"body": memory.model_copy(update={"good": 0, "bad": 0}).model_dump_json(exclude_none=True)}
            await self._set_payload(body, [memory.id])

    async def list_legacy(self, limit: int) -> list[LegacyMemory]:
        """Return memories that still have a program in their body; the server searches the bodies' text."""
        from qdrant_client import models

        has_program = models.FieldCondition(key="body", match=models.MatchText(text=f'"{LEGACY_PROGRAM_KEY}":{{'))
        query_filter = build_memory_filter(_MEMORY_CONDITION)
        query_filter.must = [*(query_filter.must if isinstance(query_filter.must, list) else []), has_program]
        records, _ = await self._connection.call(
            "list the memories", lambda client: client.scroll(self._bodies, scroll_filter=query_filter, limit=limit)
        )
        read = (read_memory(orjson.loads((record.payload or {})["body"])) for record in records)
        programs = {memory.id: program for memory, program in read if program is not None}
        memories = await self._fetch_judged(list(programs))
        return [LegacyMemory(memory, programs[memory.id]) for memory in memories]

    async def drop_programs(self, memories: Iterable[str]) -> None:
        for memory in await self._fetch(list(memories)):
            await self._set_payload({"body": memory.model_dump_json(exclude_none=True)}, [memory.id])

    async def stream_all(self) -> AsyncIterator[Memory]:
        """Yield all memories by id; ids are read and sorted first, because the server cannot order by a text."""
        pages = self._scroll(build_memory_filter(_MEMORY_CONDITION), ["id"], _IDS_PER_PAGE)
        ids = sorted([payload["id"] async for page in pages for payload in page])
        for start in range(0, len(ids), _PAGE_SIZE):
            page = await self._fetch_judged(ids[start : start + _PAGE_SIZE])
            for memory in sorted(page, key=lambda one: one.id):
                yield memory

    async def remove(self, memories: Iterable[str]) -> None:
        """Remove memories, bodies first: after an interruption nothing that was removed is read again."""
        from qdrant_client import models

        memory_ids = list(memories)
        if not memory_ids:
            return
        selector = models.PointIdsList(points=[build_memory_point_id(memory) for memory in memory_ids])
        for collection in (self._bodies, *await self._collections.list_vector_collections()):
            await self._connection.call(
                "remove memories", lambda client, name=collection: client.delete(name, selector)
            )
        await self._delete_judgements(memory_ids)

    async def count(self) -> int:
        answer = await self._connection.call(
            "count memories",
            lambda client: client.count(self._bodies, build_memory_filter(_MEMORY_CONDITION), exact=True),
        )
        return answer.count

    async def close(self) -> None:
        await self._connection.close()

    async def _scroll(
        self, query_filter: "models.Filter", fields: list[str], limit: int
    ) -> AsyncIterator[list[dict[str, Any]]]:
        """Yield the payloads of all points of a filter, page by page, in the server's order of points."""
        offset: Any = None
        while True:
            records, offset = await self._connection.call(
                "list the memories",
                lambda client, offset=offset: client.scroll(
                    self._bodies, scroll_filter=query_filter, limit=limit, offset=offset, with_payload=fields
                ),
            )
            yield [record.payload or {} for record in records]
            if offset is None:
                return

    async def _fetch(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories that exist, as they were added."""
        keys = [build_memory_point_id(memory) for memory in ids]
        if not keys:
            return []
        records = await self._connection.call("read memories", lambda client: client.retrieve(self._bodies, keys))
        return _parse_memories(record.payload or {} for record in records)

    async def _add_judgements(self, memories: list[Memory]) -> list[Memory]:
        """Return the memories with their judgements counted."""
        return _add_judgement_counts(memories, await self._count_judgements([memory.id for memory in memories]))

    async def _fetch_judged(self, ids: list[str]) -> list[Memory]:
        """Return the memories that exist, with their judgements counted; both are read concurrently."""
        memories, judgements = await asyncio.gather(self._fetch(ids), self._count_judgements(ids))
        return _add_judgement_counts(memories, judgements)

    async def _count_judgements(self, ids: list[str]) -> dict[str, dict[str, int]]:
        """Return how often each memory was judged good and bad: kind → memory → count."""
        if not ids:
            return {}
        good, bad = await asyncio.gather(self._count_judgements_of("good", ids), self._count_judgements_of("bad", ids))
        return {"good": good, "bad": bad}

    async def _count_judgements_of(self, kind: str, ids: list[str]) -> dict[str, int]:
        facet_filter = build_memory_filter({"kind": [kind], "memory": [to_judgement_subject(memory) for memory in ids]})
        answer = await self._connection.call(
            "count judgements",
            lambda client: client.facet(self._bodies, "memory", facet_filter=facet_filter, limit=len(ids), exact=True),
        )
        return {from_judgement_subject(str(hit.value)): hit.count for hit in answer.hits}

    async def _mark_embedded(self, mark: str, memories: Iterable[str]) -> None:
        """Record that these memories have a vector of the mark's encoder."""
        await self._set_payload({mark: MARK_VALUE}, memories)

    async def _set_payload(self, fields: dict[str, Any], memories: Iterable[str]) -> None:
        """Set fields of the bodies of these memories."""
        from qdrant_client import models

        selector = models.PointIdsList(points=[build_memory_point_id(memory) for memory in memories])
        await self._connection.call("write memories", lambda client: client.set_payload(self._bodies, fields, selector))

    async def _delete_judgements(self, memories: Iterable[str]) -> None:
        from qdrant_client import models

        selector = models.FilterSelector(
            filter=build_memory_filter({"memory": [to_judgement_subject(memory) for memory in memories]})
        )
        await self._connection.call("remove judgements", lambda client: client.delete(self._bodies, selector))

    async def _find_existing(self, collection: str, ids: Sequence[str]) -> set[str]:
        keys = [build_memory_point_id(memory) for memory in ids]
        records = await self._connection.call(
            "read memories", lambda client: client.retrieve(collection, keys, with_payload=["id"])
        )
        return {(record.payload or {})["id"] for record in records}


def _add_judgement_counts(memories: Iterable[Memory], judgements: Mapping[str, Mapping[str, int]]) -> list[Memory]:
    """Return the memories with these judgements added to those that they were stored with."""
    return [
        memory.model_copy(
            update={kind: getattr(memory, kind) + counts.get(memory.id, 0) for kind, counts in judgements.items()}
        )
        for memory in memories
    ]


def _parse_memories(payloads: Iterable[dict[str, Any]]) -> list[Memory]:
    return [read_memory(orjson.loads(payload["body"]))[0] for payload in payloads]
