"""Checks of sources that are under way: who makes them, how far they are, and those that a restart broke off."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import func, or_, select, update
from sqlalchemy.orm import Session

from domain.errors import BusyError, ConflictError, NotFoundError
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.rows.sources import SourceRow

BROKEN_OFF = "the check was broken off when the server stopped; start it again"


class SourceChecks:
    """Those of a database. A check is held by a lease, which its worker renews."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def begin(self, source_id: str, worker: str, lease: timedelta, to_check: int, most: int) -> None:
        """Take it.

        Raises:
            NotFoundError: there is no such source. ConflictError: it is being checked. BusyError: ``most`` of its author's are.
        """
        at = self._clock()

        def begun(session: Session) -> None:
            there = (SourceRow.id == source_id) & SourceRow.removed_at.is_(None)
            row = session.scalar(select(SourceRow).where(there).with_for_update())
            if row is None:
                raise NotFoundError("there is no such source")
            if row.check_worker is not None and row.check_until is not None and row.check_until > at:
                raise ConflictError("this source is being checked; wait until it is done")
            mine = (SourceRow.author_id == row.author_id) & (SourceRow.check_until > at) & (SourceRow.id != source_id)
            under_way = select(func.count()).select_from(SourceRow).where(mine, SourceRow.check_worker.is_not(None))
            if (session.scalar(under_way) or 0) >= most:
                raise BusyError(
                    f"{most} of this author's sources are being checked, which is the most; wait for one of them"
                )
            row.check_worker, row.check_until = worker, at + lease
            row.checked, row.to_check, row.check_trouble = 0, to_check, ""

        await self._database.write(begun)

    async def renew(self, worker: str, lease: timedelta) -> None:
        """Go on holding all that this worker holds."""
        held = update(SourceRow).where(SourceRow.check_worker == worker).values(check_until=self._clock() + lease)
        await self._database.write(lambda session: session.execute(held))

    async def held(self, source_id: str, worker: str) -> bool:
        """Whether it is this worker's still."""
        holds = select(SourceRow.id).where(SourceRow.id == source_id, SourceRow.check_worker == worker)
        return await self._database.read(lambda session: session.scalar(holds)) is not None

    async def end(self, source_id: str, worker: str, trouble: str = "") -> None:
        """It is done, or stopped early."""
        values = {"check_worker": None, "check_until": None, "check_trouble": trouble}
        if not trouble:
            values |= {"checked_at": self._clock()}
        ended = update(SourceRow).where(SourceRow.id == source_id, SourceRow.check_worker == worker).values(values)
        await self._database.write(lambda session: session.execute(ended))

    async def break_off(self, workers: Sequence[str] = ()) -> int:
        """Tell of the checks that these workers had in hand, and of those whose lease has ended; how many."""
        lost = or_(SourceRow.check_worker.in_(workers), SourceRow.check_until <= self._clock())
        values = {"check_worker": None, "check_until": None, "check_trouble": BROKEN_OFF}
        ended = update(SourceRow).where(SourceRow.check_worker.is_not(None), lost).values(values)
        return len(await self._database.write(lambda s: s.scalars(ended.returning(SourceRow.id)).all()))
