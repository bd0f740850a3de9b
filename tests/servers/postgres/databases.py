"""Databases of tests' own on a server: made when asked for, dropped after."""

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from sqlalchemy import NullPool, text
from sqlalchemy.ext.asyncio import create_async_engine

from tests.servers.postgres.server import PostgresServer


@asynccontextmanager
async def new_database(server: PostgresServer, template: str = "template1") -> AsyncGenerator[str]:
    """The name of an empty database, or of a copy."""
    name = f"test_{secrets.token_hex(6)}"
    await administer(server, f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    try:
        yield name
    finally:
        await administer(server, f'DROP DATABASE "{name}" WITH (FORCE)')


async def administer(server: PostgresServer, statement: str) -> None:
    """Run one statement as the cluster's owner."""
    engine = create_async_engine(server.url("postgres"), poolclass=NullPool, isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        await connection.execute(text(statement))
    await engine.dispose()
