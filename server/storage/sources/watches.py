"""Sources that are read again by themselves: when they are due, and which server does it."""

from datetime import timedelta

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from domain.tool import STDIO
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.rows.sources import SourceRow


class SourceWatches:
    """Sources that are read again by themselves. Of several servers one does it."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def claim(self, lease: timedelta, limit: int = 1) -> list[str]:
        """Take sources that are due; no two get the same. What is not :meth:`done` when the lease ends is due again."""
        at = self._clock()
        due = (SourceRow.watch_at <= at) & SourceRow.removed_at.is_(None)
        chosen = (
            select(SourceRow.id).where(due).order_by(SourceRow.watch_at).limit(limit).with_for_update(skip_locked=True)
        )

        def claimed(session: Session) -> list[str]:
            ids = list(session.scalars(chosen))
            session.execute(update(SourceRow).where(SourceRow.id.in_(ids)).values(watch_at=at + lease))
            return ids

        return await self._database.write(claimed)

    async def done(self, source_id: str, pause: float) -> None:
        """It is due again after ``pause`` times the minutes of its watch; never where these are none."""

        def put(session: Session) -> None:
            row = session.get(SourceRow, source_id)
            if row is not None:
                minutes = timedelta(minutes=row.watch_minutes * pause)
                row.watch_at = self._clock() + minutes if row.watch_minutes and row.removed_at is None else None

        await self._database.write(put)

    async def hurry(self, url: str, pause: timedelta) -> None:
        """The sources of the MCP server at this address, or of this command, are due after ``pause``, if they are not before."""
        at = self._clock() + pause
        command = url.removeprefix(STDIO) if url.startswith(STDIO) else ""
        same = (SourceRow.command == command) if command else (SourceRow.address == url)
        later = SourceRow.watch_at.is_(None) | (SourceRow.watch_at > at)
        due = update(SourceRow).where(same & later & (SourceRow.kind == "mcp") & SourceRow.removed_at.is_(None))
        await self._database.write(lambda session: session.execute(due.values(watch_at=at)))

    async def read(self, source_id: str, trouble: str) -> None:
        """It was read again and says the same, or could not be read: why."""
        values = {"trouble": trouble} | ({} if trouble else {"read_at": self._clock()})
        told = update(SourceRow).where(SourceRow.id == source_id).values(values)
        await self._database.write(lambda session: session.execute(told))
