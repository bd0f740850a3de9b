"""Calls that users try by hand: each is written down before it is made, on the disk, and its end after it."""

from datetime import datetime

from sqlalchemy import delete, select, update

from domain.errors import ConflictError
from domain.model import JsonObject, Model
from domain.plan import CallOutcome
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.row_ids import new_id
from server.storage.rows.library import ToolTryRow

KEPT = 200
"""Of one user's tries, the newest so many are kept; one whose end nobody knows stays."""


class TryEnd(Model):
    """How it ended. ``response``: what is kept of the answer, ``whole``: how many characters that had."""

    outcome: CallOutcome | None = None
    http_status: int | None = None
    response: str = ""
    whole: int = 0
    note: str = ""
    milliseconds: int = 0


class ToolTry(TryEnd):
    """``finished_at`` None: it was begun, and nobody knows how it ended; ``outcome`` None of one that has ended: nothing was sent."""

    id: str
    tool: str
    arguments: JsonObject
    changes: bool
    started_at: datetime
    finished_at: datetime | None


class ToolTries:
    """Those of a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def begin(
        self, user_id: str, tool: str, arguments: JsonObject, *, changes: bool, key: str | None = None
    ) -> tuple[str, bool]:
        """Write it down, on the disk when this returns: its id, and whether it is to be made. Of the user's older ones those go that are too many.

        One that this user has begun under this ``key`` is not: its id is told. ``ConflictError``: that was another call.
        """
        row = ToolTryRow(
            id=new_id(), user_id=user_id, tool=tool, arguments=arguments, changes=changes, started_at=self._clock(),
            finished_at=None, key=key, **TryEnd().model_dump(),
        )  # fmt: skip
        try:
            there = await self._put(row)
        except ConflictError:  # another one of this key was written at this very moment, unless the account is gone
            if key is None or (there := await self._named(user_id, key)) is None:
                raise
        if there is None:
            return row.id, True
        if (there.tool, there.arguments) != (tool, arguments):
            raise ConflictError("this key stands for another call that you have tried: give each call a key of its own")
        return there.id, False

    async def _put(self, row: ToolTryRow) -> ToolTryRow | None:
        """The one that is there already under its key."""
        own = ToolTryRow.user_id == row.user_id
        newest = select(ToolTryRow.id).where(own).order_by(ToolTryRow.id.desc()).limit(KEPT - 1)
        old = own & ToolTryRow.finished_at.is_not(None) & ToolTryRow.id.not_in(newest)
        async with self._database.writing(durable=True) as session:
            if row.key is not None:
                there = await session.scalar(select(ToolTryRow).where(own, ToolTryRow.key == row.key))
                if there is not None:
                    return there
            await session.execute(delete(ToolTryRow).where(old), execution_options={"synchronize_session": False})
            session.add(row)
        return None

    async def _named(self, user_id: str, key: str) -> ToolTryRow | None:
        async with self._database.reading() as session:
            return await session.scalar(select(ToolTryRow).where(ToolTryRow.user_id == user_id, ToolTryRow.key == key))

    async def finish(self, try_id: str, end: TryEnd) -> None:
        """Write down how it ended, once."""
        chosen = (ToolTryRow.id == try_id) & ToolTryRow.finished_at.is_(None)
        ended = update(ToolTryRow).where(chosen).values(finished_at=self._clock(), **end.model_dump())
        async with self._database.writing(durable=True, single=True) as session:
            await session.execute(ended)

    async def get(self, user_id: str, try_id: str) -> ToolTry | None:
        """One of this user's."""
        async with self._database.reading() as session:
            row = await session.get(ToolTryRow, try_id)
            return _shown(row) if row is not None and row.user_id == user_id else None

    async def last(self, user_id: str, tool: str, limit: int) -> list[ToolTry]:
        """This user's of a tool, the newest first."""
        chosen = select(ToolTryRow).where(ToolTryRow.user_id == user_id, ToolTryRow.tool == tool)
        async with self._database.reading() as session:
            return [_shown(row) for row in await session.scalars(chosen.order_by(ToolTryRow.id.desc()).limit(limit))]


def _shown(row: ToolTryRow) -> ToolTry:
    return ToolTry.model_validate({name: getattr(row, name) for name in ToolTry.model_fields})
