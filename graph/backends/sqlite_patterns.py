"""Vectors of solutions' patterns in one SQLite file of the store's folder, searched exactly."""

import asyncio
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from domain.solution import NearPattern, rank_patterns
from graph.backends.followed_vectors import FollowedVectors
from graph.backends.sqlite_database import Database, Format, SqliteReading, json_list

_FORMAT = Format(
    what="patterns",
    application=0x46505041,  # "FPPA"
    version=1,
    tables=(
        """
        CREATE TABLE pattern (
            num INTEGER PRIMARY KEY AUTOINCREMENT,
            solution TEXT NOT NULL,
            place INTEGER NOT NULL,
            owner TEXT NOT NULL,
            identity TEXT NOT NULL,
            vector BLOB NOT NULL,
            UNIQUE (solution, identity, place)
        )
        """,
    ),
    # A power cut may lose the last ones: they are embedded again.
    synchronous="NORMAL",
)
_KNOWN = """
    SELECT solution, count(*) FROM pattern
    WHERE identity = ? AND solution IN (SELECT value FROM json_each(?)) GROUP BY solution
"""
_THERE = "SELECT num, place, vector FROM pattern WHERE solution = ? AND identity = ?"
_PUT = "INSERT INTO pattern (solution, place, owner, identity, vector) VALUES (?, ?, ?, ?, ?)"
_NEW = "SELECT num, owner, vector FROM pattern WHERE identity = ? AND num > ? ORDER BY num"
_FOUND = "SELECT num, solution, place FROM pattern WHERE num IN (SELECT value FROM json_each(?))"


class SqlitePatterns(SqliteReading):
    """A ``PatternIndex`` at ``path``. Only :meth:`setup` creates the file. Several processes may use it at once."""

    def __init__(self, path: Path, *, busy_seconds: float = 30.0) -> None:
        super().__init__(Database(path, _FORMAT, busy_seconds=busy_seconds))
        self._vectors = FollowedVectors(_NEW, _FOUND)

    async def setup(self) -> None:
        await self._database.setup()

    async def known(self, solutions: Iterable[str], identity: str) -> dict[str, int]:
        wanted = json_list(solutions)
        return dict(await self._database.read(lambda c: c.execute(_KNOWN, (identity, wanted)).fetchall()))

    async def put(self, identity: str, owner: str, solution: str, vectors: Sequence[Sequence[float]]) -> None:
        wanted = {place: np.asarray(vector, dtype="<f4").tobytes() for place, vector in enumerate(vectors)}

        def work(connection: sqlite3.Connection) -> None:
            # Those that stay as they are keep their numbers: nobody reads them anew.
            there = {place: (num, blob) for num, place, blob in connection.execute(_THERE, (solution, identity))}
            gone = [(num,) for place, (num, blob) in there.items() if wanted.get(place) != blob]
            connection.executemany("DELETE FROM pattern WHERE num = ?", gone)
            new = [(place, blob) for place, blob in wanted.items() if there.get(place, (0, b""))[1] != blob]
            connection.executemany(_PUT, [(solution, place, owner, identity, blob) for place, blob in new])

        await self._database.write(work)

    async def near(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[NearPattern]:
        wanted = np.asarray(vector, dtype=np.float32)
        return await self._database.read(lambda connection: self._near(connection, wanted, identity, owner, limit))

    async def remove(self, solutions: Iterable[str]) -> None:
        gone = json_list(solutions)
        delete = "DELETE FROM pattern WHERE solution IN (SELECT value FROM json_each(?))"
        await self._database.write(lambda connection: connection.execute(delete, (gone,)))

    async def close(self) -> None:
        await self._database.close()
        await asyncio.to_thread(self._vectors.clear)

    def _near(
        self, connection: sqlite3.Connection, wanted: NDArray[np.float32], identity: str, owner: str, limit: int
    ) -> list[NearPattern]:
        near = self._vectors.near(connection, wanted, identity, owner, limit)
        found = [NearPattern(solution=one, number=place, similarity=cosine) for cosine, (_, one, place) in near]
        return rank_patterns(found, limit)
