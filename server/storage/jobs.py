"""Long work that administrators ask for, and the leases by which servers hold it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from pydantic import Field
from sqlalchemy import ColumnElement, delete, or_, select, update
from sqlalchemy.orm import Session

from domain.errors import ConflictError, NotFoundError
from domain.model import JsonObject
from server.storage.accounts import User
from server.storage.identifiers import generate_id
from server.storage.repository import Repository, StoredModel, to_model
from server.storage.rows.administration import JobRow

JobState = Literal["queued", "running", "done", "failed", "cancelled"]
OPEN_STATES = ("queued", "running")
"""States of jobs that have not ended."""
_SLOT_TAKEN = "another job works on the same just now: wait until it has ended, or cancel it"
_NOT_STARTED = "it was cancelled before it began"


class NewJob(StoredModel):
    """A job to be queued."""

    kind: str
    slot: str
    """The resource that the job has to itself: no two open jobs have the same slot."""
    home: str = ""
    """The server whose files the job needs; empty for any."""
    wanted: JsonObject = Field(default_factory=dict)
    """The parameters of the job; never a secret."""


class Job(StoredModel):
    """A job as it is stored."""

    id: str
    kind: str
    state: JobState
    wanted: JsonObject
    what: str
    """The part that is being done."""
    done: int
    total: int | None
    """None where it is unknown."""
    lines: list[str]
    """The latest lines of its log."""
    result: JsonObject | None
    trouble: str
    """Why it failed or was cancelled."""
    by: str
    """The name that the user who asked for it had at that time."""
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    cancel_at: datetime | None
    tries: int
    """How often it was started."""


class Jobs(Repository):
    """Stores jobs."""

    async def add(self, job: NewJob, by: User) -> Job:
        """Queue a job.

        Raises:
            ConflictError: an open job has its slot.
        """
        values: JsonObject = {"id": generate_id(), "state": "queued", "what": "", "done": 0, "total": None, "lines": []}
        values = values | {"trouble": "", "tries": 0, "by_id": by.id, "by": by.name} | job.model_dump()
        row = JobRow(**values, created_at=self._clock())
        try:
            async with self._database.write_session() as session:
                session.add(row)
        except ConflictError as error:
            raise ConflictError(_SLOT_TAKEN) from error
        return to_model(Job, row)

    async def check_free(self, slot: str) -> None:
        """Check that a slot is free.

        Raises:
            ConflictError: an open job has it.
        """
        holder = select(JobRow.id).where(JobRow.slot == slot)
        if await self._database.read(lambda session: session.scalar(holder)) is not None:
            raise ConflictError(_SLOT_TAKEN)

    async def get(self, job_id: str) -> Job:
        """Return a job.

        Raises:
            NotFoundError: there is no such job.
        """
        row = await self._database.read(lambda session: session.get(JobRow, job_id))
        if row is None:
            raise NotFoundError("there is no such job: it is unknown, or so old that it was removed")
        return to_model(Job, row)

    async def list_page(self, kinds: tuple[str, ...] = (), before: str = "", limit: int = 50) -> list[Job]:
        """List jobs, the newest first, starting before the id ``before``; ``kinds`` may be empty for all kinds."""
        statement = select(JobRow).order_by(JobRow.id.desc()).limit(limit)
        if kinds:
            statement = statement.where(JobRow.kind.in_(kinds))
        if before:
            statement = statement.where(JobRow.id < before)
        return await self._database.read(lambda session: [to_model(Job, row) for row in session.scalars(statement)])

    async def cancel(self, job_id: str) -> Job:
        """Cancel a job: at once where it has not started, otherwise as soon as its worker notices.

        A job that has ended is not changed.

        Raises:
            NotFoundError: there is no such job.
        """
        at = self._clock()
        is_open = (JobRow.id == job_id) & JobRow.state.in_(OPEN_STATES)
        queued = update(JobRow).where(is_open, JobRow.state == "queued")
        cancel_queued = queued.values(state="cancelled", slot=None, cancel_at=at, finished_at=at, trouble=_NOT_STARTED)
        request_end = update(JobRow).where(is_open, JobRow.cancel_at.is_(None)).values(cancel_at=at)

        def change(session: Session) -> None:
            session.execute(cancel_queued)
            session.execute(request_end)

        await self._database.write(change)
        return await self.get(job_id)

    async def delete_old(self, before: timedelta, keep: int = 1000) -> int:
        """Delete jobs that ended longer ago than ``before``, and all but the newest ``keep``; return how many."""
        has_ended = JobRow.state.not_in(OPEN_STATES)
        newest = select(JobRow.id).where(has_ended).order_by(JobRow.id.desc()).limit(keep)
        old = (JobRow.finished_at < self._clock() - before) | JobRow.id.not_in(newest)
        removal = delete(JobRow).where(has_ended, old).returning(JobRow.id)
        return len(await self._database.write(lambda session: session.scalars(removal).all()))


JobEndState = Literal["done", "failed", "cancelled"]


class JobLeases(Repository):
    """Leases by which servers hold jobs. A worker that has lost a job gets False."""

    async def claim(self, worker: str, home: str, kinds: Sequence[str], lease: timedelta) -> list[Job]:
        """Take queued jobs and those whose lease has expired, of these kinds and of this home or any.

        No two workers get the same.
        """
        at = self._clock()
        free = or_(JobRow.state == "queued", (JobRow.state == "running") & (JobRow.lease_until <= at))
        is_suitable = JobRow.kind.in_(kinds) & JobRow.home.in_(("", home))
        available = select(JobRow).where(free, is_suitable).order_by(JobRow.id)

        if not await self._database.read(
            lambda session: session.scalar(available.with_only_columns(JobRow.id).limit(1))
        ):
            return []  # almost always: avoids taking the write lock on each poll

        def take(session: Session) -> list[Job]:
            rows = session.scalars(available.with_for_update(skip_locked=True)).all()
            for row in rows:
                row.state, row.worker, row.lease_until = "running", worker, at + lease
                row.started_at, row.tries = row.started_at or at, row.tries + 1
            return [to_model(Job, row) for row in rows]

        return await self._database.write(take)

    async def renew(self, worker: str, lease: timedelta) -> dict[str, bool]:
        """Extend all leases of a worker. Return the ids of its jobs, each with whether it is to be cancelled.

        A job that is missing from the result was lost.
        """
        held = (JobRow.worker == worker) & (JobRow.state == "running")
        change = update(JobRow).where(held).values(lease_until=self._clock() + lease)

        def renew(session: Session) -> dict[str, bool]:
            rows = session.execute(change.returning(JobRow.id, JobRow.cancel_at)).all()
            return {row.id: row.cancel_at is not None for row in rows}

        return await self._database.write(renew)

    async def update_progress(
        self, job_id: str, worker: str, what: str, done: int, total: int | None, lines: list[str]
    ) -> bool:
        """Store the progress of a job. Return False where this worker does not hold it."""
        return await self._update_held(job_id, worker, {"what": what, "done": done, "total": total, "lines": lines})

    async def finish(
        self, job_id: str, worker: str, state: JobEndState, *, result: JsonObject | None = None, trouble: str = ""
    ) -> bool:
        """Store the end of a job. Return False where this worker does not hold it."""
        values: dict[str, Any] = {"state": state, "finished_at": self._clock(), "result": result, "trouble": trouble}
        return await self._update_held(job_id, worker, values | {"slot": None, "worker": None, "lease_until": None})

    async def release(self, job_id: str, worker: str) -> bool:
        """Queue a job again without counting the try. Return False where this worker does not hold it."""
        values: dict[str, Any] = {"state": "queued", "worker": None, "lease_until": None, "tries": JobRow.tries - 1}
        return await self._update_held(job_id, worker, values)

    async def release_workers(self, workers: Sequence[str]) -> int:
        """Queue the jobs of workers that are gone; return how many."""
        of_workers = JobRow.worker.in_(workers) & (JobRow.state == "running")
        change = update(JobRow).where(of_workers).values(state="queued", worker=None, lease_until=None)
        return len(await self._database.write(lambda s: s.scalars(change.returning(JobRow.id)).all()))

    async def _update_held(self, job_id: str, worker: str, values: dict[str, Any]) -> bool:
        change = update(JobRow).where(_is_held(job_id, worker)).values(values).returning(JobRow.id)
        return await self._database.write(lambda session: session.scalar(change)) is not None


def _is_held(job_id: str, worker: str) -> ColumnElement[bool]:
    return (JobRow.id == job_id) & (JobRow.worker == worker) & (JobRow.state == "running")
