"""A world for each test, copied from one that is made once."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.server_world import World, copied, prepared, serving


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server's home with people in it."""
    return asyncio.run(prepared(tmp_path_factory.mktemp("server") / "home"))


@pytest.fixture
async def world(home: Path, tmp_path: Path) -> AsyncIterator[World]:
    """A server of the test's own, with people in it."""
    async with serving(await asyncio.to_thread(copied, home, tmp_path / "home")) as opened:
        yield opened
