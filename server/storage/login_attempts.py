"""Throttling of failed log-ins, and the places from which users have logged in before."""

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
    """After ``free`` attempts each further one doubles the wait, from ``first`` up to ``longest``."""

    free: int
    """Attempts before waiting begins."""
    first: timedelta = timedelta(seconds=30)
    longest: timedelta = timedelta(minutes=15)
    forgotten: timedelta = timedelta(hours=24)
    """Without an attempt for so long the count starts anew."""

    def wait_after(self, failures: int) -> timedelta:
        """Return how long to wait after this many failures."""
        if failures < self.free:
            return timedelta()
        return min(self.first * 2 ** min(failures - self.free, 20), self.longest)

    def iterate_growing_waits(self) -> Iterator[tuple[int, timedelta]]:
        """Yield each number of failures whose wait is shorter than the longest, with that wait."""
        for failures in range(self.free, self.free + 20):
            if (wait := self.wait_after(failures)) >= self.longest:
                return
            yield failures, wait


class LoginAttempts(Repository):
    """Counts failed log-ins. A key says whose: ``account:name`` or ``address:…``.

    Attempts are counted before the password is checked, so that a hundred at once count as a hundred.
    """

    async def begin(self, *keys: tuple[str, AttemptLimits]) -> float:
        """Count an attempt under each key as failed, until :meth:`forgive` or :meth:`clear` corrects it.

        Return the seconds to wait first, 0 where the log-in may go on. While a key must wait, an attempt is refused
        and counted neither under it nor under the keys after it.
        """
        at, pending = self._clock(), list(keys)

        def count(session: Session) -> list[int]:
            chain, counted = StatementChain(session), list[FromClause]()
            for key, limits in pending:
                counted.append(chain.add(self._build_count(key, limits, at, counted[-1] if counted else None)))
            numbers = [select(func.count()).select_from(rows).scalar_subquery() for rows in counted]
            return list(chain.fetch(select(*numbers)).one())

        while 0 in (counted := await self._database.write(count, single=True)):
            pending = pending[counted.index(0) :]
            locked = LoginAttemptRow.locked_until
            waits = select(locked).where(LoginAttemptRow.key == _hash_key(pending[0][0]), locked > at)
            if until := await self._database.read(lambda session, waits=waits: session.scalar(waits)):
                return (until - at).total_seconds()
        return 0.0

    def _build_count(
        self, key: str, limits: AttemptLimits, at: datetime, after: FromClause | None
    ) -> ReturningInsert[str]:
        """Build the statement that counts an attempt under a key and returns a row only where there is no need to wait.

        One statement decides, so that of many attempts at once none slips past the one that brings a wait. With
        ``after`` it counts only where that returned a row.
        """
        row = LoginAttemptRow
        insert = postgresql.insert if self._database.dialect == "postgresql" else sqlite.insert
        failures = case((row.last_at < at - limits.forgotten, 1), else_=row.failures + 1)
        lock_type = row.locked_until.type
        growing = [(failures == n, literal(at + wait, lock_type)) for n, wait in limits.iterate_growing_waits()]
        longest = (failures >= limits.free, literal(at + limits.longest, lock_type))
        first = at + limits.wait_after(1) if limits.wait_after(1) else None
        values = {
            row.key: literal(_hash_key(key), row.key.type),
            row.failures: literal(1),
            row.last_at: literal(at, row.last_at.type),
            row.locked_until: literal(first, lock_type),
        }
        source = select(*values.values())
        source = source if after is None else source.select_from(after)
        return (
            insert(row)
            .from_select(list(values), source.where(true()))  # without WHERE, SQLite parses ON CONFLICT as a join's ON
            .on_conflict_do_update(
                index_elements=[row.key],
                set_={"failures": failures, "last_at": at, "locked_until": case(*growing, longest, else_=null())},
                where=or_(row.locked_until.is_(None), row.locked_until <= at),
            )
            .returning(row.key)
        )

    async def clear(self, key: str) -> None:
        """Forget all failures, since the right password was given."""
        async with self._database.write_session(single=True) as session:
            await session.execute(delete(LoginAttemptRow).where(LoginAttemptRow.key == _hash_key(key)))

    async def forgive(self, key: str) -> None:
        """Take one failure back with the wait that it brought; earlier ones stay."""
        row = LoginAttemptRow
        async with self._database.write_session(single=True) as session:
            changed = update(row).where(row.key == _hash_key(key), row.failures > 0)
            await session.execute(changed.values(failures=row.failures - 1, locked_until=None))


def _hash_key(key: str) -> str:
    return sha256(key.encode("utf-8", "replace")).hexdigest()


_MAX_PLACES = 20
_PLACE_LIFETIME = timedelta(days=90)


class LoginPlaces(Repository):
    """Stores where users have logged in from, so that somebody who fails with their names elsewhere does not lock them
    out there.

    A place is what attempts are counted by. Rows hold a hash of it, different for each user.
    """

    async def is_known(self, name: str, place: str) -> bool:
        """Return whether a user of this name has logged in from there in the last 90 days."""
        row = LoginPlaceRow
        joined = select(row.user_id, row.place).join(UserRow, UserRow.id == row.user_id)
        latest = joined.where(UserRow.name_key == normalize_name(name), row.last_at > self._clock() - _PLACE_LIFETIME)
        async with self._database.read_session() as session:
            return any(
                hashed_place == _hash_place(user_id, place) for user_id, hashed_place in await session.execute(latest)
            )

    async def remember(self, user_id: str, place: str) -> None:
        """Record that a user has logged in from there. Only the latest places are stored."""
        row, at, hashed = LoginPlaceRow, self._clock(), _hash_place(user_id, place)
        insert = postgresql.insert if self._database.dialect == "postgresql" else sqlite.insert
        upsert = (
            insert(row)
            .values(user_id=user_id, place=hashed, last_at=at)
            .on_conflict_do_update(index_elements=[row.user_id, row.place], set_={"last_at": at})
        )
        others = (row.user_id == user_id) & (row.place != hashed)
        latest = select(row.place).where(others).order_by(row.last_at.desc()).limit(_MAX_PLACES - 1)

        def remember(session: Session) -> None:
            chain = StatementChain(session)
            chain.add(upsert)
            chain.add(delete(row).where(others, row.place.not_in(latest)))
            chain.run()

        await self._database.write(remember, single=True)


def _hash_place(user_id: str, place: str) -> str:
    return sha256(f"{user_id} {place}".encode("utf-8", "replace")).hexdigest()
