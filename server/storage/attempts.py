"""Failed log-ins, counted before the password is looked at, so that a hundred at once are a hundred."""

import hashlib
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import case, delete, or_, update
from sqlalchemy.dialects import postgresql, sqlite

from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.rows.accounts import AttemptRow


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


class Attempts:
    """The counts of a database. A key says whose: ``account:name`` or ``address:…``."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def begin(self, key: str, limits: AttemptLimits) -> float:
        """Count an attempt as failed until :meth:`forgive` says otherwise. Seconds to wait first; 0: go on.

        While it waits, further attempts are refused and not counted.
        """
        at, row = self._clock(), AttemptRow
        insert = postgresql.insert if self._database.dialect == "postgresql" else sqlite.insert
        counts = or_(row.locked_until.is_(None), row.locked_until <= at)
        old = row.last_at < at - limits.forgotten
        statement = (
            insert(row)
            .values(key=_hashed(key), failures=1, last_at=at, locked_until=None)
            .on_conflict_do_update(
                index_elements=[row.key],
                set_={
                    "failures": case((counts & old, 1), (counts, row.failures + 1), else_=row.failures),
                    "last_at": case((counts, at), else_=row.last_at),
                },
            )
            .returning(row.failures, row.locked_until)
        )
        async with self._database.writing() as session:
            failures, locked = (await session.execute(statement)).one()
            if locked is not None and locked > at:
                return (locked - at).total_seconds()
            if wait := limits.wait(failures):
                await session.execute(update(row).where(row.key == _hashed(key)).values(locked_until=at + wait))
            return 0.0

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
