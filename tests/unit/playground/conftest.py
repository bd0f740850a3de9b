"""A client of a playground as if just started."""

from collections.abc import AsyncIterator
from functools import cache

import httpx
import pytest
from fastapi import FastAPI

from playground.application import create_app
from playground.state import attach
from tests.unit.playground.asking import client_of


@cache
def application() -> FastAPI:
    """One for all tests: making it takes longer than a test."""
    return create_app()


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    attach(application())
    async with client_of(application()) as client:
        yield client
