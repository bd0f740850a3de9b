"""Memories in one SQLite file, searched exactly: the vectors of a process are read once and followed by number.

A hundred thousand memories of 384 dimensions take 150 MB and some ten milliseconds a search; with servers they lie in Qdrant.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from domain.memory import Memory, Recalled
from graph.backends.sqlite_database import Database, Format

_FORMAT = Format(
    what="memories",
    application=0x46504D45,  # "FPME"
    version=1,
    tables=(
        """
        CREATE TABLE memory (
            num INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            owner TEXT NOT NULL,
            pattern TEXT NOT NULL,
            path TEXT NOT NULL,
            identity TEXT NOT NULL,
            body TEXT NOT NULL,
            vector BLOB NOT NULL,
            good INTEGER NOT NULL DEFAULT 0,
            bad INTEGER NOT NULL DEFAULT 0,
            UNIQUE (identity, owner, pattern, path)
        )
        """,
    ),
    synchronous="NORMAL",
)
_PUT = """
    INSERT INTO memory (id, owner, pattern, path, identity, body, vector, good, bad) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET good = good + 1
"""
_NEW = "SELECT num, owner, vector FROM memory WHERE identity = ? AND num > ? ORDER BY num"
_BODIES = "SELECT num, body, good, bad FROM memory WHERE num IN (SELECT value FROM json_each(?))"
_SPARE = 20
"""More rows are looked at than asked for: some of those known may have been removed since."""


@dataclass(slots=True)
class _Vectors:
    """The vectors of one encoder's memories, by row, as far as they were read; removed rows stay until the next start."""

    numbers: list[int] = field(default_factory=list[int])
    owners: list[str] = field(default_factory=list[str])
    rows: NDArray[np.float32] | None = None


class SqliteMemories:
    """A ``MemoryStore`` at ``path``. Several processes may use it at once."""

    def __init__(self, path: Path, *, busy_seconds: float = 30.0) -> None:
        self._database = Database(path, _FORMAT, busy_seconds=busy_seconds)
        self._known: dict[str, _Vectors] = {}
        self._lock = threading.Lock()

    async def setup(self) -> None:
        await self._database.setup()

    async def put(self, memory: Memory, vector: Sequence[float], identity: str) -> None:
        body = memory.model_dump_json(exclude={"good", "bad"})
        path = orjson.dumps(memory.path).decode()
        blob = np.asarray(vector, dtype="<f4").tobytes()
        row = (memory.id, memory.owner, memory.pattern, path, identity, body, blob, memory.good, memory.bad)
        await self._database.write(lambda connection: connection.execute(_PUT, row))

    async def near(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[Recalled]:
        wanted = np.asarray(vector, dtype=np.float32)
        return await self._database.read(lambda connection: self._near(connection, wanted, identity, owner, limit))

    async def judge(self, memory: str, *, good: bool) -> None:
        column = "good" if good else "bad"
        update = f"UPDATE memory SET {column} = {column} + 1 WHERE id = ?"  # noqa: S608  one of two words of ours
        await self._database.write(lambda connection: connection.execute(update, (memory,)))

    async def remove(self, memories: Iterable[str]) -> None:
        ids = orjson.dumps(list(memories)).decode()
        delete = "DELETE FROM memory WHERE id IN (SELECT value FROM json_each(?))"
        await self._database.write(lambda connection: connection.execute(delete, (ids,)))

    async def count(self) -> int:
        (count,) = await self._database.read(lambda c: c.execute("SELECT count(*) FROM memory").fetchone())
        return count

    async def close(self) -> None:
        await self._database.close()
        await asyncio.to_thread(self._known.clear)

    def _near(
        self, connection: sqlite3.Connection, wanted: NDArray[np.float32], identity: str, owner: str, limit: int
    ) -> list[Recalled]:
        numbers, owners, rows = self._followed(connection, identity)
        if rows is None or limit < 1:
            return []
        similar = rows @ wanted
        allowed = np.fromiter((o in ("", owner) for o in owners), dtype=bool, count=len(owners))
        order: list[int] = np.argsort(-similar, kind="stable").tolist()
        best = [i for i in order if allowed[i]][: limit + _SPARE]
        places = {numbers[i]: float(similar[i]) for i in best}
        found = [
            Recalled(
                memory=Memory.model_validate({**orjson.loads(body), "good": good, "bad": bad}), similarity=places[num]
            )
            for num, body, good, bad in connection.execute(_BODIES, (orjson.dumps(list(places)).decode(),))
        ]
        return sorted(found, key=lambda one: (-one.similarity, one.memory.id))[:limit]

    def _followed(
        self, connection: sqlite3.Connection, identity: str
    ) -> tuple[list[int], list[str], NDArray[np.float32] | None]:
        """The vectors known, with those that were added since."""
        with self._lock:
            known = self._known.setdefault(identity, _Vectors())
            new = connection.execute(_NEW, (identity, known.numbers[-1] if known.numbers else 0)).fetchall()
            if new:
                added = np.stack([np.frombuffer(blob, dtype="<f4") for _, _, blob in new])
                known.rows = added if known.rows is None else np.concatenate([known.rows, added])
                known.numbers += [num for num, _, _ in new]
                known.owners += [owner for _, owner, _ in new]
            return known.numbers, known.owners, known.rows
