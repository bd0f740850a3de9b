"""What PostgreSQL refuses is told in one line that says what to do, and shows no password; while it recovers, users are told to come back."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from domain.errors import FootpathError, StoreBusyError, StoreUnreachableError, UnavailableError
from server.storage.database import Database, translate_errors
from tests.servers.postgres.databases import administer, new_database
from tests.servers.postgres.server import PostgresServer
from tests.support.source_tree import ROOT

pytestmark = pytest.mark.timeout(300)
COMMANDS = (("serve.py", "--port", "0"), ("migrate.py",), ("create_user.py", "boss"), ("rotate_keys.py",))


def told(command: tuple[str, ...], url: str, home: Path) -> "subprocess.CompletedProcess[str]":
    variables = {
        "FOOTPATH_DATABASE_URL": url,
        "FOOTPATH_SERVER_HOME": str(home),
        "NEW_USER_PASSWORD": "a long password",
    }
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / command[0]), *command[1:]],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=home.parent,
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_password_is_told_in_a_line(
    postgres_server: PostgresServer, tmp_path: Path, command: tuple[str, ...]
) -> None:
    url = postgres_server.url("postgres").replace(postgres_server.password, "hunter2")
    done = told(command, url, tmp_path / "home")
    assert done.returncode == 3, done.stderr
    assert done.stderr.strip().count("\n") == 0, done.stderr
    assert "check user and password in FOOTPATH_DATABASE_URL" in done.stderr
    assert "hunter2" not in done.stderr


@pytest.mark.parametrize(
    ("rest", "code", "says"),
    [
        ("nothere", 3, 'database "nothere" does not exist); make it (createdb)'),
        ("postgres?sslmode=maybe", 2, "sslmode is one of disable, allow, prefer"),
        ("postgres?bogus=1", 2, "nothing is known of ?bogus="),
        ("postgres?sslmode=require", 3, "SSL"),
    ],
)
def test_a_wrong_address_is_told_in_a_line(
    postgres_server: PostgresServer, tmp_path: Path, rest: str, code: int, says: str
) -> None:
    done = told(("migrate.py",), postgres_server.url(rest), tmp_path / "home")
    assert (done.returncode, done.stderr.strip().count("\n")) == (code, 0), done.stderr
    assert says in done.stderr
    assert postgres_server.password not in done.stderr


async def test_sslmode_is_taken(postgres_server: PostgresServer) -> None:
    async with new_database(postgres_server) as name:
        for mode in ("disable", "prefer"):
            database = Database(f"{postgres_server.url(name)}?sslmode={mode}")
            async with database.read_session() as session:
                assert await session.scalar(text("SELECT 1")) == 1
            await database.close()


async def test_a_connection_that_the_server_ends_passes(postgres_server: PostgresServer) -> None:
    """As in a restart: what was asked is told to be asked again, and the next question is answered."""
    async with new_database(postgres_server) as name:
        database = Database(postgres_server.url(name))

        async def slow() -> None:
            async with database.read_session() as session:
                await session.execute(text("SELECT pg_sleep(20)"))

        asked = asyncio.create_task(slow())
        await asyncio.sleep(0.5)
        end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'"
        await administer(postgres_server, end.format(name))
        with pytest.raises(StoreUnreachableError):
            await asked
        async with database.read_session() as session:
            assert await session.scalar(text("SELECT 1")) == 1
        await database.close()


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("57P03", StoreUnreachableError),  # it starts, or recovers
        ("53300", StoreUnreachableError),  # too many connections
        ("40P01", StoreBusyError),
        ("25006", UnavailableError),
    ],
)
def test_states_of_a_postgres_server_that_cannot_be_made_here(state: str, kind: type[FootpathError]) -> None:
    class SaidError(Exception):
        sqlstate = state

    with pytest.raises(kind) as raised, translate_errors():
        raise DBAPIError(
            "SELECT", None, SaidError("<class 'asyncpg.exceptions.Some'>: the database system is starting up")
        )
    assert type(raised.value) is kind
    assert "asyncpg" not in str(raised.value)
