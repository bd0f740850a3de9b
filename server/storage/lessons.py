"""Lessons that wait for a store: taken one at a time over all servers, oldest first, so that they are learnt in their order."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.orm import Session

from domain.model import Model
from server.storage.repository import Repository
from server.storage.rows.runs import EventRow, LessonRow, RunRow
from server.storage.run_events import StoredEvent

LessonEnd = Literal["ended", "lost", "changed", "gone"]
"""``lost``: another worker has it; ``changed``: the run's user has judged it meanwhile; ``gone``: the run was removed."""


class WaitingLesson(Model):
    """``tries``: how often it was taken, this time included."""

    run_id: str
    kept_at: datetime
    tries: int


class WaitingLessons(Repository):
    """Those of a database."""

    async def count(self) -> int:
        """How many wait, of all servers."""
        chosen = select(func.count()).select_from(LessonRow)
        return await self._database.read(lambda session: session.scalar(chosen)) or 0

    async def claim(self, worker: str, lease: timedelta) -> WaitingLesson | None:
        """Take the first. None where none waits, or another worker has one in hand: what comes after it waits for its turn."""
        at = self._clock()
        in_hand = select(LessonRow.run_id).where(LessonRow.worker != worker, LessonRow.lease_until > at).limit(1)
        first = select(LessonRow).order_by(LessonRow.turn_at, LessonRow.run_id).limit(1).with_for_update()

        def claimed(session: Session) -> WaitingLesson | None:
            row = session.scalar(first)
            # Asked after the lock was got: whoever had it may have taken the row meanwhile.
            if row is None or session.scalar(in_hand) is not None:
                return None
            session.refresh(row)
            row.worker, row.lease_until, row.tries = worker, at + lease, row.tries + 1
            return WaitingLesson(run_id=row.run_id, kept_at=row.kept_at, tries=row.tries)

        return await self._database.write(claimed)

    async def release(self, run_id: str, worker: str, *, to_end: bool = False) -> None:
        """Let go of it, to be taken again by any. ``last``: after all others that wait, which it has held up."""
        values = {"worker": None, "lease_until": None} | ({"turn_at": self._clock()} if to_end else {})
        await self._database.write(
            lambda session: session.execute(update(LessonRow).where(_is_held(run_id, worker)).values(values)),
            single=True,
        )

    async def release_workers(self, workers: Sequence[str]) -> None:
        """Put back what workers that are no more had in hand."""
        free = update(LessonRow).where(LessonRow.worker.in_(workers)).values(worker=None, lease_until=None)
        await self._database.write(lambda session: session.execute(free), single=True)

    async def finish(self, run_id: str, worker: str, event: StoredEvent | None, verdict_changes: int) -> LessonEnd:
        """Let it wait no more. ``event``: takes the place of the one that said it waits; ``verdict_changes``: those that were reckoned with."""
        run = select(RunRow.verdict_changes).where(RunRow.id == run_id).with_for_update()
        ended = delete(LessonRow).where(_is_held(run_id, worker)).returning(LessonRow.run_id)

        def finished(session: Session) -> LessonEnd:
            found = session.scalar(run)
            if found is None:
                return "gone"
            if found != verdict_changes:
                return "changed"
            if session.scalar(ended) is None:
                return "lost"
            if event is not None:
                place = (EventRow.run_id == run_id) & (EventRow.seq == event.seq) & (EventRow.kind == event.kind)
                session.execute(update(EventRow).where(place).values(body=event.body))
            return "ended"

        return await self._database.write(finished)


def _is_held(run_id: str, worker: str) -> ColumnElement[bool]:
    return (LessonRow.run_id == run_id) & (LessonRow.worker == worker)
