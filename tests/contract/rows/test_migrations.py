"""The tables as the steps make them are those that the rows describe, whoever makes them and how often."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text

from domain.errors import StoreVersionError, UnavailableError
from server.storage.database import engine_for, file_url
from server.storage.migrate import migrate, newest
from server.storage.rows import Row
from server.storage.sealing import Keys
from server.storage.storage import Storage


async def within(url: str, work: Any) -> Any:
    engine = engine_for(url, pooled=False)
    try:
        async with engine.connect() as connection:
            await connection.execution_options(footpath_write=True)
            async with connection.begin():
                return await connection.run_sync(work)
    finally:
        await engine.dispose()


async def test_the_steps_make_what_the_rows_describe(url: str) -> None:
    def differences(connection: Connection) -> list[Any]:
        return compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), Row.metadata)

    assert await within(url, differences) == []


async def test_several_at_once_do_it_once(empty_url: str) -> None:
    done = await asyncio.gather(*(migrate(empty_url) for _ in range(4)))
    goal = await asyncio.to_thread(newest)
    assert sorted(done, key=str) == [*[(goal, goal)] * 3, (None, goal)]


async def test_waits_for_who_makes_the_same_new_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.db"
    other = await asyncio.to_thread(sqlite3.connect, path, isolation_level=None, check_same_thread=False)
    try:
        await asyncio.to_thread(other.execute, "BEGIN IMMEDIATE")
        waiting = asyncio.create_task(migrate(file_url(path)))
        done, _ = await asyncio.wait([waiting], timeout=0.5)
        assert not done
        await asyncio.to_thread(other.execute, "COMMIT")
        assert await waiting == (None, await asyncio.to_thread(newest))
    finally:
        await asyncio.to_thread(other.close)


async def test_a_later_programs_database_is_left_alone(url: str, keys: Keys) -> None:
    def pretend(connection: Connection) -> None:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))

    await within(url, pretend)
    with pytest.raises(StoreVersionError, match="9999"):
        await migrate(url)
    storage = Storage(url, keys)
    with pytest.raises(UnavailableError, match="9999"):
        await storage.check()
    await storage.close()


async def test_a_database_without_tables_is_not_ready(empty_url: str, keys: Keys) -> None:
    storage = Storage(empty_url, keys)
    with pytest.raises(UnavailableError):
        await storage.check()
    await migrate(empty_url)
    await storage.check()
    await storage.close()
