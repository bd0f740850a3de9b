"""Each test of this folder runs on SQLite and on PostgreSQL, on an empty database with its tables."""

import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from server.storage.database import build_sqlite_url
from server.storage.encryption import Keyring
from server.storage.migration import migrate
from server.storage.storage import Storage
from tests.servers.postgres.databases import administer, new_database
from tests.servers.postgres.server import PostgresServer


class ManualClock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.at = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def on(self, **by: float) -> None:
        self.at += timedelta(**by)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def keys() -> Keyring:
    return Keyring(lambda: {1: b"k" * 32})


@pytest.fixture(params=["sqlite", "postgres"])
def database_kind(request: pytest.FixtureRequest) -> str:
    """Of the database."""
    return request.param


@pytest.fixture
async def empty_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    """The URL of a database without tables."""
    if database_kind == "sqlite":
        yield build_sqlite_url(tmp_path / "rows.db")
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    async with new_database(server) as name:
        yield server.url(name)


@pytest.fixture(scope="session")
def with_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what is copied: the file of a database with the tables and nothing in them, and the name of such a one of PostgreSQL's."""
    return tmp_path_factory.mktemp("with_tables")


@pytest.fixture
async def url(
    database_kind: str, request: pytest.FixtureRequest, tmp_path: Path, with_tables: Path
) -> AsyncIterator[str]:
    """The URL of a database with the tables and nothing in them: a copy, since making them anew takes longer than most tests."""
    if database_kind == "sqlite":
        made = with_tables / "rows.db"
        if not made.exists():
            await migrate(build_sqlite_url(made))
        yield build_sqlite_url(Path(shutil.copyfile(made, tmp_path / "rows.db")))
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    template = with_tables.name
    if not (noted := with_tables / database_kind).exists():
        await administer(server, f'CREATE DATABASE "{template}"')
        await migrate(server.url(template))
        noted.touch()
    async with new_database(server, template) as name:
        yield server.url(name)


@pytest.fixture
async def storage(url: str, clock: ManualClock, keys: Keyring) -> AsyncIterator[Storage]:
    opened = Storage(url, keys, clock=clock)
    yield opened
    await opened.close()
