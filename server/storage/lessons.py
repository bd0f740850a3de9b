"""Lessons that wait for a store: taken one at a time over all servers, oldest first, so that order is kept."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.orm import Session

from server.storage.repository import Repository, StoredModel
from server.storage.rows.runs import EventRow, LessonRow, RunRow
from server.storage.run_events import StoredEvent

LessonEnd = Literal["ended", "lost", "changed", "gone"]
"""``lost``: another worker has it; ``changed``: the user has judged the run since; ``gone``: the run was deleted."""


class WaitingLesson(StoredModel):
    """A lesson that was taken."""

    run_id: str
    kept_at: datetime
    tries: int
    """How often it was taken, this time included."""


class WaitingLessons(Repository):
    """Lessons that wait for a store, claimed one at a time over all servers, oldest first, so that order is kept."""

    async def count(self) -> int:
        """Return how many lessons wait, over all servers."""
        statement = select(func.count()).select_from(LessonRow)
        return await self._database.read(lambda session: session.scalar(statement)) or 0

    async def claim(self, worker: str, lease: timedelta) -> WaitingLesson | None:
        """Claim the first lesson; return None if none waits, or another worker has one, which must be learnt first."""
        at = self._clock()
        in_hand = select(LessonRow.run_id).where(LessonRow.worker != worker, LessonRow.lease_until > at).limit(1)
        first = select(LessonRow).order_by(LessonRow.turn_at, LessonRow.run_id).limit(1).with_for_update()

        def take(session: Session) -> WaitingLesson | None:
            row = session.scalar(first)
            # Read after the lock is held: its previous holder may have taken the row meanwhile.
            if row is None or session.scalar(in_hand) is not None:
                return None
            session.refresh(row)
            row.worker, row.lease_until, row.tries = worker, at + lease, row.tries + 1
            return WaitingLesson(run_id=row.run_id, kept_at=row.kept_at, tries=row.tries)

        return await self._database.write(take)

    async def release(self, run_id: str, worker: str, *, to_end: bool = False) -> None:
        """Release the claim on a lesson. With ``to_end``, it comes after all others that wait, which it has held up."""
        values = {"worker": None, "lease_until": None} | ({"turn_at": self._clock()} if to_end else {})
        await self._database.write(
            lambda session: session.execute(update(LessonRow).where(_is_held(run_id, worker)).values(values)),
            single=True,
        )

    async def release_workers(self, workers: Sequence[str]) -> None:
        """Release the lessons of workers that are gone."""
        free = update(LessonRow).where(LessonRow.worker.in_(workers)).values(worker=None, lease_until=None)
        await self._database.write(lambda session: session.execute(free), single=True)

    async def finish(self, run_id: str, worker: str, event: StoredEvent | None, verdict_changes: int) -> LessonEnd:
        """Remove a lesson.

        ``event`` replaces the event that announced it as waiting; ``verdict_changes`` is the number of verdicts
        that were taken into account.
        """
        run = select(RunRow.verdict_changes).where(RunRow.id == run_id).with_for_update()
        removal = delete(LessonRow).where(_is_held(run_id, worker)).returning(LessonRow.run_id)

        def finish(session: Session) -> LessonEnd:
            changes = session.scalar(run)
            if changes is None:
                return "gone"
            if changes != verdict_changes:
                return "changed"
            if session.scalar(removal) is None:
                return "lost"
            if event is not None:
                place = (EventRow.run_id == run_id) & (EventRow.seq == event.seq) & (EventRow.kind == event.kind)
                session.execute(update(EventRow).where(place).values(body=event.body))
            return "ended"

        return await self._database.write(finish)


def _is_held(run_id: str, worker: str) -> ColumnElement[bool]:
    return (LessonRow.run_id == run_id) & (LessonRow.worker == worker)
