"""Long work that administrators ask for, and the leases by which servers hold it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from pydantic import Field
from sqlalchemy import ColumnElement, delete, or_, select, update
from sqlalchemy.orm import Session

from domain.errors import ConflictError, NotFoundError
from domain.model import JsonObject, Model
from server.storage.accounts import User
from server.storage.identifiers import generate_id
from server.storage.repository import Repository, to_model
from server.storage.rows.administration import JobRow

JobState = Literal["queued", "running", "done", "failed", "cancelled"]
OPEN_STATES = ("queued", "running")
_SLOT_TAKEN = "another job works on the same just now: wait until it has ended, or cancel it"
_NOT_STARTED = "it was cancelled before it began"


class NewJob(Model):
    """``slot``: what no two open jobs may have; ``home``: of the server whose files it needs, empty for any; ``wanted``: what it is to do, without secrets."""

    kind: str
    slot: str
    home: str = ""
    wanted: JsonObject = Field(default_factory=dict)


class Job(Model):
    """``what``: the part that is under way; ``total`` None: nobody knows. ``lines``: its log, the latest. ``trouble``: why it failed or was cancelled.

    ``by``: the name of who asked for it, at that time. ``tries``: how often it was begun.
    """

    id: str
    kind: str
    state: JobState
    wanted: JsonObject
    what: str
    done: int
    total: int | None
    lines: list[str]
    result: JsonObject | None
    trouble: str
    by: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    cancel_at: datetime | None
    tries: int


class Jobs(Repository):
    """Those of a database."""

    async def add(self, job: NewJob, by: User) -> Job:
        """Queue it. Raises ``ConflictError`` where another has its slot and has not ended."""
        first: JsonObject = {"id": generate_id(), "state": "queued", "what": "", "done": 0, "total": None, "lines": []}
        values = first | {"trouble": "", "tries": 0, "by_id": by.id, "by": by.name} | job.model_dump()
        row = JobRow(**values, created_at=self._clock())
        try:
            async with self._database.write_session() as session:
                session.add(row)
        except ConflictError as error:
            raise ConflictError(_SLOT_TAKEN) from error
        return to_model(Job, row)

    async def check_free(self, slot: str) -> None:
        """Raises ``ConflictError`` where an open job has it."""
        taken = select(JobRow.id).where(JobRow.slot == slot)
        if await self._database.read(lambda session: session.scalar(taken)) is not None:
            raise ConflictError(_SLOT_TAKEN)

    async def get(self, job_id: str) -> Job:
        """Raises ``NotFoundError``."""
        found = await self._database.read(lambda session: session.get(JobRow, job_id))
        if found is None:
            raise NotFoundError("there is no such job: it is unknown, or so old that it was removed")
        return to_model(Job, found)

    async def list_page(self, kinds: tuple[str, ...] = (), before: str = "", limit: int = 50) -> list[Job]:
        """The newest first, those before an id; ``kinds``: none for all."""
        chosen = select(JobRow).order_by(JobRow.id.desc()).limit(limit)
        if kinds:
            chosen = chosen.where(JobRow.kind.in_(kinds))
        if before:
            chosen = chosen.where(JobRow.id < before)
        return await self._database.read(lambda session: [to_model(Job, row) for row in session.scalars(chosen)])

    async def cancel(self, job_id: str) -> Job:
        """End it: at once where nobody has begun, else as soon as who has it in hand sees it. Of one that has ended nothing is changed. Raises ``NotFoundError``."""
        at = self._clock()
        still = (JobRow.id == job_id) & JobRow.state.in_(OPEN_STATES)
        queued = update(JobRow).where(still, JobRow.state == "queued")
        ended = queued.values(state="cancelled", slot=None, cancel_at=at, finished_at=at, trouble=_NOT_STARTED)
        asked = update(JobRow).where(still, JobRow.cancel_at.is_(None)).values(cancel_at=at)

        def cancelled(session: Session) -> None:
            session.execute(ended)
            session.execute(asked)

        await self._database.write(cancelled)
        return await self.get(job_id)

    async def delete_old(self, before: timedelta, keep: int = 1000) -> int:
        """Remove those that ended so long ago, and what is more than ``keep``; how many."""
        over = JobRow.state.not_in(OPEN_STATES)
        newest = select(JobRow.id).where(over).order_by(JobRow.id.desc()).limit(keep)
        old = (JobRow.finished_at < self._clock() - before) | JobRow.id.not_in(newest)
        gone = delete(JobRow).where(over, old).returning(JobRow.id)
        return len(await self._database.write(lambda session: session.scalars(gone).all()))


JobEndState = Literal["done", "failed", "cancelled"]


class JobLeases(Repository):
    """Those of a database. Who lost a job meanwhile is told by False."""

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
            return [to_model(Job, row) for row in rows]

        return await self._database.write(claimed)

    async def renew(self, worker: str, lease: timedelta) -> dict[str, bool]:
        """Go on holding all that this worker holds; their ids, and whether their end was asked for. What is missing was lost."""
        held = (JobRow.worker == worker) & (JobRow.state == "running")
        renewed = update(JobRow).where(held).values(lease_until=self._clock() + lease)

        def kept(session: Session) -> dict[str, bool]:
            rows = session.execute(renewed.returning(JobRow.id, JobRow.cancel_at)).all()
            return {row.id: row.cancel_at is not None for row in rows}

        return await self._database.write(kept)

    async def update_progress(
        self, job_id: str, worker: str, what: str, done: int, total: int | None, lines: list[str]
    ) -> bool:
        """How far it is. False: it was not this worker's."""
        return await self._update_held(job_id, worker, {"what": what, "done": done, "total": total, "lines": lines})

    async def finish(
        self, job_id: str, worker: str, state: JobEndState, *, result: JsonObject | None = None, trouble: str = ""
    ) -> bool:
        """It has ended. False: it was not this worker's."""
        ended: dict[str, Any] = {"state": state, "finished_at": self._clock(), "result": result, "trouble": trouble}
        return await self._update_held(job_id, worker, ended | {"slot": None, "worker": None, "lease_until": None})

    async def release(self, job_id: str, worker: str) -> bool:
        """Let go of it, to be begun again by any that may. The try does not count. False: it was not this worker's."""
        let_go: dict[str, Any] = {"state": "queued", "worker": None, "lease_until": None, "tries": JobRow.tries - 1}
        return await self._update_held(job_id, worker, let_go)

    async def release_workers(self, workers: Sequence[str]) -> int:
        """Queue the jobs of workers that are no more; how many."""
        theirs = JobRow.worker.in_(workers) & (JobRow.state == "running")
        queued = update(JobRow).where(theirs).values(state="queued", worker=None, lease_until=None)
        return len(await self._database.write(lambda s: s.scalars(queued.returning(JobRow.id)).all()))

    async def _update_held(self, job_id: str, worker: str, values: dict[str, Any]) -> bool:
        changed = update(JobRow).where(_is_held(job_id, worker)).values(values).returning(JobRow.id)
        return await self._database.write(lambda session: session.scalar(changed)) is not None


def _is_held(job_id: str, worker: str) -> ColumnElement[bool]:
    return (JobRow.id == job_id) & (JobRow.worker == worker) & (JobRow.state == "running")
