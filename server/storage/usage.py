"""What users have used, day by day, what each may use, and reports of it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy import Row as RowOfColumns
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningInsert

from agent.plans.cost_estimate import Price
from domain.errors import NotFoundError
from domain.model import Model
from server.storage.identifiers import normalize_name
from server.storage.repository import Repository
from server.storage.rows.accounts import DailyUsageRow, UserLimitRow, UserRow


class OwnLimits(Model):
    """Of one user and day. None: as for everybody; 0: no limit."""

    runs: int | None = None
    tokens: int | None = None
    cost: float | None = None


NO_OWN_LIMITS = OwnLimits()


class UserLimits(Repository):
    """Those of a database."""

    async def get(self, user_id: str) -> OwnLimits:
        """A user's own."""
        row = await self._database.read(lambda session: session.get(UserLimitRow, user_id))
        return to_limits(row)

    async def set(self, user_id: str, limits: OwnLimits) -> None:
        """They count from the next run on, and for the tokens of one that is begun. ``NotFoundError``: there is no such user."""
        async with self._database.write_session() as session:
            if await session.get(UserRow, user_id) is None:
                raise NotFoundError("there is no such user")
            await session.merge(UserLimitRow(user_id=user_id, **limits.model_dump()))


def to_limits(row: UserLimitRow | None) -> OwnLimits:
    """What a user's row says."""
    return NO_OWN_LIMITS if row is None else OwnLimits(runs=row.runs, tokens=row.tokens, cost=row.cost)


class DailyTotal(Model):
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

    def plus(self, prompt_tokens: int, completion_tokens: int, cost: float | None = None) -> "DailyTotal":
        """With so many tokens more."""
        prompt, completion = self.prompt_tokens + prompt_tokens, self.completion_tokens + completion_tokens
        paid = self.cost if cost is None else (self.cost or 0.0) + cost
        return DailyTotal(
            until=self.until, runs=self.runs, prompt_tokens=prompt, completion_tokens=completion, cost=paid
        )


class DailyUsage(Repository):
    """Those of a database."""

    async def get_today(self, user_id: str) -> DailyTotal:
        """What this user has used until now."""
        at = self._clock().astimezone(UTC)
        chosen = select(DailyUsageRow).where(DailyUsageRow.user_id == user_id, DailyUsageRow.day == at.date())
        row = await self._database.read(lambda session: session.scalar(chosen))
        return DailyTotal(until=get_next_day(at)) if row is None else to_daily_total(row, at)

    async def get_today_with_limits(self, user_id: str) -> tuple[DailyTotal, OwnLimits]:
        """The same, and what of limits is the user's own."""
        at = self._clock().astimezone(UTC)
        chosen = (
            select(DailyUsageRow, UserLimitRow)
            .select_from(UserRow)
            .outerjoin(DailyUsageRow, (DailyUsageRow.user_id == UserRow.id) & (DailyUsageRow.day == at.date()))
            .outerjoin(UserLimitRow, UserLimitRow.user_id == UserRow.id)
            .where(UserRow.id == user_id)
        )
        found = await self._database.read(lambda session: session.execute(chosen).one_or_none())
        day, limits = found or (None, None)
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
        """Count more tokens; what it comes to. Of a user who is gone nothing is counted: ``ConflictError``."""
        at = self._clock()
        tokens = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens, "model_calls": model_calls}
        return await self._database.write(lambda session: add_usage(session, user_id, at, tokens, cost), single=True)

    async def delete_old(self, before: timedelta) -> None:
        """Remove the counts of days so long ago."""
        gone = delete(DailyUsageRow).where(DailyUsageRow.day < (self._clock().astimezone(UTC) - before).date())
        await self._database.write(lambda session: session.execute(gone), single=True)


def add_usage(
    session: Session, user_id: str, at: datetime, more: Mapping[str, int], cost: float | None = None
) -> DailyTotal:
    """Add ``more``, by the names of the columns, to the user's day, within a transaction; what it comes to. ``cost`` None: nothing had a price."""
    counted = build_usage_statement(session, user_id, at, more, cost)
    return to_daily_total(session.execute(counted).one(), at)


def build_usage_statement(
    session: Session, user_id: str, at: datetime, more: Mapping[str, int], cost: float | None = None
) -> ReturningInsert[int, int, int, float | None]:
    """The statement that :func:`count` executes; it returns what :func:`used_of` reads."""
    added = {"runs": 0, "model_calls": 0, "prompt_tokens": 0, "completion_tokens": 0} | dict(more)
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    paid = {} if cost is None else {"cost": func.coalesce(DailyUsageRow.cost, 0.0) + cost}
    return (
        insert(DailyUsageRow)
        .values(user_id=user_id, day=at.astimezone(UTC).date(), cost=cost, **added)
        .on_conflict_do_update(
            index_elements=[DailyUsageRow.user_id, DailyUsageRow.day],
            set_={name: getattr(DailyUsageRow, name) + amount for name, amount in added.items()} | paid,
        )
        .returning(DailyUsageRow.runs, DailyUsageRow.prompt_tokens, DailyUsageRow.completion_tokens, DailyUsageRow.cost)
    )


def get_next_day(at: datetime) -> datetime:
    """When the next day (UTC) begins."""
    return at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def to_daily_total(row: DailyUsageRow | RowOfColumns[*tuple[Any, ...]], at: datetime) -> DailyTotal:
    """What a row says, or the columns that :func:`count_statement` returns."""
    tokens = {"prompt_tokens": row.prompt_tokens, "completion_tokens": row.completion_tokens}
    return DailyTotal(until=get_next_day(at), runs=row.runs, cost=row.cost, **tokens)


_MAX_USERS = 100


class UsageTotal(Model):
    """Sums. ``day`` or ``user_id`` and ``name`` say of what."""

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


def _sum_cost(price: Price | None) -> ColumnElement[Any]:
    if price is None:
        return func.sum(DailyUsageRow.cost).label("cost")
    asked = (
        DailyUsageRow.prompt_tokens * price.prompt + DailyUsageRow.completion_tokens * price.completion
    ) / 1_000_000
    return func.sum(func.coalesce(DailyUsageRow.cost, asked)).label("cost")


class UsageReport(Repository):
    """Of a database: as far back as days are kept."""

    async def sum_by_day(self, days: int, price: Price | None = None) -> list[UsageTotal]:
        """The last so many days (UTC) with today, the first first; without those on which nothing was used. ``price``: of what was taken when nobody
        counted what it costs.
        """
        chosen = (
            select(DailyUsageRow.day, *_SUM_COLUMNS, _sum_cost(price))
            .where(DailyUsageRow.day > self._get_first_day(days))
            .group_by(DailyUsageRow.day)
        )
        return await self._read(chosen.order_by(DailyUsageRow.day))

    async def sum_by_user(self, days: int, name: str = "", price: Price | None = None) -> list[UsageTotal]:
        """Who has used most of it first, a hundred at most; ``name``: the beginning of theirs."""
        tokens = func.sum(DailyUsageRow.prompt_tokens + DailyUsageRow.completion_tokens)
        chosen = select(DailyUsageRow.user_id, UserRow.name, *_SUM_COLUMNS, _sum_cost(price)).join(
            UserRow, UserRow.id == DailyUsageRow.user_id
        )
        chosen = chosen.where(DailyUsageRow.day > self._get_first_day(days)).group_by(
            DailyUsageRow.user_id, UserRow.name
        )
        if name:
            chosen = chosen.where(UserRow.name_key.startswith(normalize_name(name), autoescape=True))
        return await self._read(chosen.order_by(tokens.desc(), func.sum(DailyUsageRow.runs).desc()).limit(_MAX_USERS))

    def _get_first_day(self, days: int) -> date:
        return self._clock().astimezone(UTC).date() - timedelta(days=days)

    async def _read(self, chosen: Any) -> list[UsageTotal]:
        found = await self._database.read(lambda session: session.execute(chosen).mappings().all())
        return [UsageTotal.model_validate({**one}) for one in found]
