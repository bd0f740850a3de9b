"""A client of a fresh playground."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.unit.playground.asking import opened


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with opened() as client:
        yield client
