"""Choices of response fields in one SQLite file, with a row for each tool and basis."""

import sqlite3
from pathlib import Path
from typing import cast

import orjson

from domain.tool import ToolId
from graph.backends.sqlite_database import Database, Format
from graph.field_choices import FieldChoice

_FORMAT = Format(
    what="kept fields",
    application=0x46504B46,  # "FPKF"
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
_KEEP = """
INSERT INTO choice (tool, basis, kept, known) VALUES (?, ?, ?, ?)
ON CONFLICT (tool, basis) DO UPDATE SET kept = excluded.kept, known = excluded.known
"""


class SqliteKeptFields:
    """``FieldChoiceStore`` in the file ``path``, created at the first use. Several processes may use it at once."""

    def __init__(self, path: Path, *, busy_seconds: float = 5.0) -> None:
        self._database = Database(path, _FORMAT, busy_seconds=busy_seconds)
        self._ready = False

    async def recall(self, tool: ToolId, basis: str) -> FieldChoice | None:
        await self._setup()

        def read(connection: sqlite3.Connection) -> tuple[str, str] | None:
            select = "SELECT kept, known FROM choice WHERE tool = ? AND basis = ?"
            return cast("tuple[str, str] | None", connection.execute(select, (tool, basis)).fetchone())

        row = await self._database.read(read)
        return row and FieldChoice(tuple(orjson.loads(row[0])), tuple(orjson.loads(row[1])))

    async def keep(self, tool: ToolId, basis: str, choice: FieldChoice) -> None:
        await self._setup()
        row = (tool, basis, orjson.dumps(choice.kept).decode(), orjson.dumps(choice.known).decode())

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(_KEEP, row)

        await self._database.write(write)

    async def close(self) -> None:
        await self._database.close()

    async def _setup(self) -> None:
        if not self._ready:
            await self._database.setup()
            self._ready = True
