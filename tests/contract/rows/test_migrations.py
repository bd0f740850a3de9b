"""The tables as the steps make them are those that the rows describe, whoever makes them and how often."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from domain.errors import StoreVersionError, UnavailableError
from server.storage import migrations as storage_steps
from server.storage.database import build_engine, build_sqlite_url
from server.storage.encryption import Keyring
from server.storage.migration import get_newest_version, migrate
from server.storage.rows import TableRow
from server.storage.storage import Storage

STEPS = Path(storage_steps.__file__).parent


async def within(url: str, work: Any) -> Any:
    engine = build_engine(url, pooled=False)
    try:
        async with engine.connect() as connection:
            await connection.execution_options(footpath_write=True)
            async with connection.begin():
                return await connection.run_sync(work)
    finally:
        await engine.dispose()


async def test_the_steps_make_what_the_rows_describe(url: str) -> None:
    def differences(connection: Connection) -> list[Any]:
        return compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), TableRow.metadata)

    assert await within(url, differences) == []


async def test_several_at_once_do_it_once(empty_url: str) -> None:
    done = await asyncio.gather(*(migrate(empty_url) for _ in range(4)))
    goal = await asyncio.to_thread(get_newest_version)
    assert sorted(done, key=str) == [*[(goal, goal)] * 3, (None, goal)]


async def test_waits_for_who_makes_the_same_new_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.db"
    other = await asyncio.to_thread(sqlite3.connect, path, isolation_level=None, check_same_thread=False)
    try:
        await asyncio.to_thread(other.execute, "BEGIN IMMEDIATE")
        waiting = asyncio.create_task(migrate(build_sqlite_url(path)))
        done, _ = await asyncio.wait([waiting], timeout=0.5)
        assert not done
        await asyncio.to_thread(other.execute, "COMMIT")
        assert await waiting == (None, await asyncio.to_thread(get_newest_version))
    finally:
        await asyncio.to_thread(other.close)


async def test_a_later_programs_database_is_left_alone(url: str, keys: Keyring) -> None:
    def pretend(connection: Connection) -> None:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))

    await within(url, pretend)
    with pytest.raises(StoreVersionError, match="9999"):
        await migrate(url)
    storage = Storage(url, keys)
    with pytest.raises(UnavailableError, match="9999"):
        await storage.check()
    await storage.close()


async def test_a_database_without_tables_is_not_ready(empty_url: str, keys: Keyring) -> None:
    storage = Storage(empty_url, keys)
    with pytest.raises(UnavailableError):
        await storage.check()
    await migrate(empty_url)
    await storage.check()
    await storage.close()


async def test_a_database_from_before_the_baseline_is_refused_and_stays_as_it_is(empty_url: str, keys: Keyring) -> None:
    def pretend(connection: Connection) -> None:
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('0017')"))
        connection.execute(text("CREATE TABLE users (id TEXT PRIMARY KEY)"))

    def read(connection: Connection) -> set[str]:
        return set(inspect(connection).get_table_names())

    await within(empty_url, pretend)
    with pytest.raises(StoreVersionError, match=r"version 0017 .* from 0024 on"):
        await migrate(empty_url)
    assert await within(empty_url, read) == {"alembic_version", "users"}


async def test_each_step_leaves_what_servers_of_the_version_before_work_with(empty_url: str) -> None:
    """They go on while newer ones start: each column of theirs stays, and a row without the new columns can be written."""

    def walk(connection: Connection) -> None:
        before: dict[str, set[str]] = {}
        for step in reversed([*ScriptDirectory(str(STEPS)).walk_revisions()]):
            _upgrade(connection, step.revision)
            seen = inspect(connection)
            columns = {table: {one["name"]: one for one in seen.get_columns(table)} for table in seen.get_table_names()}
            for table, names in before.items():
                assert names <= columns.get(table, {}).keys(), f"step {step.revision} takes something from {table}"
                for name in columns[table].keys() - names:
                    added = columns[table][name]
                    assert added["nullable"] or added["default"] is not None, f"step {step.revision}: {table}.{name}"
            before = {table: set(of_table) for table, of_table in columns.items()}

    await within(empty_url, walk)


def _upgrade(connection: Connection, goal: str) -> None:
    script = ScriptDirectory(str(STEPS))

    def steps_to_goal(revision: Any, _: MigrationContext) -> Any:
        return script._upgrade_revs(goal, revision)  # pyright: ignore[reportPrivateUsage]  # as migrate.py does

    with EnvironmentContext(Config(), script, fn=steps_to_goal) as steps:
        steps.configure(connection=connection, target_metadata=TableRow.metadata)
        steps.run_migrations()
