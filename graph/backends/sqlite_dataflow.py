"""Data flows between calls, and choices of response fields, each in one SQLite file of the store folder."""

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

import orjson

from domain.tool import ToolId
from domain.trajectory import TakenValue
from graph.backends.sqlite_database import Database, Format
from graph.dataflow import FlowCount, KnownFlow

_FORMAT = Format(
    what="flows",
    application=0x4650464C,  # "FPFL"
    version=1,
    tables=(
        "CREATE TABLE counted (key TEXT PRIMARY KEY) WITHOUT ROWID",
        """
        CREATE TABLE pair (
            target TEXT NOT NULL, parameter TEXT NOT NULL, source TEXT NOT NULL, total INTEGER NOT NULL,
            PRIMARY KEY (target, parameter, source)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE flow (
            target TEXT NOT NULL, parameter TEXT NOT NULL, source TEXT NOT NULL, field TEXT NOT NULL, count INTEGER NOT NULL,
            PRIMARY KEY (target, parameter, source, field)
        ) WITHOUT ROWID
        """,
    ),
    synchronous="NORMAL",
)
_PAIR = "INSERT INTO pair VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET total = total + 1"
_FLOW = "INSERT INTO flow VALUES (?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET count = count + 1"
_INTO = """
    SELECT f.source, f.target, f.field, f.parameter, f.count, p.total
    FROM flow f JOIN pair p ON p.target = f.target AND p.parameter = f.parameter AND p.source = f.source
    WHERE f.target IN (SELECT value FROM json_each(?)) ORDER BY f.target, f.count DESC, f.source, f.parameter, f.field
"""
_FORGET = (
    "DELETE FROM pair WHERE target IN (SELECT value FROM json_each(?1)) OR source IN (SELECT value FROM json_each(?1))",
    "DELETE FROM flow WHERE target IN (SELECT value FROM json_each(?1)) OR source IN (SELECT value FROM json_each(?1))",
)
_KEYS = "SELECT key FROM counted WHERE key > ? ORDER BY key LIMIT ?"
_PAIRS = """
    SELECT target, parameter, source, total FROM pair
    WHERE (target, parameter, source) > (?, ?, ?) ORDER BY target, parameter, source LIMIT ?
"""
_FIELDS = "SELECT field, count FROM flow WHERE target = ? AND parameter = ? AND source = ? ORDER BY field"
_SET_PAIR = "INSERT INTO pair VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET total = excluded.total"
_SET_FLOW = "INSERT INTO flow VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = excluded.count"


class SqliteFlows:
    """``FlowStore`` in the file ``path``, which only :meth:`setup` creates. Several processes may use it at once."""

    def __init__(self, path: Path, *, busy_seconds: float = 30.0) -> None:
        self._database = Database(path, _FORMAT, busy_seconds=busy_seconds)

    async def setup(self) -> None:
        await self._database.setup()

    async def add(self, key: str, taken: Sequence[TakenValue]) -> bool:
        def write(connection: sqlite3.Connection) -> bool:
            if connection.execute("INSERT INTO counted VALUES (?) ON CONFLICT DO NOTHING", (key,)).rowcount != 1:
                return False
            connection.executemany(_PAIR, ((t.target, t.parameter, t.source) for t in taken))
            rows = ((t.target, t.parameter, t.source, field) for t in taken for field in t.fields)
            connection.executemany(_FLOW, rows)
            return True

        return await self._database.write(write)

    async def forget(self, tools: Iterable[ToolId]) -> None:
        gone = orjson.dumps(list(tools)).decode()

        def write(connection: sqlite3.Connection) -> None:
            for statement in _FORGET:
                connection.execute(statement, (gone,))

        await self._database.write(write)

    async def find_flows_into(self, tools: Iterable[ToolId]) -> dict[ToolId, list[KnownFlow]]:
        wanted = orjson.dumps(list(tools)).decode()
        rows = await self._database.read(lambda c: c.execute(_INTO, (wanted,)).fetchall())
        found: dict[ToolId, list[KnownFlow]] = {}
        for row in rows:
            flow = KnownFlow(*row)
            found.setdefault(flow.target, []).append(flow)
        return found

    async def list_keys(self, after: str, limit: int) -> list[str]:
        rows = await self._database.read(lambda c: c.execute(_KEYS, (after, limit)).fetchall())
        return [key for (key,) in rows]

    async def list_counts(self, after: tuple[str, str, str], limit: int) -> list[FlowCount]:
        def read(c: sqlite3.Connection) -> list[FlowCount]:
            return [
                FlowCount(target, parameter, source, total, tuple(c.execute(_FIELDS, (target, parameter, source))))
                for target, parameter, source, total in c.execute(_PAIRS, (*after, limit)).fetchall()
            ]

        return await self._database.read(read)

    async def restore(self, keys: Sequence[str], counts: Sequence[FlowCount]) -> None:
        def write(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT INTO counted VALUES (?) ON CONFLICT DO NOTHING", ((key,) for key in keys))
            connection.executemany(_SET_PAIR, ((*one.sort_key, one.total) for one in counts))
            rows = ((*one.sort_key, name, count) for one in counts for name, count in one.fields)
            connection.executemany(_SET_FLOW, rows)

        await self._database.write(write)

    async def close(self) -> None:
        await self._database.close()
