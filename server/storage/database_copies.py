"""The rows as one file, of one moment, while servers write: SQLite's online backup, or PostgreSQL's own pg_dump and pg_restore."""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path
from typing import Literal

from sqlalchemy import URL, inspect, make_url

from domain.errors import UnavailableError, UsageError
from server.storage.database import engine_for
from server.storage.failures import translated
from wiring.snapshot import copy_database

Kind = Literal["sqlite", "postgresql"]
_DUMPED = ("--format=custom", "--no-owner", "--no-privileges")
_RESTORED = ("--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction")


def kind_of(url: str) -> Kind:
    """What a database's URL names."""
    return "sqlite" if make_url(url).get_backend_name() == "sqlite" else "postgresql"


async def copy_rows(url: str, to: Path) -> None:
    """All rows into a new file. ``UnavailableError`` where they cannot be read, or pg_dump is not there."""
    if kind_of(url) == "sqlite":
        await asyncio.to_thread(copy_database, _file(url), to)
    else:
        await asyncio.to_thread(_with_tool, "pg_dump", make_url(url), (*_DUMPED, f"--file={to}"))


async def put_rows(url: str, copy: Path) -> None:
    """The rows of a file into an empty database; all of them, or none."""
    if kind_of(url) == "sqlite":
        part = _file(url).with_name(f"{_file(url).name}.part")
        await asyncio.to_thread(part.unlink, missing_ok=True)
        await asyncio.to_thread(copy_database, copy, part)
        await asyncio.to_thread(part.replace, _file(url))
    else:
        parsed = make_url(url)
        await asyncio.to_thread(
            _with_tool, "pg_restore", parsed, (*_RESTORED, f"--dbname={parsed.database}", str(copy))
        )


async def is_empty(url: str) -> bool:
    """Whether the database has no tables; a file that is not there has none."""
    if kind_of(url) == "sqlite" and not await asyncio.to_thread(_file(url).exists):
        return True
    engine = engine_for(url, pooled=False)
    try:
        with translated():
            async with engine.connect() as connection:
                return not await connection.run_sync(lambda plain: inspect(plain).get_table_names())
    finally:
        await engine.dispose()


def _file(url: str) -> Path:
    return Path(make_url(url).database or "")


def _with_tool(name: str, url: URL, arguments: tuple[str, ...]) -> None:
    """Run one of PostgreSQL's programs. The password goes by the environment, which nobody else sees."""
    program = shutil.which(name)
    if program is None:
        raise UnavailableError(
            f"{name} is not there: install PostgreSQL's client programs (Debian: postgresql-client), of the server's version or newer"
        )
    told = {
        "PGHOST": url.host,
        "PGPORT": url.port,
        "PGUSER": url.username,
        "PGPASSWORD": url.password,
        "PGDATABASE": url.database,
        "PGSSLMODE": url.query.get("sslmode") or url.query.get("ssl"),
    }
    environment = os.environ | {variable: str(value) for variable, value in told.items() if value}
    done = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise UnavailableError(f"{name} has failed: {said}")


def check_same_kind(url: str, kind: Kind) -> None:
    """Raises ``UsageError`` where rows of the one kind of database were to go into the other."""
    if kind_of(url) != kind:
        raise UsageError(
            f"the backup's rows are of {kind}, and FOOTPATH_DATABASE_URL names none: they go back into the kind of "
            "database that they came from"
        )
