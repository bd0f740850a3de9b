"""Brings a database's tables up to date, step by step. Safe where several servers start at once: one does it, the others wait."""

import asyncio
import time
from functools import cache
from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncEngine

from domain.errors import StoreBusyError, StoreVersionError
from server.storage.database import BUSY_SECONDS, build_engine, translate_errors
from server.storage.rows import TableRow

_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x466F6F74706174  # "Footpat" in ASCII: our lock among others of the same PostgreSQL database


async def migrate(url: str) -> tuple[str | None, str]:
    """Bring the database up to date; its version before (None: it was empty) and after.

    Raises:
        StoreVersionError: it was written by a later version of this program.
        StoreBusyError: another program has written to it for half a minute.
        UnavailableError: it is not reached, or may not be changed.
    """
    # In a thread, with an event loop of its own: steps are files, which are read and run.
    return await asyncio.to_thread(_migrate, url)


@cache
def get_newest_version() -> str:
    """The version that this program's tables have; reads files the first time."""
    return _find_head(_load_scripts())


def _migrate(url: str) -> tuple[str | None, str]:
    script = _load_scripts()
    for _ in script.walk_revisions():
        pass  # reads the files now, outside the event loop
    engine = build_engine(url, pooled=False)
    # SQLite waits for every lock but that of a new file's change to WAL. What was begun until then is undone.
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            with translate_errors():
                return asyncio.run(_upgrade(engine, script))
        except StoreBusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


async def _upgrade(engine: AsyncEngine, script: ScriptDirectory) -> tuple[str | None, str]:
    try:
        async with engine.connect() as connection:
            # On SQLite the write lock, on PostgreSQL a lock of our own, held to the end of the transaction.
            await connection.execution_options(footpath_write=True, footpath_durable=True)
            async with connection.begin():
                if engine.dialect.name == "postgresql":
                    await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
                return await connection.run_sync(_apply, script)
    finally:
        await engine.dispose()


def _apply(connection: Connection, script: ScriptDirectory) -> tuple[str | None, str]:
    found = MigrationContext.configure(connection).get_current_revision()
    goal = _find_head(script)
    if found == goal:
        return found, goal
    if found is not None and found not in {one.revision for one in script.walk_revisions()}:
        raise StoreVersionError(
            f"the database has version {found} of the tables, this program knows up to {goal}; update it"
        )

    def steps_to_goal(revision: Any, _: MigrationContext) -> Any:
        # What Alembic's own `upgrade` command gives it; there is no public name for it.
        return script._upgrade_revs(goal, revision)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]

    with EnvironmentContext(Config(), script, fn=steps_to_goal, destination_rev=goal) as steps:
        steps.configure(connection=connection, target_metadata=TableRow.metadata)
        steps.run_migrations()
    return found, goal


def _load_scripts() -> ScriptDirectory:
    return ScriptDirectory(_MIGRATIONS)


def _find_head(script: ScriptDirectory) -> str:
    (head,) = script.get_heads()
    return head
