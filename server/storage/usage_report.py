"""What all users have used, by day and by user, for who pays for it."""

from collections.abc import Sequence
from datetime import UTC, date, timedelta
from typing import Any

from sqlalchemy import ColumnElement, func, select

from agent.plans.cost_estimate import Price
from domain.model import Model
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.rows.accounts import UserRow
from server.storage.rows.days import DayRow
from server.storage.users import name_key

_MOST = 100


class UsedBy(Model):
    """Sums. ``day`` or ``user_id`` and ``name`` say of what."""

    day: date | None = None
    user_id: str = ""
    name: str = ""
    runs: int
    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None


_SUMS: Sequence[ColumnElement[Any]] = tuple(
    func.sum(column).label(name)
    for name, column in (
        ("runs", DayRow.runs),
        ("model_calls", DayRow.model_calls),
        ("prompt_tokens", DayRow.prompt_tokens),
        ("completion_tokens", DayRow.completion_tokens),
    )
)


def _cost(price: Price | None) -> ColumnElement[Any]:
    if price is None:
        return func.sum(DayRow.cost).label("cost")
    asked = (DayRow.prompt_tokens * price.prompt + DayRow.completion_tokens * price.completion) / 1_000_000
    return func.sum(func.coalesce(DayRow.cost, asked)).label("cost")


class UsageReport:
    """Of a database: as far back as days are kept."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def by_day(self, days: int, price: Price | None = None) -> list[UsedBy]:
        """The last so many days (UTC) with today, the first first; without those on which nothing was used. ``price``: of what was taken when nobody
        counted what it costs.
        """
        chosen = select(DayRow.day, *_SUMS, _cost(price)).where(DayRow.day > self._before(days)).group_by(DayRow.day)
        return await self._read(chosen.order_by(DayRow.day))

    async def by_user(self, days: int, name: str = "", price: Price | None = None) -> list[UsedBy]:
        """Who has used most of it first, a hundred at most; ``name``: the beginning of theirs."""
        tokens = func.sum(DayRow.prompt_tokens + DayRow.completion_tokens)
        chosen = select(DayRow.user_id, UserRow.name, *_SUMS, _cost(price)).join(UserRow, UserRow.id == DayRow.user_id)
        chosen = chosen.where(DayRow.day > self._before(days)).group_by(DayRow.user_id, UserRow.name)
        if name:
            chosen = chosen.where(UserRow.name_key.startswith(name_key(name), autoescape=True))
        return await self._read(chosen.order_by(tokens.desc(), func.sum(DayRow.runs).desc()).limit(_MOST))

    def _before(self, days: int) -> date:
        return self._clock().astimezone(UTC).date() - timedelta(days=days)

    async def _read(self, chosen: Any) -> list[UsedBy]:
        found = await self._database.read(lambda session: session.execute(chosen).mappings().all())
        return [UsedBy.model_validate({**one}) for one in found]
