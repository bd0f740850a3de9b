"""Solutions and the vectors of their request patterns, each in one SQLite file of the store folder."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.solution import NearPattern, Solution, SolutionChange, get_program_id, rank_patterns
from domain.tool import ToolId
from graph.backends.followed_vectors import FollowedVectors
from graph.backends.sqlite_database import Database, Format, SqliteReading, json_list

_FORMAT = Format(
    what="solutions",
    application=0x4650534F,  # "FPSO"
    version=1,
    tables=(
        "CREATE TABLE solution (id TEXT PRIMARY KEY, program TEXT NOT NULL, body TEXT NOT NULL)",
        "CREATE INDEX solution_program ON solution (program)",
        """
        CREATE TABLE call (
            tool TEXT NOT NULL,
            solution TEXT NOT NULL REFERENCES solution ON DELETE CASCADE,
            PRIMARY KEY (tool, solution)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX call_solution ON call (solution)",
    ),
    # Acknowledged writes survive a crash of the process; a power cut may lose the latest, which are learnt again.
    synchronous="NORMAL",
)
_PUT = """
    INSERT INTO solution (id, program, body) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body
"""
_GET = "SELECT id, body FROM solution WHERE id IN (SELECT value FROM json_each(?))"
_OF_PROGRAM = "SELECT body FROM solution WHERE program = ? ORDER BY id"
_ON_PATH = """
    SELECT body FROM solution
    WHERE id IN (SELECT solution FROM call WHERE tool IN (SELECT value FROM json_each(?))) ORDER BY id
"""
_PAGE = "SELECT id, body FROM solution WHERE id > ? ORDER BY id LIMIT ?"


class SqliteSolutions(SqliteReading):
    """``SolutionStore`` in the file ``path``, created by :meth:`setup`. Several processes may use it at once."""

    def __init__(self, path: Path, *, busy_seconds: float = 30.0) -> None:
        super().__init__(Database(path, _FORMAT, busy_seconds=busy_seconds))

    async def setup(self) -> None:
        await self._database.setup()

    async def put(self, solutions: Sequence[Solution]) -> None:
        await self._database.write(lambda connection: _put(connection, solutions))

    async def get(self, ids: Iterable[str]) -> dict[str, Solution]:
        wanted = list(ids)
        found = await self._database.read(lambda connection: _get(connection, wanted))
        return {one: found[one] for one in wanted if one in found}

    async def change(self, ids: Sequence[str], change: SolutionChange) -> dict[str, Solution]:
        def work(connection: sqlite3.Connection) -> dict[str, Solution]:
            there = _get(connection, ids)
            made = {one: change(one, there.get(one)) for one in ids}
            written = {one: solution for one, solution in made.items() if solution is not None}
            _put(connection, list(written.values()))
            return written

        return await self._database.write(work)

    async def list_by_program(self, program: str) -> list[Solution]:
        return _solutions(await self._database.read(lambda c: c.execute(_OF_PROGRAM, (program,)).fetchall()))

    async def list_by_tools(self, tools: Iterable[ToolId]) -> list[Solution]:
        wanted = json_list(tools)
        return _solutions(await self._database.read(lambda c: c.execute(_ON_PATH, (wanted,)).fetchall()))

    async def all(self) -> AsyncIterator[Solution]:
        async for _, body in self._stream(_PAGE, ("",)):
            yield Solution.model_validate_json(body)

    async def remove(self, solutions: Iterable[str]) -> None:
        gone = json_list(solutions)
        delete = "DELETE FROM solution WHERE id IN (SELECT value FROM json_each(?))"
        await self._database.write(lambda connection: connection.execute(delete, (gone,)))

    async def count(self) -> int:
        (count,) = await self._database.read(lambda c: c.execute("SELECT count(*) FROM solution").fetchone())
        return count

    async def close(self) -> None:
        await self._database.close()


def _put(connection: sqlite3.Connection, solutions: Sequence[Solution]) -> None:
    rows = [(one.id, get_program_id(one.id), one.model_dump_json(exclude_defaults=True)) for one in solutions]
    connection.executemany(_PUT, rows)
    connection.executemany("DELETE FROM call WHERE solution = ?", [(one.id,) for one in solutions])
    calls = [(tool, one.id) for one in solutions for tool in dict.fromkeys(one.path)]
    connection.executemany("INSERT INTO call (tool, solution) VALUES (?, ?)", calls)


def _get(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, Solution]:
    return {one: Solution.model_validate_json(body) for one, body in connection.execute(_GET, (json_list(ids),))}


def _solutions(rows: Iterable[tuple[Any, ...]]) -> list[Solution]:
    return [Solution.model_validate_json(body) for (body,) in rows]


_PATTERN_FORMAT = Format(
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
    # A power cut may lose the latest vectors, which are then computed again.
    synchronous="NORMAL",
)
_KNOWN = """
    SELECT solution, count(*) FROM pattern
    WHERE identity = ? AND solution IN (SELECT value FROM json_each(?)) GROUP BY solution
"""
_THERE = "SELECT num, place, vector FROM pattern WHERE solution = ? AND identity = ?"
_PUT_PATTERN = "INSERT INTO pattern (solution, place, owner, identity, vector) VALUES (?, ?, ?, ?, ?)"
_NEW = "SELECT num, owner, vector FROM pattern WHERE identity = ? AND num > ? ORDER BY num"
_FOUND = "SELECT num, solution, place FROM pattern WHERE num IN (SELECT value FROM json_each(?))"


class SqlitePatterns(SqliteReading):
    """``PatternIndex`` in the file ``path``, which only :meth:`setup` creates. Several processes may use it at once."""

    def __init__(self, path: Path, *, busy_seconds: float = 30.0) -> None:
        super().__init__(Database(path, _PATTERN_FORMAT, busy_seconds=busy_seconds))
        self._vectors = FollowedVectors(_NEW, _FOUND)

    async def setup(self) -> None:
        await self._database.setup()

    async def count_patterns(self, solutions: Iterable[str], identity: str) -> dict[str, int]:
        wanted = json_list(solutions)
        return dict(await self._database.read(lambda c: c.execute(_KNOWN, (identity, wanted)).fetchall()))

    async def put(self, identity: str, owner: str, solution: str, vectors: Sequence[Sequence[float]]) -> None:
        wanted = {place: np.asarray(vector, dtype="<f4").tobytes() for place, vector in enumerate(vectors)}

        def work(connection: sqlite3.Connection) -> None:
            # Unchanged vectors keep their row numbers, so that no process has to load them again.
            there = {place: (num, blob) for num, place, blob in connection.execute(_THERE, (solution, identity))}
            gone = [(num,) for place, (num, blob) in there.items() if wanted.get(place) != blob]
            connection.executemany("DELETE FROM pattern WHERE num = ?", gone)
            new = [(place, blob) for place, blob in wanted.items() if there.get(place, (0, b""))[1] != blob]
            connection.executemany(_PUT_PATTERN, [(solution, place, owner, identity, blob) for place, blob in new])

        await self._database.write(work)

    async def find_similar(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[NearPattern]:
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
