"""Failed log-ins, which make whoever repeats them wait, and the places from which users have logged in before."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from sqlalchemy import FromClause, case, delete, func, literal, null, or_, select, true, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningInsert

from server.storage.identifiers import normalize_name
from server.storage.repository import Repository
from server.storage.rows.accounts import LoginAttemptRow, LoginPlaceRow, UserRow
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

    def wait_after(self, failures: int) -> timedelta:
        """How long to wait after that many failures."""
        if failures < self.free:
            return timedelta()
        return min(self.first * 2 ** min(failures - self.free, 20), self.longest)

    def iterate_growing_waits(self) -> Iterator[tuple[int, timedelta]]:
        """Yield the numbers of failures that bring a wait shorter than the longest, with it."""
        for failures in range(self.free, self.free + 20):
            if (wait := self.wait_after(failures)) >= self.longest:
                return
            yield failures, wait


class LoginAttempts(Repository):
    """The counts of a database. A key says whose: ``account:name`` or ``address:…``."""

    async def begin(self, *keys: tuple[str, AttemptLimits]) -> float:
        """Count an attempt, under each of the keys in their order, as failed until :meth:`forgive` says otherwise. Seconds to wait first; 0: go on.

        While a key waits, further attempts are refused and not counted, neither under it nor under those after it.
        """
        at, rest = self._clock(), list(keys)

        def count(session: Session) -> list[int]:
            chain, counted = StatementChain(session), list[FromClause]()
            for key, limits in rest:
                counted.append(chain.add(self._build_count(key, limits, at, counted[-1] if counted else None)))
            numbers = [select(func.count()).select_from(one).scalar_subquery() for one in counted]
            return list(chain.fetch(select(*numbers)).one())

        while 0 in (counted := await self._database.write(count, single=True)):
            rest = rest[counted.index(0) :]
            locked = LoginAttemptRow.locked_until
            waits = select(locked).where(LoginAttemptRow.key == _hash_key(rest[0][0]), locked > at)
            if until := await self._database.read(lambda session, waits=waits: session.scalar(waits)):
                return (until - at).total_seconds()
        return 0.0

    def _build_count(
        self, key: str, limits: AttemptLimits, at: datetime, after: FromClause | None
    ) -> ReturningInsert[str]:
        """Count an attempt; no row is returned where one has to wait. One statement decides, so that of many at once none passes after the one
        that brings a wait. ``after``: only where there is a row in this.
        """
        row = LoginAttemptRow
        insert = postgresql.insert if self._database.dialect == "postgresql" else sqlite.insert
        failures = case((row.last_at < at - limits.forgotten, 1), else_=row.failures + 1)
        until = row.locked_until.type
        growing = [(failures == n, literal(at + wait, until)) for n, wait in limits.iterate_growing_waits()]
        longest = (failures >= limits.free, literal(at + limits.longest, until))
        first = at + limits.wait_after(1) if limits.wait_after(1) else None
        values = {
            row.key: literal(_hash_key(key), row.key.type),
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
        async with self._database.write_session(single=True) as session:
            await session.execute(delete(LoginAttemptRow).where(LoginAttemptRow.key == _hash_key(key)))

    async def forgive(self, key: str) -> None:
        """Take one failure back, with the wait that it brought; those before stay."""
        row = LoginAttemptRow
        async with self._database.write_session(single=True) as session:
            changed = update(row).where(row.key == _hash_key(key), row.failures > 0)
            await session.execute(changed.values(failures=row.failures - 1, locked_until=None))


def _hash_key(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


_MAX_PLACES = 20
_PLACE_LIFETIME = timedelta(days=90)


class LoginPlaces(Repository):
    """Those of a database. A place is what attempts are counted by; rows hold a hash of it, another for each user."""

    async def is_known(self, name: str, place: str) -> bool:
        """Whether somebody of this name has logged in there in the last 90 days."""
        row = LoginPlaceRow
        joined = select(row.user_id, row.place).join(UserRow, UserRow.id == row.user_id)
        latest = joined.where(UserRow.name_key == normalize_name(name), row.last_at > self._clock() - _PLACE_LIFETIME)
        async with self._database.read_session() as session:
            return any(one == _hash_place(user_id, place) for user_id, one in await session.execute(latest))

    async def remember(self, user_id: str, place: str) -> None:
        """A user has logged in there. Only the latest places are kept."""
        row, at, hashed = LoginPlaceRow, self._clock(), _hash_place(user_id, place)
        insert = postgresql.insert if self._database.dialect == "postgresql" else sqlite.insert
        kept = (
            insert(row)
            .values(user_id=user_id, place=hashed, last_at=at)
            .on_conflict_do_update(index_elements=[row.user_id, row.place], set_={"last_at": at})
        )
        others = (row.user_id == user_id) & (row.place != hashed)
        latest = select(row.place).where(others).order_by(row.last_at.desc()).limit(_MAX_PLACES - 1)

        def remember(session: Session) -> None:
            chain = StatementChain(session)
            chain.add(kept)
            chain.add(delete(row).where(others, row.place.not_in(latest)))
            chain.run()

        await self._database.write(remember, single=True)


def _hash_place(user_id: str, place: str) -> str:
    return sha256(f"{user_id} {place}".encode("utf-8", "replace")).hexdigest()
