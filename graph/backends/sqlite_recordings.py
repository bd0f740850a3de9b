"""Recorded calls in one SQLite file, with one compressed row for each tool and imported batch.

Responses of one tool resemble one another, so they compress far better together than one by one, and readers always
need all calls of a tool.
"""

import sqlite3
import zlib
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path

import orjson

from domain.errors import UsageError
from domain.tool import ToolId
from domain.trajectory import RecordedCall, RecordedOutcome
from graph.backends.sqlite_database import SqliteDatabase, SqliteFormat

# ToolBench's 131,586 calls: 55 MB uncompressed, 9.5 MB at level 1 in equal time, 8.3 MB at level 6 in twice the time.
_COMPRESSION_LEVEL = 1

_FORMAT = SqliteFormat(
    content_name="recordings",
    application_id=0x46505243,  # "FPRC"
    version=1,
    tables=(
        "CREATE TABLE batch (num INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, calls INTEGER NOT NULL)",
        """
        CREATE TABLE recording (
            tool TEXT NOT NULL,
            batch INTEGER NOT NULL REFERENCES batch,
            body BLOB NOT NULL,
            PRIMARY KEY (tool, batch)
        )
        """,
    ),
    # A power cut may undo the latest batches with their keys, but never part of one; a new build imports them again.
    synchronous="NORMAL",
)

_Row = tuple[str, str, str, str, str, str]
"""Category, tool set, function, arguments, response and outcome of a call."""


class SqliteRecordings:
    """``RecordingStore`` in the file ``path``, created by :meth:`setup`. Several processes may use it at once."""

    def __init__(self, path: Path, *, busy_seconds: float = 30.0) -> None:
        self._database = SqliteDatabase(path, _FORMAT, busy_seconds=busy_seconds)

    async def setup(self) -> None:
        await self._database.setup()

    async def add(self, key: str, calls: Sequence[tuple[ToolId, RecordedCall]]) -> bool:
        if not key:
            raise UsageError("recorded calls need a key: the hash of their source")

        def write(connection: sqlite3.Connection) -> bool:
            claim = "INSERT INTO batch (key, calls) VALUES (?, ?) ON CONFLICT DO NOTHING"
            cursor = connection.execute(claim, (key, len(calls)))
            if cursor.rowcount != 1:
                return False
            grouped = _group_by_tool(calls)
            rows = ((tool, cursor.lastrowid, _pack(grouped[tool])) for tool in sorted(grouped))
            connection.executemany("INSERT INTO recording (tool, batch, body) VALUES (?, ?, ?)", rows)
            return True

        return await self._database.write(write)

    async def forget(self, tools: Iterable[ToolId]) -> None:
        def write(connection: sqlite3.Connection) -> None:
            for tool in tools:
                rows = connection.execute("SELECT batch, body FROM recording WHERE tool = ?", (tool,)).fetchall()
                call_counts = ((len(_unpack(body)), batch) for batch, body in rows)
                connection.executemany("UPDATE batch SET calls = calls - ? WHERE num = ?", call_counts)
                connection.execute("DELETE FROM recording WHERE tool = ?", (tool,))

        await self._database.write(write)

    async def list_calls(self, tool: ToolId) -> list[RecordedCall]:
        return await self._database.read(lambda connection: _read_calls_of_tool(connection, tool))

    def read_calls(self, tool: ToolId) -> list[RecordedCall]:
        """Return the same as :meth:`list_calls`; blocks the calling thread."""
        return self._database.read_now(lambda connection: _read_calls_of_tool(connection, tool))

    async def iterate_batches(self) -> AsyncIterator[tuple[str, list[tuple[ToolId, RecordedCall]]]]:
        number = row = 0
        while batch := await self._database.read(lambda c, n=number, r=row: _read_next_batch(c, n, r)):
            number, row, key, calls = batch
            yield key, calls

    async def count(self) -> int:
        (count,) = await self._database.read(
            lambda connection: connection.execute("SELECT coalesce(sum(calls), 0) FROM batch").fetchone()
        )
        return count

    async def close(self) -> None:
        await self._database.close()


def _read_calls_of_tool(connection: sqlite3.Connection, tool: ToolId) -> list[RecordedCall]:
    rows = connection.execute("SELECT body FROM recording WHERE tool = ? ORDER BY batch", (tool,))
    return [call for (body,) in rows for call in _unpack(body)]


def _read_next_batch(
    connection: sqlite3.Connection, number: int, row: int
) -> tuple[int, int, str, list[tuple[ToolId, RecordedCall]]] | None:
    """Read the batch after ``number``; return its number, last row id, key and calls, or None after the last batch.

    A batch was written in one transaction, so its rows are consecutive: they begin after ``row``.
    """
    next_batch = connection.execute(
        "SELECT num, key FROM batch WHERE num > ? ORDER BY num LIMIT 1", (number,)
    ).fetchone()
    if next_batch is None:
        return None
    number, key = next_batch
    calls: list[tuple[ToolId, RecordedCall]] = []
    rows = connection.execute("SELECT rowid, batch, tool, body FROM recording WHERE rowid > ? ORDER BY rowid", (row,))
    for rowid, batch, tool, body in rows:
        if batch != number:
            break
        row = rowid
        calls.extend((ToolId(tool), call) for call in _unpack(body))
    return number, row, key, calls


def _group_by_tool(calls: Sequence[tuple[ToolId, RecordedCall]]) -> dict[ToolId, list[RecordedCall]]:
    grouped: dict[ToolId, list[RecordedCall]] = {}
    for tool, call in calls:
        grouped.setdefault(tool, []).append(call)
    return grouped


def _pack(calls: list[RecordedCall]) -> bytes:
    rows = [_to_row(call) for call in calls]
    try:
        packed = orjson.dumps(rows)
    except TypeError:
        # A lone surrogate, from a source that truncated a text within a character: replace it by "?".
        packed = orjson.dumps([[text.encode("utf-8", "replace").decode() for text in row] for row in rows])
    return zlib.compress(packed, _COMPRESSION_LEVEL)


def _unpack(body: bytes) -> list[RecordedCall]:
    rows: list[_Row] = orjson.loads(zlib.decompress(body))
    return [RecordedCall(*texts, outcome=RecordedOutcome(outcome)) for *texts, outcome in rows]


def _to_row(call: RecordedCall) -> _Row:
    return (call.category, call.toolset, call.function, call.arguments, call.response, call.outcome.value)
