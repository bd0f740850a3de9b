"""Rows that come out of a backup: what was under way then is not gone on with, and nobody is still logged in."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import NullPool, create_engine, delete, func, insert, inspect, select, update
from sqlalchemy.orm import Session

from domain.event import EventRecord, RunFinished
from domain.usage import Usage
from server.storage.database import Database
from server.storage.rows.accounts import SessionRow
from server.storage.rows.audit import AuditRow
from server.storage.rows.jobs import JobRow
from server.storage.rows.runs import EventRow, RunRow

_AT_ONCE = 500
"""Entries that are carried over by one statement."""
_OPEN_JOBS = (
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


async def settle(database: Database, backed_up: datetime) -> int:
    """End the runs and jobs that had not ended, and all sessions; how many runs.

    A run may have made changes after the backup of which these rows know nothing: gone on with, it would make them again. A session
    may have been ended since, because somebody else had its token.
    """
    at = datetime.now(UTC)

    def settled(session: Session) -> int:
        ended = update(SessionRow).where(SessionRow.revoked_at.is_(None))
        session.execute(ended.values(revoked_at=at, revoked_why="restored from a backup"))
        rows = session.scalars(select(RunRow).where(RunRow.status != "finished")).all()
        for row in rows:
            _end(session, row, at, backed_up)
        session.execute(_OPEN_JOBS.values(finished_at=at))
        return len(rows)

    return await database.write(settled, durable=True)


async def carry_over_audit(database: Database, before: Path) -> int:
    """Put the entries of the audit log that a server had into its restored rows; how many of them the backup did not have.

    No restore takes an entry away or changes one: where both have it, the server's own counts. ``before``: the SQLite file that was set aside.
    """

    def carried(session: Session) -> int:
        added = 0
        for rows in _audit_rows(before):
            same = AuditRow.id.in_([row["id"] for row in rows])
            added += len(rows) - (session.scalar(select(func.count()).select_from(AuditRow).where(same)) or 0)
            session.execute(delete(AuditRow).where(same))
            session.execute(insert(AuditRow), rows)
        return added

    return await database.write(carried, durable=True)


def _audit_rows(file: Path) -> Iterator[list[dict[str, Any]]]:
    """The entries of a file, some at a time. One of an earlier version has fewer columns, and none of before there was an audit log."""
    if not file.is_file():
        return
    engine = create_engine(f"sqlite:///{file}", poolclass=NullPool)
    try:
        with engine.connect() as connection:
            found = inspect(connection)
            if AuditRow.__tablename__ not in found.get_table_names():
                return
            there = {one["name"] for one in found.get_columns(AuditRow.__tablename__)}
            columns = [column for column in AuditRow.__table__.columns if column.name in there]
            for rows in connection.execute(select(*columns)).mappings().partitions(_AT_ONCE):
                yield [dict(row) for row in rows]
    finally:
        engine.dispose()


def _end(session: Session, row: RunRow, at: datetime, backed_up: datetime) -> None:
    last = session.scalar(select(func.max(EventRow.seq)).where(EventRow.run_id == row.id)) or 0
    why = (
        f"restored: the server was restored from a backup of {backed_up:%Y-%m-%d %H:%M} UTC, and what this run did after "
        "that is not known; look at what it was to change, then ask again"
    )
    end = RunFinished(outcome="failed", answer="", usage=Usage(), error=why)
    told = session.scalar(select(EventRow).where(EventRow.run_id == row.id, EventRow.kind == end.kind))
    if told is not None:  # its end was told, and only its row lacked it
        event = EventRecord.model_validate_json(told.body).event
        end = event if isinstance(event, RunFinished) else end
    else:
        record = EventRecord(run=row.id, seq=last + 1, at=at, event=end)
        session.add(EventRow(run_id=row.id, seq=record.seq, kind=end.kind, body=record.model_dump_json()))
    row.status, row.outcome, row.finished_at = "finished", end.outcome, at
    row.usage, row.worker, row.lease_until = end.usage.model_dump(mode="json"), None, None
