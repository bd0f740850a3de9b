"""Daily use per user, the users' own limits, and reports of use."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy import Row as RowOfColumns
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningInsert

from agent.plans.cost_estimate import ModelPrice
from domain.errors import NotFoundError
from server.storage.identifiers import normalize_name
from server.storage.repository import Repository, StoredModel
from server.storage.rows.accounts import DailyUsageRow, UserLimitRow, UserRow


class OwnLimits(StoredModel):
    """A user's own limits for one day. None: the general limit applies; 0: no limit."""

    runs: int | None = None
    """Runs started in a day."""
    tokens: int | None = None
    """Prompt and completion tokens together."""
    cost: float | None = None
    """The cost of the tokens."""


NO_OWN_LIMITS = OwnLimits()


class UserLimits(Repository):
    """Stores the daily limits of single users."""

    async def get(self, user_id: str) -> OwnLimits:
        """Return a user's own limits."""
        row = await self._database.read(lambda session: session.get(UserLimitRow, user_id))
        return to_limits(row)

    async def set(self, user_id: str, limits: OwnLimits) -> None:
        """Set a user's limits, from the next run on and for the tokens of a run in progress.

        Raises:
            NotFoundError: there is no such user.
        """
        async with self._database.write_session() as session:
            if await session.get(UserRow, user_id) is None:
                raise NotFoundError("there is no such user")
            await session.merge(UserLimitRow(user_id=user_id, **limits.model_dump()))


def to_limits(row: UserLimitRow | None) -> OwnLimits:
    """Return the limits of a row."""
    return NO_OWN_LIMITS if row is None else OwnLimits(runs=row.runs, tokens=row.tokens, cost=row.cost)


class DailyTotal(StoredModel):
    """The use of one user in one day (UTC)."""

    until: datetime
    """When the next day begins."""
    runs: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """The cost of the tokens at the time; None where no model had a price."""

    @property
    def tokens(self) -> int:
        """Return prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens

    def plus(self, prompt_tokens: int, completion_tokens: int, cost: float | None = None) -> "DailyTotal":
        """Return the total with more tokens added."""
        prompt, completion = self.prompt_tokens + prompt_tokens, self.completion_tokens + completion_tokens
        total_cost = self.cost if cost is None else (self.cost or 0.0) + cost
        return DailyTotal(
            until=self.until, runs=self.runs, prompt_tokens=prompt, completion_tokens=completion, cost=total_cost
        )


class DailyUsage(Repository):
    """Counts what each user uses per day, over all servers. Deleted runs stay counted."""

    async def get_today(self, user_id: str) -> DailyTotal:
        """Return what a user has used today."""
        at = self._clock().astimezone(UTC)
        statement = select(DailyUsageRow).where(DailyUsageRow.user_id == user_id, DailyUsageRow.day == at.date())
        row = await self._database.read(lambda session: session.scalar(statement))
        return DailyTotal(until=get_next_day(at)) if row is None else to_daily_total(row, at)

    async def get_today_with_limits(self, user_id: str) -> tuple[DailyTotal, OwnLimits]:
        """Return what a user has used today, and the user's own limits."""
        at = self._clock().astimezone(UTC)
        statement = (
            select(DailyUsageRow, UserLimitRow)
            .select_from(UserRow)
            .outerjoin(DailyUsageRow, (DailyUsageRow.user_id == UserRow.id) & (DailyUsageRow.day == at.date()))
            .outerjoin(UserLimitRow, UserLimitRow.user_id == UserRow.id)
            .where(UserRow.id == user_id)
        )
        result = await self._database.read(lambda session: session.execute(statement).one_or_none())
        day, limits = result or (None, None)
        return DailyTotal(until=get_next_day(at)) if day is None else to_daily_total(day, at), to_limits(limits)

    async def add(
        self,
        user_id: str,
        *,
        prompt_tokens: int,
        completion_tokens: int,
        model_calls: int = 0,
        cost: float | None = None,
    ) -> DailyTotal:
        """Count further tokens and return the day's total.

        Raises:
            ConflictError: the user was deleted, so nothing is counted.
        """
        at = self._clock()
        tokens = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens, "model_calls": model_calls}
        return await self._database.write(lambda session: add_usage(session, user_id, at, tokens, cost), single=True)

    async def delete_old(self, before: timedelta) -> None:
        """Delete the counts of days longer ago than ``before``."""
        removal = delete(DailyUsageRow).where(DailyUsageRow.day < (self._clock().astimezone(UTC) - before).date())
        await self._database.write(lambda session: session.execute(removal), single=True)


def add_usage(
    session: Session, user_id: str, at: datetime, amounts: Mapping[str, int], cost: float | None = None
) -> DailyTotal:
    """Add amounts by column name to the user's day within a transaction, and return the day's total.

    ``cost`` is None where nothing had a price.
    """
    statement = build_usage_statement(session, user_id, at, amounts, cost)
    return to_daily_total(session.execute(statement).one(), at)


def build_usage_statement(
    session: Session, user_id: str, at: datetime, amounts: Mapping[str, int], cost: float | None = None
) -> ReturningInsert[int, int, int, float | None]:
    """Build the statement of :func:`add_usage`; it returns the columns that :func:`to_daily_total` reads."""
    increments = {"runs": 0, "model_calls": 0, "prompt_tokens": 0, "completion_tokens": 0} | dict(amounts)
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    cost_increment = {} if cost is None else {"cost": func.coalesce(DailyUsageRow.cost, 0.0) + cost}
    return (
        insert(DailyUsageRow)
        .values(user_id=user_id, day=at.astimezone(UTC).date(), cost=cost, **increments)
        .on_conflict_do_update(
            index_elements=[DailyUsageRow.user_id, DailyUsageRow.day],
            set_={name: getattr(DailyUsageRow, name) + amount for name, amount in increments.items()} | cost_increment,
        )
        .returning(DailyUsageRow.runs, DailyUsageRow.prompt_tokens, DailyUsageRow.completion_tokens, DailyUsageRow.cost)
    )


def get_next_day(at: datetime) -> datetime:
    """Return when the next day (UTC) begins."""
    return at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def to_daily_total(row: DailyUsageRow | RowOfColumns[*tuple[Any, ...]], at: datetime) -> DailyTotal:
    """Build a total from a row, or from the columns of :func:`build_usage_statement`."""
    tokens = {"prompt_tokens": row.prompt_tokens, "completion_tokens": row.completion_tokens}
    return DailyTotal(until=get_next_day(at), runs=row.runs, cost=row.cost, **tokens)


_MAX_USERS = 100


class UsageTotal(StoredModel):
    """Sums of one day, or of one user."""

    day: date | None = None
    user_id: str = ""
    name: str = ""
    runs: int
    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None


_SUM_COLUMNS: Sequence[ColumnElement[Any]] = tuple(
    func.sum(column).label(name)
    for name, column in (
        ("runs", DailyUsageRow.runs),
        ("model_calls", DailyUsageRow.model_calls),
        ("prompt_tokens", DailyUsageRow.prompt_tokens),
        ("completion_tokens", DailyUsageRow.completion_tokens),
    )
)


def _sum_cost(price: ModelPrice | None) -> ColumnElement[Any]:
    if price is None:
        return func.sum(DailyUsageRow.cost).label("cost")
    estimate = (
        DailyUsageRow.prompt_tokens * price.prompt + DailyUsageRow.completion_tokens * price.completion
    ) / 1_000_000
    return func.sum(func.coalesce(DailyUsageRow.cost, estimate)).label("cost")


class UsageReport(Repository):
    """Sums what all users have used, as far back as days are stored."""

    async def sum_by_day(self, days: int, price: ModelPrice | None = None) -> list[UsageTotal]:
        """Sum each of the last ``days`` days (UTC) with today, in order, without days of no use.

        ``price`` applies to tokens that were counted without a cost.
        """
        statement = (
            select(DailyUsageRow.day, *_SUM_COLUMNS, _sum_cost(price))
            .where(DailyUsageRow.day > self._get_first_day(days))
            .group_by(DailyUsageRow.day)
        )
        return await self._read(statement.order_by(DailyUsageRow.day))

    async def sum_by_user(self, days: int, name: str = "", price: ModelPrice | None = None) -> list[UsageTotal]:
        """Sum by user, the heaviest first, a hundred at most; ``name`` is the beginning of a user's name."""
        tokens = func.sum(DailyUsageRow.prompt_tokens + DailyUsageRow.completion_tokens)
        statement = select(DailyUsageRow.user_id, UserRow.name, *_SUM_COLUMNS, _sum_cost(price)).join(
            UserRow, UserRow.id == DailyUsageRow.user_id
        )
        statement = statement.where(DailyUsageRow.day > self._get_first_day(days)).group_by(
            DailyUsageRow.user_id, UserRow.name
        )
        if name:
            statement = statement.where(UserRow.name_key.startswith(normalize_name(name), autoescape=True))
        return await self._read(
            statement.order_by(tokens.desc(), func.sum(DailyUsageRow.runs).desc()).limit(_MAX_USERS)
        )

    def _get_first_day(self, days: int) -> date:
        return self._clock().astimezone(UTC).date() - timedelta(days=days)

    async def _read(self, statement: Any) -> list[UsageTotal]:
        rows = await self._database.read(lambda session: session.execute(statement).mappings().all())
        return [UsageTotal.model_validate({**row}) for row in rows]
