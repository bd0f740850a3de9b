"""What each user has used today, of all servers on these rows. What is removed meanwhile stays counted."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Row as RowOfColumns
from sqlalchemy import delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningInsert

from domain.model import Model
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.rows.accounts import UserRow
from server.storage.rows.days import DayRow, LimitRow
from server.storage.user_limits import OwnLimits, limits_of


class Used(Model):
    """In one day (UTC). ``until``: when the next begins. ``cost``: of tokens as they were taken, None where no model asked had a price."""

    until: datetime
    runs: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None

    @property
    def tokens(self) -> int:
        """In and out."""
        return self.prompt_tokens + self.completion_tokens

    def plus(self, prompt_tokens: int, completion_tokens: int, cost: float | None = None) -> "Used":
        """With so many tokens more."""
        prompt, completion = self.prompt_tokens + prompt_tokens, self.completion_tokens + completion_tokens
        paid = self.cost if cost is None else (self.cost or 0.0) + cost
        return Used(until=self.until, runs=self.runs, prompt_tokens=prompt, completion_tokens=completion, cost=paid)


class DailyUsage:
    """Those of a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def today(self, user_id: str) -> Used:
        """What this user has used until now."""
        at = self._clock().astimezone(UTC)
        chosen = select(DayRow).where(DayRow.user_id == user_id, DayRow.day == at.date())
        row = await self._database.read(lambda session: session.scalar(chosen))
        return Used(until=next_day(at)) if row is None else used_of(row, at)

    async def today_with_limits(self, user_id: str) -> tuple[Used, OwnLimits]:
        """The same, and what of limits is the user's own."""
        at = self._clock().astimezone(UTC)
        chosen = (
            select(DayRow, LimitRow)
            .select_from(UserRow)
            .outerjoin(DayRow, (DayRow.user_id == UserRow.id) & (DayRow.day == at.date()))
            .outerjoin(LimitRow, LimitRow.user_id == UserRow.id)
            .where(UserRow.id == user_id)
        )
        found = await self._database.read(lambda session: session.execute(chosen).one_or_none())
        day, limits = found or (None, None)
        return Used(until=next_day(at)) if day is None else used_of(day, at), limits_of(limits)

    async def add(
        self,
        user_id: str,
        *,
        prompt_tokens: int,
        completion_tokens: int,
        model_calls: int = 0,
        cost: float | None = None,
    ) -> Used:
        """Count more tokens; what it comes to. Of a user who is gone nothing is counted: ``ConflictError``."""
        at = self._clock()
        tokens = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens, "model_calls": model_calls}
        return await self._database.write(lambda session: count(session, user_id, at, tokens, cost), single=True)

    async def forget(self, before: timedelta) -> None:
        """Remove the counts of days so long ago."""
        gone = delete(DayRow).where(DayRow.day < (self._clock().astimezone(UTC) - before).date())
        await self._database.write(lambda session: session.execute(gone), single=True)


def count(session: Session, user_id: str, at: datetime, more: Mapping[str, int], cost: float | None = None) -> Used:
    """Add ``more``, by the names of the columns, to the user's day, within a transaction; what it comes to. ``cost`` None: nothing had a price."""
    counted = count_statement(session, user_id, at, more, cost)
    return used_of(session.execute(counted).one(), at)


def count_statement(
    session: Session, user_id: str, at: datetime, more: Mapping[str, int], cost: float | None = None
) -> ReturningInsert[int, int, int, float | None]:
    """The statement that :func:`count` executes; it returns what :func:`used_of` reads."""
    added = {"runs": 0, "model_calls": 0, "prompt_tokens": 0, "completion_tokens": 0} | dict(more)
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    paid = {} if cost is None else {"cost": func.coalesce(DayRow.cost, 0.0) + cost}
    return (
        insert(DayRow)
        .values(user_id=user_id, day=at.astimezone(UTC).date(), cost=cost, **added)
        .on_conflict_do_update(
            index_elements=[DayRow.user_id, DayRow.day],
            set_={name: getattr(DayRow, name) + amount for name, amount in added.items()} | paid,
        )
        .returning(DayRow.runs, DayRow.prompt_tokens, DayRow.completion_tokens, DayRow.cost)
    )


def next_day(at: datetime) -> datetime:
    """When the next day (UTC) begins."""
    return at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def used_of(row: DayRow | RowOfColumns[*tuple[Any, ...]], at: datetime) -> Used:
    """What a row says, or the columns that :func:`count_statement` returns."""
    tokens = {"prompt_tokens": row.prompt_tokens, "completion_tokens": row.completion_tokens}
    return Used(until=next_day(at), runs=row.runs, cost=row.cost, **tokens)
