"""Upgrades a database to the newest version of the tables, step by step, while others may be using it."""

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
    """Upgrade a database; return its version before (None where it was empty) and after.

    Raises:
        StoreVersionError: it was written by a later version of this program, or by one before the oldest step here.
        StoreBusyError: another program has been writing to it for half a minute.
        UnavailableError: it is not reachable, or may not be changed.
    """
    # In a thread with an event loop of its own: Alembic reads and runs files.
    return await asyncio.to_thread(_migrate, url)


@cache
def get_newest_version() -> str:
    """Return the newest version of the tables; reads the migrations the first time."""
    return _find_head(_load_scripts())


def _migrate(url: str) -> tuple[str | None, str]:
    script = _load_scripts()
    for _ in script.walk_revisions():
        pass  # imports the files now, outside the event loop
    engine = build_engine(url, pooled=False)
    # SQLite's busy timeout covers every lock but that of a new file's switch to WAL, so retry; nothing was written.
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
            # Two servers may start at once: on SQLite hold the write lock, on PostgreSQL an advisory lock, to the end.
            await connection.execution_options(footpath_write=True, footpath_durable=True)
            async with connection.begin():
                if engine.dialect.name == "postgresql":
                    await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
                return await connection.run_sync(_apply, script)
    finally:
        await engine.dispose()


def _apply(connection: Connection, script: ScriptDirectory) -> tuple[str | None, str]:
    current = MigrationContext.configure(connection).get_current_revision()
    goal = _find_head(script)
    if current == goal:
        return current, goal
    known = [step.revision for step in script.walk_revisions()]
    if current is not None and current < (oldest := min(known)):
        raise StoreVersionError(
            f"the database has version {current} of the tables, and this program upgrades them from {oldest} on; start an "
            "earlier Footpath once, which has the steps up to there (docs/upgrading.md), then this one"
        )
    if current is not None and current not in known:
        raise StoreVersionError(
            f"the database has version {current} of the tables, this program knows up to {goal}; update it"
        )

    def select_steps(revision: Any, _: MigrationContext) -> Any:
        # Alembic's `upgrade` command passes the same; there is no public name for it.
        return script._upgrade_revs(goal, revision)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]

    with EnvironmentContext(Config(), script, fn=select_steps, destination_rev=goal) as steps:
        steps.configure(connection=connection, target_metadata=TableRow.metadata)
        steps.run_migrations()
    return current, goal


def _load_scripts() -> ScriptDirectory:
    return ScriptDirectory(_MIGRATIONS)


def _find_head(script: ScriptDirectory) -> str:
    (head,) = script.get_heads()
    return head
