"""Store of memories on a Qdrant server, shared by several processes and machines.

See :mod:`retriever.backends.qdrant_memory_points` for its collections.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import orjson

from domain.memory import PROGRAM, EarlierMemory, Memory, Recalled, read_memory
from domain.ties import find_with_ties, rank
from domain.tool import ToolId
from retriever.backends.qdrant_connection import MissingCollectionError, QdrantAddress, QdrantConnection
from retriever.backends.qdrant_memory_points import (
    MARKED,
    MemoryCollections,
    about,
    judged,
    judgement_id,
    point_id,
    where,
)

if TYPE_CHECKING:
    from qdrant_client import models

_PAGE = 500
"""Memories of one request."""
_IDS = 5_000
"""Ids of one request."""
_A_MEMORY = {"kind": ["memory"]}


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

        first = {memory.id: memory for memory in reversed(memories)}  # the first of equal ids wins, as in SQLite
        rows = {
            point_id(name): {"kind": "memory", "id": name, "body": memory.model_dump_json(exclude_none=True)}
            for name, memory in first.items()
        }
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
        """Return memories without the encoder's mark.

        One that has a vector nevertheless, after an interrupted write, gets its mark here.
        """
        collection = self._collections.vectors(identity)
        there = await self._collections.exists(collection)
        mark = await self._collections.ready_to_mark(identity) if there else ""
        found: list[Memory] = []
        async for page in self._scrolled(where(_A_MEMORY, without=mark), ["id", "body"], min(limit, _PAGE)):
            known = await self._ids(collection, [payload["id"] for payload in page]) if there else set[str]()
            if known:
                await self._mark(mark, known)
            found += _parsed(payload for payload in page if payload["id"] not in known)
            if len(found) >= limit:
                break
        return await self._with_judgements(found[:limit])

    async def put_vectors(self, identity: str, vectors: Sequence[tuple[str, Sequence[float]]]) -> None:
        from qdrant_client import models

        if not vectors:
            return
        collection = await self._collections.ready_for_vectors(identity, len(vectors[0][1]))
        known = {memory.id: memory for memory in await self._found([memory for memory, _ in vectors])}
        points = [
            models.PointStruct(
                id=point_id(memory), vector=list(vector), payload={"id": memory, "owner": known[memory].owner}
            )
            for memory, vector in vectors
            if memory in known
        ]
        if points:
            await self._connection.call("write vectors", lambda client: client.upsert(collection, points))
            await self._mark(self._collections.mark(identity), known)

    async def near(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[Recalled]:
        from qdrant_client import models

        collection = self._collections.vectors(identity)
        if limit < 1:
            return []
        seen = where({"owner": sorted({"", owner})})

        async def find(asked: int) -> list[tuple[str, float]]:
            found = await self._connection.call(
                "search memories",
                lambda client: client.query_points(
                    collection, query=list(vector), query_filter=seen, limit=asked, with_payload=["id"],
                    search_params=models.SearchParams(exact=True),
                ),
            )  # fmt: skip
            return [((point.payload or {})["id"], min(1.0, float(point.score))) for point in found.points]

        try:
            found = await find_with_ties(find, limit, itemgetter(1))
        except MissingCollectionError:
            return []
        near = dict(rank(found, limit, itemgetter(1), itemgetter(0)))
        memories = {one.id: one for one in await self._judged(list(near))}
        return [Recalled(memory=memories[one], similarity=near[one]) for one in near if one in memories]

    async def judge(self, memory: str, *, good: bool, key: str = "") -> None:
        from qdrant_client import models

        if not await self._ids(self._bodies, [memory]):
            return
        payload = {"kind": "good" if good else "bad", "memory": about(memory)}
        # The same id for the same key: a repeated judgement overwrites its own point and counts once.
        name = judgement_id(memory, key) if key else str(uuid4())
        point = models.PointStruct(id=name, vector={}, payload=payload)
        await self._connection.call("write a judgement", lambda client: client.upsert(self._bodies, [point]))

    async def judge_anew(self, tools: Iterable[ToolId]) -> None:
        others = set(tools)
        moved = [one async for one in self.all() if (one.good or one.bad) and not others.isdisjoint(one.path)]
        for start in range(0, len(moved), _PAGE):
            await self._forget_judgements([memory.id for memory in moved[start : start + _PAGE]])
        for memory in moved:
            body = {"body": memory.model_copy(update={"good": 0, "bad": 0}).model_dump_json(exclude_none=True)}
            await self._set(body, [memory.id])

    async def earlier(self, limit: int) -> list[EarlierMemory]:
        """Return memories that still have a program in their body; the server searches the bodies' text."""
        from qdrant_client import models

        of_bodies = models.FieldCondition(key="body", match=models.MatchText(text=f'"{PROGRAM}":{{'))
        wanted = where(_A_MEMORY)
        wanted.must = [*(wanted.must if isinstance(wanted.must, list) else []), of_bodies]
        records, _ = await self._connection.call(
            "list the memories", lambda client: client.scroll(self._bodies, scroll_filter=wanted, limit=limit)
        )
        read = (read_memory(orjson.loads((record.payload or {})["body"])) for record in records)
        known = {memory.id: program for memory, program in read if program is not None}
        kept = await self._judged(list(known))
        return [EarlierMemory(memory, known[memory.id]) for memory in kept]

    async def drop_programs(self, memories: Iterable[str]) -> None:
        for memory in await self._found(list(memories)):
            await self._set({"body": memory.model_dump_json(exclude_none=True)}, [memory.id])

    async def all(self) -> AsyncIterator[Memory]:
        """Yield all memories by id; ids are read and sorted first, because the server cannot order by a text."""
        pages = self._scrolled(where(_A_MEMORY), ["id"], _IDS)
        ids = sorted([payload["id"] async for page in pages for payload in page])
        for start in range(0, len(ids), _PAGE):
            page = await self._judged(ids[start : start + _PAGE])
            for memory in sorted(page, key=lambda one: one.id):
                yield memory

    async def remove(self, memories: Iterable[str]) -> None:
        """Remove memories, bodies first: after an interruption nothing that was removed is read again."""
        from qdrant_client import models

        gone = list(memories)
        if not gone:
            return
        selector = models.PointIdsList(points=[point_id(memory) for memory in gone])
        for collection in (self._bodies, *await self._collections.vectors_of_all()):
            await self._connection.call(
                "remove memories", lambda client, name=collection: client.delete(name, selector)
            )
        await self._forget_judgements(gone)

    async def count(self) -> int:
        found = await self._connection.call(
            "count memories", lambda client: client.count(self._bodies, where(_A_MEMORY), exact=True)
        )
        return found.count

    async def close(self) -> None:
        await self._connection.close()

    async def _scrolled(
        self, wanted: "models.Filter", fields: list[str], limit: int
    ) -> AsyncIterator[list[dict[str, Any]]]:
        """Yield the payloads of all points of a filter, page by page, in the server's order of points."""
        offset: Any = None
        while True:
            records, offset = await self._connection.call(
                "list the memories",
                lambda client, offset=offset: client.scroll(
                    self._bodies, scroll_filter=wanted, limit=limit, offset=offset, with_payload=fields
                ),
            )
            yield [record.payload or {} for record in records]
            if offset is None:
                return

    async def _found(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories that exist, as they were added."""
        keys = [point_id(memory) for memory in ids]
        if not keys:
            return []
        records = await self._connection.call("read memories", lambda client: client.retrieve(self._bodies, keys))
        return _parsed(record.payload or {} for record in records)

    async def _with_judgements(self, memories: list[Memory]) -> list[Memory]:
        """Return the memories with their judgements counted."""
        return _counted(memories, await self._judgements([memory.id for memory in memories]))

    async def _judged(self, ids: list[str]) -> list[Memory]:
        """Return the memories that exist, with their judgements counted; both are read concurrently."""
        memories, said = await asyncio.gather(self._found(ids), self._judgements(ids))
        return _counted(memories, said)

    async def _judgements(self, ids: list[str]) -> dict[str, dict[str, int]]:
        """Return how often each memory was judged good and bad: kind → memory → count."""
        if not ids:
            return {}
        good, bad = await asyncio.gather(self._said("good", ids), self._said("bad", ids))
        return {"good": good, "bad": bad}

    async def _said(self, kind: str, ids: list[str]) -> dict[str, int]:
        wanted = where({"kind": [kind], "memory": [about(memory) for memory in ids]})
        found = await self._connection.call(
            "count judgements",
            lambda client: client.facet(self._bodies, "memory", facet_filter=wanted, limit=len(ids), exact=True),
        )
        return {judged(str(hit.value)): hit.count for hit in found.hits}

    async def _mark(self, mark: str, memories: Iterable[str]) -> None:
        await self._set({mark: MARKED}, memories)

    async def _set(self, fields: dict[str, Any], memories: Iterable[str]) -> None:
        from qdrant_client import models

        chosen = models.PointIdsList(points=[point_id(memory) for memory in memories])
        await self._connection.call("write memories", lambda client: client.set_payload(self._bodies, fields, chosen))

    async def _forget_judgements(self, memories: Iterable[str]) -> None:
        from qdrant_client import models

        said = models.FilterSelector(filter=where({"memory": [about(memory) for memory in memories]}))
        await self._connection.call("remove judgements", lambda client: client.delete(self._bodies, said))

    async def _ids(self, collection: str, ids: Sequence[str]) -> set[str]:
        keys = [point_id(memory) for memory in ids]
        records = await self._connection.call(
            "read memories", lambda client: client.retrieve(collection, keys, with_payload=["id"])
        )
        return {(record.payload or {})["id"] for record in records}


def _counted(memories: Iterable[Memory], said: Mapping[str, Mapping[str, int]]) -> list[Memory]:
    """Return the memories with these judgements added to those that they were stored with."""
    return [
        memory.model_copy(
            update={kind: getattr(memory, kind) + counts.get(memory.id, 0) for kind, counts in said.items()}
        )
        for memory in memories
    ]


def _parsed(payloads: Iterable[dict[str, Any]]) -> list[Memory]:
    return [read_memory(orjson.loads(payload["body"]))[0] for payload in payloads]
