"""Jobs in the hands of servers: taken, held by a lease, put down, ended."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Literal

from sqlalchemy import ColumnElement, or_, select, update
from sqlalchemy.orm import Session

from domain.model import JsonObject
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.jobs import Job, job_of
from server.storage.rows.jobs import JobRow

Ended = Literal["done", "failed", "cancelled"]


class HeldJobs:
    """Those of a database. Who lost a job meanwhile is told by False."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def claim(self, worker: str, home: str, kinds: Sequence[str], lease: timedelta) -> list[Job]:
        """Take what is queued, and what nobody has renewed: of these kinds, and of this home or any. No two get the same."""
        at = self._clock()
        free = or_(JobRow.state == "queued", (JobRow.state == "running") & (JobRow.lease_until <= at))
        mine = JobRow.kind.in_(kinds) & JobRow.home.in_(("", home))
        found = select(JobRow).where(free, mine).order_by(JobRow.id)

        if not await self._database.read(lambda session: session.scalar(found.with_only_columns(JobRow.id).limit(1))):
            return []  # nearly always: nobody else waits to write then

        def claimed(session: Session) -> list[Job]:
            rows = session.scalars(found.with_for_update(skip_locked=True)).all()
            for row in rows:
                row.state, row.worker, row.lease_until = "running", worker, at + lease
                row.started_at, row.tries = row.started_at or at, row.tries + 1
            return [job_of(row) for row in rows]

        return await self._database.write(claimed)

    async def renew(self, worker: str, lease: timedelta) -> dict[str, bool]:
        """Go on holding all that this worker holds; their ids, and whether their end was asked for. What is missing was lost."""
        held = (JobRow.worker == worker) & (JobRow.state == "running")
        renewed = update(JobRow).where(held).values(lease_until=self._clock() + lease)

        def kept(session: Session) -> dict[str, bool]:
            rows = session.execute(renewed.returning(JobRow.id, JobRow.cancel_at)).all()
            return {row.id: row.cancel_at is not None for row in rows}

        return await self._database.write(kept)

    async def tell(self, job_id: str, worker: str, what: str, done: int, total: int | None, lines: list[str]) -> bool:
        """How far it is. False: it was not this worker's."""
        return await self._change(job_id, worker, {"what": what, "done": done, "total": total, "lines": lines})

    async def finish(
        self, job_id: str, worker: str, state: Ended, *, result: JsonObject | None = None, trouble: str = ""
    ) -> bool:
        """It has ended. False: it was not this worker's."""
        ended: dict[str, Any] = {"state": state, "finished_at": self._clock(), "result": result, "trouble": trouble}
        return await self._change(job_id, worker, ended | {"slot": None, "worker": None, "lease_until": None})

    async def put_down(self, job_id: str, worker: str) -> bool:
        """Let go of it, to be begun again by any that may. The try does not count. False: it was not this worker's."""
        let_go: dict[str, Any] = {"state": "queued", "worker": None, "lease_until": None, "tries": JobRow.tries - 1}
        return await self._change(job_id, worker, let_go)

    async def release(self, workers: Sequence[str]) -> int:
        """Queue the jobs of workers that are no more; how many."""
        theirs = JobRow.worker.in_(workers) & (JobRow.state == "running")
        queued = update(JobRow).where(theirs).values(state="queued", worker=None, lease_until=None)
        return len(await self._database.write(lambda s: s.scalars(queued.returning(JobRow.id)).all()))

    async def _change(self, job_id: str, worker: str, values: dict[str, Any]) -> bool:
        changed = update(JobRow).where(_held(job_id, worker)).values(values).returning(JobRow.id)
        return await self._database.write(lambda session: session.scalar(changed)) is not None


def _held(job_id: str, worker: str) -> ColumnElement[bool]:
    return (JobRow.id == job_id) & (JobRow.worker == worker) & (JobRow.state == "running")
