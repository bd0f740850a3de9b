"""Data flows between calls, and choices of response fields, each in one SQLite file of the store folder."""

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

import orjson

from domain.tool import ToolId
from domain.trajectory import TakenValue
from graph.backends.sqlite_database import SqliteDatabase, SqliteFormat
from graph.dataflow import FlowCount, KnownFlow
from graph.field_choices import FieldChoice

_FLOW_FORMAT = SqliteFormat(
    content_name="flows",
    application_id=0x4650464C,  # "FPFL"
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
_COUNT_PAIR = "INSERT INTO pair VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET total = total + 1"
_COUNT_FLOW = "INSERT INTO flow VALUES (?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET count = count + 1"
_SELECT_FLOWS_INTO = """
    SELECT f.source, f.target, f.field, f.parameter, f.count, p.total
    FROM flow f JOIN pair p ON p.target = f.target AND p.parameter = f.parameter AND p.source = f.source
    WHERE f.target IN (SELECT value FROM json_each(?)) ORDER BY f.target, f.count DESC, f.source, f.parameter, f.field
"""
_FORGET_FLOWS = (
    "DELETE FROM pair WHERE target IN (SELECT value FROM json_each(?1)) OR source IN (SELECT value FROM json_each(?1))",
    "DELETE FROM flow WHERE target IN (SELECT value FROM json_each(?1)) OR source IN (SELECT value FROM json_each(?1))",
)
_SELECT_KEYS = "SELECT key FROM counted WHERE key > ? ORDER BY key LIMIT ?"
_SELECT_PAIRS = """
    SELECT target, parameter, source, total FROM pair
    WHERE (target, parameter, source) > (?, ?, ?) ORDER BY target, parameter, source LIMIT ?
"""
_SELECT_FIELDS = "SELECT field, count FROM flow WHERE target = ? AND parameter = ? AND source = ? ORDER BY field"
_SET_PAIR = "INSERT INTO pair VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET total = excluded.total"
_SET_FLOW = "INSERT INTO flow VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = excluded.count"


class SqliteFlows:
    """``FlowStore`` in the file ``path``, which only :meth:`setup` creates. Several processes may use it at once."""

    def __init__(self, path: Path, *, busy_seconds: float = 30.0) -> None:
        self._database = SqliteDatabase(path, _FLOW_FORMAT, busy_seconds=busy_seconds)

    async def setup(self) -> None:
        await self._database.setup()

    async def add(self, key: str, taken: Sequence[TakenValue]) -> bool:
        def write(connection: sqlite3.Connection) -> bool:
            if connection.execute("INSERT INTO counted VALUES (?) ON CONFLICT DO NOTHING", (key,)).rowcount != 1:
                return False
            connection.executemany(_COUNT_PAIR, ((value.target, value.parameter, value.source) for value in taken))
            rows = ((value.target, value.parameter, value.source, field) for value in taken for field in value.fields)
            connection.executemany(_COUNT_FLOW, rows)
            return True

        return await self._database.write(write)

    async def forget(self, tools: Iterable[ToolId]) -> None:
        tool_list = orjson.dumps(list(tools)).decode()

        def write(connection: sqlite3.Connection) -> None:
            for statement in _FORGET_FLOWS:
                connection.execute(statement, (tool_list,))

        await self._database.write(write)

    async def find_flows_into(self, tools: Iterable[ToolId]) -> dict[ToolId, list[KnownFlow]]:
        tool_list = orjson.dumps(list(tools)).decode()
        rows = await self._database.read(lambda c: c.execute(_SELECT_FLOWS_INTO, (tool_list,)).fetchall())
        flows_by_tool: dict[ToolId, list[KnownFlow]] = {}
        for row in rows:
            flow = KnownFlow(*row)
            flows_by_tool.setdefault(flow.target, []).append(flow)
        return flows_by_tool

    async def list_keys(self, after: str, limit: int) -> list[str]:
        rows = await self._database.read(lambda c: c.execute(_SELECT_KEYS, (after, limit)).fetchall())
        return [key for (key,) in rows]

    async def list_counts(self, after: tuple[str, str, str], limit: int) -> list[FlowCount]:
        def read(c: sqlite3.Connection) -> list[FlowCount]:
            return [
                FlowCount(
                    target, parameter, source, total, tuple(c.execute(_SELECT_FIELDS, (target, parameter, source)))
                )
                for target, parameter, source, total in c.execute(_SELECT_PAIRS, (*after, limit)).fetchall()
            ]

        return await self._database.read(read)

    async def restore(self, keys: Sequence[str], counts: Sequence[FlowCount]) -> None:
        def write(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT INTO counted VALUES (?) ON CONFLICT DO NOTHING", ((key,) for key in keys))
            connection.executemany(_SET_PAIR, ((*flow_count.sort_key, flow_count.total) for flow_count in counts))
            rows = ((*flow_count.sort_key, name, count) for flow_count in counts for name, count in flow_count.fields)
            connection.executemany(_SET_FLOW, rows)

        await self._database.write(write)

    async def close(self) -> None:
        await self._database.close()


_FIELD_CHOICE_FORMAT = SqliteFormat(
    content_name="kept fields",
    application_id=0x46504B46,  # "FPKF"
    version=1,
    tables=(
        """
        CREATE TABLE choice (
            tool TEXT NOT NULL,
            basis TEXT NOT NULL,
            kept TEXT NOT NULL,
            known TEXT NOT NULL,
            PRIMARY KEY (tool, basis)
        ) WITHOUT ROWID
        """,
    ),
    # A power cut may lose the latest choices, which are then made again.
    synchronous="NORMAL",
)
_WRITE_FIELD_CHOICE = """
INSERT INTO choice (tool, basis, kept, known) VALUES (?, ?, ?, ?)
ON CONFLICT (tool, basis) DO UPDATE SET kept = excluded.kept, known = excluded.known
"""


class SqliteFieldChoices:
    """``FieldChoiceStore`` in the file ``path``, created at the first use. Several processes may use it at once."""

    def __init__(self, path: Path, *, busy_seconds: float = 5.0) -> None:
        self._database = SqliteDatabase(path, _FIELD_CHOICE_FORMAT, busy_seconds=busy_seconds)
        self._ready = False

    async def recall(self, tool: ToolId, basis: str) -> FieldChoice | None:
        await self._ensure_setup()

        def read(connection: sqlite3.Connection) -> tuple[str, str] | None:
            select = "SELECT kept, known FROM choice WHERE tool = ? AND basis = ?"
            return cast("tuple[str, str] | None", connection.execute(select, (tool, basis)).fetchone())

        row = await self._database.read(read)
        return row and FieldChoice(tuple(orjson.loads(row[0])), tuple(orjson.loads(row[1])))

    async def keep(self, tool: ToolId, basis: str, choice: FieldChoice) -> None:
        await self._ensure_setup()
        row = (tool, basis, orjson.dumps(choice.kept).decode(), orjson.dumps(choice.known).decode())

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(_WRITE_FIELD_CHOICE, row)

        await self._database.write(write)

    async def close(self) -> None:
        await self._database.close()

    async def _ensure_setup(self) -> None:
        if not self._ready:
            await self._database.setup()
            self._ready = True
