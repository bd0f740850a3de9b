"""Consistent copies of a database that is in use, and what happens to the rows of a restored one.

SQLite is copied by its online backup, PostgreSQL by pg_dump and pg_restore.
"""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import URL, NullPool, create_engine, delete, func, insert, inspect, make_url, select, update
from sqlalchemy.orm import Session

from domain.errors import UnavailableError, UsageError
from domain.event import EventRecord, RunFinished
from domain.usage import Usage
from server.storage.database import Database, build_engine, translate_errors
from server.storage.rows.accounts import SessionRow
from server.storage.rows.administration import AuditRow, JobRow
from server.storage.rows.runs import EventRow, RunRow
from wiring.snapshot import copy_database

DatabaseKind = Literal["sqlite", "postgresql"]
_DUMP_OPTIONS = ("--format=custom", "--no-owner", "--no-privileges")
_RESTORE_OPTIONS = ("--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction")


def get_database_kind(url: str) -> DatabaseKind:
    """Return the kind of database that a URL names."""
    return "sqlite" if make_url(url).get_backend_name() == "sqlite" else "postgresql"


async def copy_rows(url: str, to: Path) -> None:
    """Copy all rows into a new file.

    Raises:
        UnavailableError: the rows cannot be read, or pg_dump is not installed.
    """
    if get_database_kind(url) == "sqlite":
        await asyncio.to_thread(copy_database, _get_sqlite_path(url), to)
    else:
        await asyncio.to_thread(_run_postgres_program, "pg_dump", make_url(url), (*_DUMP_OPTIONS, f"--file={to}"))


async def restore_rows(url: str, copy: Path) -> None:
    """Load the rows of a file into an empty database; all of them or none."""
    if get_database_kind(url) == "sqlite":
        part = _get_sqlite_path(url).with_name(f"{_get_sqlite_path(url).name}.part")
        await asyncio.to_thread(part.unlink, missing_ok=True)
        await asyncio.to_thread(copy_database, copy, part)
        await asyncio.to_thread(part.replace, _get_sqlite_path(url))
    else:
        parsed = make_url(url)
        await asyncio.to_thread(
            _run_postgres_program, "pg_restore", parsed, (*_RESTORE_OPTIONS, f"--dbname={parsed.database}", str(copy))
        )


async def is_empty(url: str) -> bool:
    """Return whether the database has no tables. An SQLite file that does not exist counts as empty."""
    if get_database_kind(url) == "sqlite" and not await asyncio.to_thread(_get_sqlite_path(url).exists):
        return True
    engine = build_engine(url, pooled=False)
    try:
        with translate_errors():
            async with engine.connect() as connection:
                return not await connection.run_sync(lambda plain: inspect(plain).get_table_names())
    finally:
        await engine.dispose()


def _get_sqlite_path(url: str) -> Path:
    return Path(make_url(url).database or "")


def _run_postgres_program(name: str, url: URL, arguments: tuple[str, ...]) -> None:
    """Run one of PostgreSQL's programs. The password is passed in the environment, which other users cannot read."""
    program = shutil.which(name)
    if program is None:
        raise UnavailableError(
            f"{name} is not there: install PostgreSQL's client programs (Debian: postgresql-client), of the server's version or newer"
        )
    variables = {
        "PGHOST": url.host,
        "PGPORT": url.port,
        "PGUSER": url.username,
        "PGPASSWORD": url.password,
        "PGDATABASE": url.database,
        "PGSSLMODE": url.query.get("sslmode") or url.query.get("ssl"),
    }
    environment = os.environ | {variable: str(value) for variable, value in variables.items() if value}
    process = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if process.returncode:
        message = (process.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise UnavailableError(f"{name} has failed: {message}")


def check_same_kind(url: str, kind: DatabaseKind) -> None:
    """Refuse to load rows of one kind of database into the other.

    Raises:
        UsageError: the kinds differ.
    """
    if get_database_kind(url) != kind:
        raise UsageError(
            f"the backup's rows are of {kind}, and FOOTPATH_DATABASE_URL names none: they go back into the kind of "
            "database that they came from"
        )


_BATCH_SIZE = 500
"""Audit entries copied by one statement."""
_FAIL_OPEN_JOBS = (
    update(JobRow)
    .where(JobRow.finished_at.is_(None))
    .values(
        state="failed",
        slot=None,
        worker=None,
        lease_until=None,
        trouble="restored: it was under way when the backup was made",
    )
)


async def end_unfinished_work(database: Database, backed_up: datetime) -> int:
    """End unfinished runs and jobs and all sessions; return the number of runs.

    A run may have made changes after the backup that these rows do not record: resumed, it would make them again. A
    session may have been revoked since, because its token was stolen.
    """
    at = datetime.now(UTC)

    def settle(session: Session) -> int:
        ended = update(SessionRow).where(SessionRow.revoked_at.is_(None))
        session.execute(ended.values(revoked_at=at, revoked_why="restored from a backup"))
        rows = session.scalars(select(RunRow).where(RunRow.status != "finished")).all()
        for row in rows:
            _end_run(session, row, at, backed_up)
        session.execute(_FAIL_OPEN_JOBS.values(finished_at=at))
        return len(rows)

    return await database.write(settle, durable=True)


async def carry_over_audit_log(database: Database, before: Path) -> int:
    """Copy a server's audit entries into its restored rows; return how many of them the backup did not have.

    A restore neither removes nor changes an entry: where both have it, the server's own wins. ``before`` is the
    SQLite file that was set aside.
    """

    def carry_over(session: Session) -> int:
        added = 0
        for rows in _read_audit_rows(before):
            existing = AuditRow.id.in_([row["id"] for row in rows])
            added += len(rows) - (session.scalar(select(func.count()).select_from(AuditRow).where(existing)) or 0)
            session.execute(delete(AuditRow).where(existing))
            session.execute(insert(AuditRow), rows)
        return added

    return await database.write(carry_over, durable=True)


def _read_audit_rows(file: Path) -> Iterator[list[dict[str, Any]]]:
    """Yield the entries of a file in batches.

    A file of an earlier version may have fewer columns, or no audit log at all.
    """
    if not file.is_file():
        return
    engine = create_engine(f"sqlite:///{file}", poolclass=NullPool)
    try:
        with engine.connect() as connection:
            inspector = inspect(connection)
            if AuditRow.__tablename__ not in inspector.get_table_names():
                return
            existing = {column["name"] for column in inspector.get_columns(AuditRow.__tablename__)}
            columns = [column for column in AuditRow.__table__.columns if column.name in existing]
            for rows in connection.execute(select(*columns)).mappings().partitions(_BATCH_SIZE):
                yield [dict(row) for row in rows]
    finally:
        engine.dispose()


def _end_run(session: Session, row: RunRow, at: datetime, backed_up: datetime) -> None:
    last = session.scalar(select(func.max(EventRow.seq)).where(EventRow.run_id == row.id)) or 0
    error = (
        f"restored: the server was restored from a backup of {backed_up:%Y-%m-%d %H:%M} UTC, and what this run did after "
        "that is not known; look at what it was to change, then ask again"
    )
    end = RunFinished(outcome="failed", answer="", usage=Usage(), error=error)
    stored_end = session.scalar(select(EventRow).where(EventRow.run_id == row.id, EventRow.kind == end.kind))
    if stored_end is not None:  # the event was stored before the backup, the row would have been updated after it
        event = EventRecord.model_validate_json(stored_end.body).event
        end = event if isinstance(event, RunFinished) else end
    else:
        record = EventRecord(run=row.id, seq=last + 1, at=at, event=end)
        session.add(EventRow(run_id=row.id, seq=record.seq, kind=end.kind, body=record.model_dump_json()))
    row.status, row.outcome, row.finished_at = "finished", end.outcome, at
    row.usage, row.worker, row.lease_until = end.usage.model_dump(mode="json"), None, None
