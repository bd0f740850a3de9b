"""Failed log-ins, counted before the password is looked at, so that a hundred at once are a hundred."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import FromClause, case, delete, func, literal, null, or_, select, true, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningInsert

from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.rows.accounts import AttemptRow
from server.storage.statement_chain import StatementChain


@dataclass(frozen=True, slots=True)
class AttemptLimits:
    """``free``: attempts before waiting begins; the wait is ``first`` and doubles with each further one, up to ``longest``.

    After ``forgotten`` without an attempt it starts anew.
    """

    free: int
    first: timedelta = timedelta(seconds=30)
    longest: timedelta = timedelta(minutes=15)
    forgotten: timedelta = timedelta(hours=24)

    def wait(self, failures: int) -> timedelta:
        """How long to wait after that many failures."""
        if failures < self.free:
            return timedelta()
        return min(self.first * 2 ** min(failures - self.free, 20), self.longest)

    def growing_waits(self) -> Iterator[tuple[int, timedelta]]:
        """Yield the numbers of failures that bring a wait shorter than the longest, with it."""
        for failures in range(self.free, self.free + 20):
            if (wait := self.wait(failures)) >= self.longest:
                return
            yield failures, wait


class Attempts:
    """The counts of a database. A key says whose: ``account:name`` or ``address:…``."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def begin(self, *keys: tuple[str, AttemptLimits]) -> float:
        """Count an attempt, under each of the keys in their order, as failed until :meth:`forgive` says otherwise. Seconds to wait first; 0: go on.

        While a key waits, further attempts are refused and not counted, neither under it nor under those after it.
        """
        at, rest = self._clock(), list(keys)

        def count(session: Session) -> list[int]:
            chain, counted = StatementChain(session), list[FromClause]()
            for key, limits in rest:
                counted.append(chain.add(self._count(key, limits, at, counted[-1] if counted else None)))
            numbers = [select(func.count()).select_from(one).scalar_subquery() for one in counted]
            return list(chain.fetch(select(*numbers)).one())

        while 0 in (counted := await self._database.write(count, single=True)):
            rest = rest[counted.index(0) :]
            locked = AttemptRow.locked_until
            waits = select(locked).where(AttemptRow.key == _hashed(rest[0][0]), locked > at)
            if until := await self._database.read(lambda session, waits=waits: session.scalar(waits)):
                return (until - at).total_seconds()
        return 0.0

    def _count(self, key: str, limits: AttemptLimits, at: datetime, after: FromClause | None) -> ReturningInsert[str]:
        """Count an attempt; no row is returned where one has to wait. One statement decides, so that of many at once none passes after the one
        that brings a wait. ``after``: only where there is a row in this.
        """
        row = AttemptRow
        insert = postgresql.insert if self._database.dialect == "postgresql" else sqlite.insert
        failures = case((row.last_at < at - limits.forgotten, 1), else_=row.failures + 1)
        until = row.locked_until.type
        growing = [(failures == n, literal(at + wait, until)) for n, wait in limits.growing_waits()]
        longest = (failures >= limits.free, literal(at + limits.longest, until))
        first = at + limits.wait(1) if limits.wait(1) else None
        values = {
            row.key: literal(_hashed(key), row.key.type),
            row.failures: literal(1),
            row.last_at: literal(at, row.last_at.type),
            row.locked_until: literal(first, until),
        }
        source = select(*values.values())
        source = source if after is None else source.select_from(after)
        return (
            insert(row)
            .from_select(list(values), source.where(true()))  # with no condition SQLite takes ON for a join's
            .on_conflict_do_update(
                index_elements=[row.key],
                set_={"failures": failures, "last_at": at, "locked_until": case(*growing, longest, else_=null())},
                where=or_(row.locked_until.is_(None), row.locked_until <= at),
            )
            .returning(row.key)
        )

    async def clear(self, key: str) -> None:
        """Forget all failures: the right password came."""
        async with self._database.writing(single=True) as session:
            await session.execute(delete(AttemptRow).where(AttemptRow.key == _hashed(key)))

    async def forgive(self, key: str) -> None:
        """Take one failure back, with the wait that it brought; those before stay."""
        row = AttemptRow
        async with self._database.writing(single=True) as session:
            changed = update(row).where(row.key == _hashed(key), row.failures > 0)
            await session.execute(changed.values(failures=row.failures - 1, locked_until=None))


def _hashed(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
