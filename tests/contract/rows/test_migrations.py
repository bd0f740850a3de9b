"""The tables as the steps make them are those that the rows describe, whoever makes them and how often."""

import asyncio
import json
import sqlite3
from datetime import timedelta
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
from server.storage.migrate import get_newest_version, migrate
from server.storage.rows import TableRow
from server.storage.run_history import RunFilter
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


async def test_rows_of_an_earlier_version_are_still_there(empty_url: str, keys: Keyring) -> None:
    """As the first version of the tables has them: a user, a run that waits to be taken, and one that has ended."""
    await within(empty_url, _first_version)
    assert await migrate(empty_url) == ("0001", await asyncio.to_thread(get_newest_version))
    storage = Storage(empty_url, keys)
    assert [run.id for run in await storage.run_leases.claim("one", timedelta(seconds=30), 5)] == ["2"]
    assert (await storage.daily_usage.get_today("ada")).runs == 0
    ended = await storage.runs.get("1")
    assert ended is not None
    assert ended.status == "finished"
    assert [(one.tool, one.runs) for one in await storage.run_history.list_tools("ada")] == [("a/b/c", 1)]
    assert [one.calls for one in await storage.run_history.list_page("ada", RunFilter(status="finished"))] == [2]
    await storage.close()


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


def _first_version(connection: Connection) -> None:
    _upgrade(connection, "0001")
    at = "'2026-03-01 12:00:00'"
    connection.execute(
        text(
            f"INSERT INTO users (id, name, name_key, password_hash, role, created_at) VALUES ('ada','a','a','h','user',{at})"
        )
    )
    connection.execute(
        text(
            "INSERT INTO conversations (id, user_id, title, title_key, created_at, updated_at) "
            f"VALUES ('talk', 'ada', '', '', {at}, {at})"
        )
    )
    for number, status in (("1", "finished"), ("2", "queued")):
        connection.execute(
            text(
                "INSERT INTO runs (id, user_id, conversation_id, request, status, policy, planner, model, settings, plan_version, "
                f"created_at) VALUES ('{number}', 'ada', 'talk', 'why', '{status}', 'offline', 'dfs', '', '{{}}', 0, {at})"
            )
        )
    for run, seq, outcome in (("1", 1, "ok"), ("1", 2, "absent"), ("1", 3, None), ("2", 1, "ok")):
        body = json.dumps({"event": {"result": {"tool": "a/b/c", "outcome": outcome}}})
        row = {"run": run, "seq": seq, "body": body}
        connection.execute(text("INSERT INTO run_events VALUES (:run, :seq, 'call.finished', :body)"), row)
