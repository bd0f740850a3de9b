"""Memories in one SQLite file, with exact vector search."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from domain.memory import LegacyMemory, Memory, RecalledMemory, read_memory
from domain.ranking import rank_results
from domain.tool import ToolId
from graph.backends.sqlite_database import SqliteBackend, SqliteDatabase, SqliteFormat
from graph.backends.sqlite_vectors import SqliteVectors

_FORMAT = SqliteFormat(
    content_name="memories",
    application_id=0x46504D45,  # "FPME"
    version=1,
    tables=(
        """
        CREATE TABLE memory (
            id TEXT PRIMARY KEY,
            owner TEXT NOT NULL,
            body TEXT NOT NULL,
            good INTEGER NOT NULL DEFAULT 0,
            bad INTEGER NOT NULL DEFAULT 0
        )
        """,
        """
        CREATE TABLE vector (
            num INTEGER PRIMARY KEY AUTOINCREMENT,
            memory TEXT NOT NULL REFERENCES memory ON DELETE CASCADE,
            identity TEXT NOT NULL,
            vector BLOB NOT NULL,
            UNIQUE (memory, identity)
        )
        """,
    ),
    synchronous="NORMAL",
    # memory_program: versions before solutions stored programs with memories; each opening of the store looks for any.
    added_tables={
        "memory_program": "CREATE INDEX memory_program ON memory (id) WHERE json_extract(body, '$.program') IS NOT NULL",
        "judgement": """
            CREATE TABLE judgement (
                memory TEXT NOT NULL REFERENCES memory ON DELETE CASCADE,
                key TEXT NOT NULL,
                PRIMARY KEY (memory, key)
            ) WITHOUT ROWID
        """,
    },
)
_ADD_MEMORY = "INSERT INTO memory (id, owner, body, good, bad) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
_COUNT_JUDGEMENT = "UPDATE memory SET good = good + ?, bad = bad + ? WHERE id = ?"
_CLAIM_JUDGEMENT_KEY = (
    "INSERT INTO judgement (memory, key) SELECT id, ?2 FROM memory WHERE id = ?1 ON CONFLICT DO NOTHING"
)
_SELECT_LEGACY = (
    "SELECT body, good, bad FROM memory WHERE json_extract(body, '$.program') IS NOT NULL ORDER BY id LIMIT ?"
)
_DROP_PROGRAMS = """
    UPDATE memory SET body = json_remove(body, '$.program')
    WHERE id IN (SELECT value FROM json_each(?)) AND json_extract(body, '$.program') IS NOT NULL
"""
_SELECT_WITHOUT_VECTOR = """
    SELECT body, good, bad FROM memory
    WHERE NOT EXISTS (SELECT 1 FROM vector WHERE vector.memory = memory.id AND identity = ?) ORDER BY id LIMIT ?
"""
_PUT_VECTOR = """
    INSERT INTO vector (memory, identity, vector) SELECT id, ?2, ?3 FROM memory WHERE id = ?1 ON CONFLICT DO NOTHING
"""
_SELECT_NEW_VECTORS = """
    SELECT num, owner, vector FROM vector JOIN memory ON memory.id = vector.memory
    WHERE identity = ? AND num > ? ORDER BY num
"""
_SELECT_BODIES = """
    SELECT num, memory, body, good, bad FROM vector JOIN memory ON memory.id = vector.memory
    WHERE num IN (SELECT value FROM json_each(?))
"""
_RESET_JUDGEMENTS = """
    UPDATE memory SET good = 0, bad = 0 WHERE (good OR bad) AND EXISTS (
        SELECT 1 FROM json_each(body, '$.path') step JOIN json_each(?) other ON step.value = other.value
    )
"""
_SELECT_PAGE = "SELECT id, body, good, bad FROM memory WHERE id > ? ORDER BY id LIMIT ?"


class SqliteMemories(SqliteBackend):
    """``MemoryStore`` in the file ``path``, which only :meth:`setup` creates. Several processes may use it at once."""

    def __init__(self, path: Path, *, busy_seconds: float = 30.0) -> None:
        super().__init__(SqliteDatabase(path, _FORMAT, busy_seconds=busy_seconds))
        self._vectors = SqliteVectors(_SELECT_NEW_VECTORS, _SELECT_BODIES)

    async def setup(self) -> None:
        await self._database.setup()

    async def add(self, memories: Sequence[Memory]) -> None:
        rows = [(memory.id, memory.owner, _to_body(memory), memory.good, memory.bad) for memory in memories]
        await self._database.write(lambda connection: connection.executemany(_ADD_MEMORY, rows))

    async def list_without_vector(self, identity: str, limit: int) -> list[Memory]:
        rows = await self._database.read(lambda c: c.execute(_SELECT_WITHOUT_VECTOR, (identity, limit)).fetchall())
        return [_to_memory(body, good, bad) for body, good, bad in rows]

    async def put_vectors(self, identity: str, vectors: Sequence[tuple[str, Sequence[float]]]) -> None:
        rows = [(memory, identity, np.asarray(vector, dtype="<f4").tobytes()) for memory, vector in vectors]
        await self._database.write(lambda connection: connection.executemany(_PUT_VECTOR, rows))

    async def find_similar(
        self, vector: Sequence[float], identity: str, owner: str, limit: int
    ) -> list[RecalledMemory]:
        query_vector = np.asarray(vector, dtype=np.float32)
        return await self._database.read(
            lambda connection: self._find_similar(connection, query_vector, identity, owner, limit)
        )

    async def judge(self, memory: str, *, good: bool, key: str = "") -> None:
        def count(connection: sqlite3.Connection) -> None:
            if not key or connection.execute(_CLAIM_JUDGEMENT_KEY, (memory, key)).rowcount:
                connection.execute(_COUNT_JUDGEMENT, (int(good), int(not good), memory))

        await self._database.write(count)

    async def reset_judgements(self, tools: Iterable[ToolId]) -> None:
        tool_list = orjson.dumps(list(tools)).decode()
        await self._database.write(lambda connection: connection.execute(_RESET_JUDGEMENTS, (tool_list,)))

    async def list_legacy(self, limit: int) -> list[LegacyMemory]:
        rows = await self._database.read(lambda c: c.execute(_SELECT_LEGACY, (limit,)).fetchall())
        memories = (read_memory({**orjson.loads(body), "good": good, "bad": bad}) for body, good, bad in rows)
        return [LegacyMemory(memory, program) for memory, program in memories if program is not None]

    async def drop_programs(self, memories: Iterable[str]) -> None:
        ids = orjson.dumps(list(memories)).decode()
        await self._database.write(lambda connection: connection.execute(_DROP_PROGRAMS, (ids,)))

    async def stream_all(self) -> AsyncIterator[Memory]:
        async for _, body, good, bad in self._stream(_SELECT_PAGE, ("",)):
            yield _to_memory(body, good, bad)

    async def remove(self, memories: Iterable[str]) -> None:
        ids = orjson.dumps(list(memories)).decode()
        delete = "DELETE FROM memory WHERE id IN (SELECT value FROM json_each(?))"
        await self._database.write(lambda connection: connection.execute(delete, (ids,)))

    async def count(self) -> int:
        (count,) = await self._database.read(lambda c: c.execute("SELECT count(*) FROM memory").fetchone())
        return count

    async def close(self) -> None:
        await self._database.close()
        await asyncio.to_thread(self._vectors.clear)

    def _find_similar(
        self, connection: sqlite3.Connection, query_vector: NDArray[np.float32], identity: str, owner: str, limit: int
    ) -> list[RecalledMemory]:
        ranked = self._vectors.find_similar(connection, query_vector, identity, owner, limit)
        ranked = rank_results(ranked, limit, lambda found: found[0], lambda found: found[1][1])
        return [
            RecalledMemory(memory=_to_memory(body, good, bad), similarity=cosine)
            for cosine, (_, _, body, good, bad) in ranked
        ]


def _to_body(memory: Memory) -> str:
    return memory.model_dump_json(exclude={"good", "bad"}, exclude_none=True)


def _to_memory(body: str, good: int, bad: int) -> Memory:
    return read_memory({**orjson.loads(body), "good": good, "bad": bad})[0]
