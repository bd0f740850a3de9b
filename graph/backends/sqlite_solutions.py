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
from graph.backends.sqlite_database import SqliteBackend, SqliteDatabase, SqliteFormat, to_json_list
from graph.backends.sqlite_vectors import SqliteVectors

_SOLUTION_FORMAT = SqliteFormat(
    content_name="solutions",
    application_id=0x4650534F,  # "FPSO"
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
_PUT_SOLUTION = """
    INSERT INTO solution (id, program, body) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body
"""
_SELECT_SOLUTIONS = "SELECT id, body FROM solution WHERE id IN (SELECT value FROM json_each(?))"
_SELECT_OF_PROGRAM = "SELECT body FROM solution WHERE program = ? ORDER BY id"
_SELECT_CALLING = """
    SELECT body FROM solution
    WHERE id IN (SELECT solution FROM call WHERE tool IN (SELECT value FROM json_each(?))) ORDER BY id
"""
_SELECT_PAGE = "SELECT id, body FROM solution WHERE id > ? ORDER BY id LIMIT ?"


class SqliteSolutions(SqliteBackend):
    """``SolutionStore`` in the file ``path``, created by :meth:`setup`. Several processes may use it at once."""

    def __init__(self, path: Path, *, busy_seconds: float = 30.0) -> None:
        super().__init__(SqliteDatabase(path, _SOLUTION_FORMAT, busy_seconds=busy_seconds))

    async def setup(self) -> None:
        await self._database.setup()

    async def put(self, solutions: Sequence[Solution]) -> None:
        await self._database.write(lambda connection: _write_solutions(connection, solutions))

    async def get(self, ids: Iterable[str]) -> dict[str, Solution]:
        wanted_ids = list(ids)
        solutions_by_id = await self._database.read(lambda connection: _read_solutions(connection, wanted_ids))
        return {
            solution_id: solutions_by_id[solution_id] for solution_id in wanted_ids if solution_id in solutions_by_id
        }

    async def change(self, ids: Sequence[str], change: SolutionChange) -> dict[str, Solution]:
        def write(connection: sqlite3.Connection) -> dict[str, Solution]:
            stored = _read_solutions(connection, ids)
            results = {solution_id: change(solution_id, stored.get(solution_id)) for solution_id in ids}
            written = {solution_id: solution for solution_id, solution in results.items() if solution is not None}
            _write_solutions(connection, list(written.values()))
            return written

        return await self._database.write(write)

    async def list_by_program(self, program: str) -> list[Solution]:
        return _parse_solutions(
            await self._database.read(lambda c: c.execute(_SELECT_OF_PROGRAM, (program,)).fetchall())
        )

    async def list_by_tools(self, tools: Iterable[ToolId]) -> list[Solution]:
        tool_list = to_json_list(tools)
        return _parse_solutions(
            await self._database.read(lambda c: c.execute(_SELECT_CALLING, (tool_list,)).fetchall())
        )

    async def stream_all(self) -> AsyncIterator[Solution]:
        async for _, body in self._stream(_SELECT_PAGE, ("",)):
            yield Solution.model_validate_json(body)

    async def remove(self, solutions: Iterable[str]) -> None:
        id_list = to_json_list(solutions)
        delete = "DELETE FROM solution WHERE id IN (SELECT value FROM json_each(?))"
        await self._database.write(lambda connection: connection.execute(delete, (id_list,)))

    async def count(self) -> int:
        (count,) = await self._database.read(lambda c: c.execute("SELECT count(*) FROM solution").fetchone())
        return count

    async def close(self) -> None:
        await self._database.close()


def _write_solutions(connection: sqlite3.Connection, solutions: Sequence[Solution]) -> None:
    rows = [
        (solution.id, get_program_id(solution.id), solution.model_dump_json(exclude_defaults=True))
        for solution in solutions
    ]
    connection.executemany(_PUT_SOLUTION, rows)
    connection.executemany("DELETE FROM call WHERE solution = ?", [(solution.id,) for solution in solutions])
    calls = [(tool, solution.id) for solution in solutions for tool in dict.fromkeys(solution.path)]
    connection.executemany("INSERT INTO call (tool, solution) VALUES (?, ?)", calls)


def _read_solutions(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, Solution]:
    return {
        solution_id: Solution.model_validate_json(body)
        for solution_id, body in connection.execute(_SELECT_SOLUTIONS, (to_json_list(ids),))
    }


def _parse_solutions(rows: Iterable[tuple[Any, ...]]) -> list[Solution]:
    return [Solution.model_validate_json(body) for (body,) in rows]


_PATTERN_FORMAT = SqliteFormat(
    content_name="patterns",
    application_id=0x46505041,  # "FPPA"
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
_COUNT_PATTERNS = """
    SELECT solution, count(*) FROM pattern
    WHERE identity = ? AND solution IN (SELECT value FROM json_each(?)) GROUP BY solution
"""
_SELECT_PATTERNS = "SELECT num, place, vector FROM pattern WHERE solution = ? AND identity = ?"
_PUT_PATTERN = "INSERT INTO pattern (solution, place, owner, identity, vector) VALUES (?, ?, ?, ?, ?)"
_SELECT_NEW_VECTORS = "SELECT num, owner, vector FROM pattern WHERE identity = ? AND num > ? ORDER BY num"
_SELECT_BY_NUMBER = "SELECT num, solution, place FROM pattern WHERE num IN (SELECT value FROM json_each(?))"


class SqlitePatterns(SqliteBackend):
    """``PatternIndex`` in the file ``path``, which only :meth:`setup` creates. Several processes may use it at once."""

    def __init__(self, path: Path, *, busy_seconds: float = 30.0) -> None:
        super().__init__(SqliteDatabase(path, _PATTERN_FORMAT, busy_seconds=busy_seconds))
        self._vectors = SqliteVectors(_SELECT_NEW_VECTORS, _SELECT_BY_NUMBER)

    async def setup(self) -> None:
        await self._database.setup()

    async def count_patterns(self, solutions: Iterable[str], identity: str) -> dict[str, int]:
        solution_list = to_json_list(solutions)
        return dict(
            await self._database.read(lambda c: c.execute(_COUNT_PATTERNS, (identity, solution_list)).fetchall())
        )

    async def put(self, identity: str, owner: str, solution: str, vectors: Sequence[Sequence[float]]) -> None:
        blobs = {place: np.asarray(vector, dtype="<f4").tobytes() for place, vector in enumerate(vectors)}

        def write(connection: sqlite3.Connection) -> None:
            # Unchanged vectors keep their row numbers, so that no process has to load them again.
            stored = {
                place: (num, blob) for num, place, blob in connection.execute(_SELECT_PATTERNS, (solution, identity))
            }
            outdated = [(num,) for place, (num, blob) in stored.items() if blobs.get(place) != blob]
            connection.executemany("DELETE FROM pattern WHERE num = ?", outdated)
            new = [(place, blob) for place, blob in blobs.items() if stored.get(place, (0, b""))[1] != blob]
            connection.executemany(_PUT_PATTERN, [(solution, place, owner, identity, blob) for place, blob in new])

        await self._database.write(write)

    async def find_similar(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[NearPattern]:
        query_vector = np.asarray(vector, dtype=np.float32)
        return await self._database.read(
            lambda connection: self._find_similar(connection, query_vector, identity, owner, limit)
        )

    async def remove(self, solutions: Iterable[str]) -> None:
        solution_list = to_json_list(solutions)
        delete = "DELETE FROM pattern WHERE solution IN (SELECT value FROM json_each(?))"
        await self._database.write(lambda connection: connection.execute(delete, (solution_list,)))

    async def close(self) -> None:
        await self._database.close()
        await asyncio.to_thread(self._vectors.clear)

    def _find_similar(
        self, connection: sqlite3.Connection, query_vector: NDArray[np.float32], identity: str, owner: str, limit: int
    ) -> list[NearPattern]:
        near = self._vectors.find_similar(connection, query_vector, identity, owner, limit)
        patterns = [
            NearPattern(solution=solution, number=place, similarity=cosine) for cosine, (_, solution, place) in near
        ]
        return rank_patterns(patterns, limit)
