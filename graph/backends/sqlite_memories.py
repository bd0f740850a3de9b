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
from graph.backends.followed_vectors import FollowedVectors
from graph.backends.sqlite_database import Database, Format, SqliteReading

_FORMAT = Format(
    what="memories",
    application=0x46504D45,  # "FPME"
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
    added={
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
_ADD = "INSERT INTO memory (id, owner, body, good, bad) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
_COUNT = "UPDATE memory SET good = good + ?, bad = bad + ? WHERE id = ?"
_NOTE_KEY = "INSERT INTO judgement (memory, key) SELECT id, ?2 FROM memory WHERE id = ?1 ON CONFLICT DO NOTHING"
_EARLIER = "SELECT body, good, bad FROM memory WHERE json_extract(body, '$.program') IS NOT NULL ORDER BY id LIMIT ?"
_DROP_PROGRAMS = """
    UPDATE memory SET body = json_remove(body, '$.program')
    WHERE id IN (SELECT value FROM json_each(?)) AND json_extract(body, '$.program') IS NOT NULL
"""
_WITHOUT = """
    SELECT body, good, bad FROM memory
    WHERE NOT EXISTS (SELECT 1 FROM vector WHERE vector.memory = memory.id AND identity = ?) ORDER BY id LIMIT ?
"""
_PUT_VECTOR = """
    INSERT INTO vector (memory, identity, vector) SELECT id, ?2, ?3 FROM memory WHERE id = ?1 ON CONFLICT DO NOTHING
"""
_NEW = """
    SELECT num, owner, vector FROM vector JOIN memory ON memory.id = vector.memory
    WHERE identity = ? AND num > ? ORDER BY num
"""
_BODIES = """
    SELECT num, memory, body, good, bad FROM vector JOIN memory ON memory.id = vector.memory
    WHERE num IN (SELECT value FROM json_each(?))
"""
_JUDGE_ANEW = """
    UPDATE memory SET good = 0, bad = 0 WHERE (good OR bad) AND EXISTS (
        SELECT 1 FROM json_each(body, '$.path') step JOIN json_each(?) other ON step.value = other.value
    )
"""
_PAGE = "SELECT id, body, good, bad FROM memory WHERE id > ? ORDER BY id LIMIT ?"


class SqliteMemories(SqliteReading):
    """``MemoryStore`` in the file ``path``, which only :meth:`setup` creates. Several processes may use it at once."""

    def __init__(self, path: Path, *, busy_seconds: float = 30.0) -> None:
        super().__init__(Database(path, _FORMAT, busy_seconds=busy_seconds))
        self._vectors = FollowedVectors(_NEW, _BODIES)

    async def setup(self) -> None:
        await self._database.setup()

    async def add(self, memories: Sequence[Memory]) -> None:
        rows = [(m.id, m.owner, _body(m), m.good, m.bad) for m in memories]
        await self._database.write(lambda connection: connection.executemany(_ADD, rows))

    async def list_without_vector(self, identity: str, limit: int) -> list[Memory]:
        rows = await self._database.read(lambda c: c.execute(_WITHOUT, (identity, limit)).fetchall())
        return [_memory(body, good, bad) for body, good, bad in rows]

    async def put_vectors(self, identity: str, vectors: Sequence[tuple[str, Sequence[float]]]) -> None:
        rows = [(memory, identity, np.asarray(vector, dtype="<f4").tobytes()) for memory, vector in vectors]
        await self._database.write(lambda connection: connection.executemany(_PUT_VECTOR, rows))

    async def find_similar(
        self, vector: Sequence[float], identity: str, owner: str, limit: int
    ) -> list[RecalledMemory]:
        wanted = np.asarray(vector, dtype=np.float32)
        return await self._database.read(lambda connection: self._near(connection, wanted, identity, owner, limit))

    async def judge(self, memory: str, *, good: bool, key: str = "") -> None:
        def count(connection: sqlite3.Connection) -> None:
            if not key or connection.execute(_NOTE_KEY, (memory, key)).rowcount:
                connection.execute(_COUNT, (int(good), int(not good), memory))

        await self._database.write(count)

    async def reset_judgements(self, tools: Iterable[ToolId]) -> None:
        others = orjson.dumps(list(tools)).decode()
        await self._database.write(lambda connection: connection.execute(_JUDGE_ANEW, (others,)))

    async def list_legacy(self, limit: int) -> list[LegacyMemory]:
        rows = await self._database.read(lambda c: c.execute(_EARLIER, (limit,)).fetchall())
        read = (read_memory({**orjson.loads(body), "good": good, "bad": bad}) for body, good, bad in rows)
        return [LegacyMemory(memory, program) for memory, program in read if program is not None]

    async def drop_programs(self, memories: Iterable[str]) -> None:
        ids = orjson.dumps(list(memories)).decode()
        await self._database.write(lambda connection: connection.execute(_DROP_PROGRAMS, (ids,)))

    async def all(self) -> AsyncIterator[Memory]:
        async for _, body, good, bad in self._stream(_PAGE, ("",)):
            yield _memory(body, good, bad)

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

    def _near(
        self, connection: sqlite3.Connection, wanted: NDArray[np.float32], identity: str, owner: str, limit: int
    ) -> list[RecalledMemory]:
        near = self._vectors.near(connection, wanted, identity, owner, limit)
        near = rank_results(near, limit, lambda found: found[0], lambda found: found[1][1])
        return [
            RecalledMemory(memory=_memory(body, good, bad), similarity=cosine)
            for cosine, (_, _, body, good, bad) in near
        ]


def _body(memory: Memory) -> str:
    return memory.model_dump_json(exclude={"good", "bad"}, exclude_none=True)


def _memory(body: str, good: int, bad: int) -> Memory:
    return read_memory({**orjson.loads(body), "good": good, "bad": bad})[0]
