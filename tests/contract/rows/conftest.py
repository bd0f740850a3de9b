"""Each test of this folder runs on SQLite and on PostgreSQL, on an empty database with its tables."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from server.storage.database import file_url
from server.storage.encryption import Keys
from server.storage.migrate import migrate
from server.storage.storage import Storage
from tests.servers.postgres.databases import new_database
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
def keys() -> Keys:
    return Keys(lambda: {1: b"k" * 32})


@pytest.fixture(params=["sqlite", "postgres"])
async def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    """The URL of a database without tables."""
    if request.param == "sqlite":
        yield file_url(tmp_path / "rows.db")
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    async with new_database(server) as name:
        yield server.url(name)


@pytest.fixture
async def url(empty_url: str) -> str:
    """The URL of a database with the tables and nothing in them."""
    await migrate(empty_url)
    return empty_url


@pytest.fixture
async def storage(url: str, clock: ManualClock, keys: Keys) -> AsyncIterator[Storage]:
    opened = Storage(url, keys, clock=clock)
    yield opened
    await opened.close()
