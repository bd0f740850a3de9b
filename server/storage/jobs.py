"""Long work, as administrators have to do with it: asked for, looked at, cancelled, forgotten once it is old."""

from datetime import datetime, timedelta
from typing import Literal

from pydantic import Field
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from domain.errors import ConflictError, NotFoundError
from domain.model import JsonObject, Model
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.row_ids import new_id
from server.storage.rows.jobs import JobRow
from server.storage.users import User

JobState = Literal["queued", "running", "done", "failed", "cancelled"]
OPEN = ("queued", "running")
_TAKEN = "another job works on the same just now: wait until it has ended, or cancel it"
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


class Jobs:
    """Those of a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, job: NewJob, by: User) -> Job:
        """Queue it. Raises ``ConflictError`` where another has its slot and has not ended."""
        first: JsonObject = {"id": new_id(), "state": "queued", "what": "", "done": 0, "total": None, "lines": []}
        values = first | {"trouble": "", "tries": 0, "by_id": by.id, "by": by.name} | job.model_dump()
        row = JobRow(**values, created_at=self._clock())
        try:
            async with self._database.writing() as session:
                session.add(row)
        except ConflictError as error:
            raise ConflictError(_TAKEN) from error
        return job_of(row)

    async def check_free(self, slot: str) -> None:
        """Raises ``ConflictError`` where an open job has it."""
        taken = select(JobRow.id).where(JobRow.slot == slot)
        if await self._database.read(lambda session: session.scalar(taken)) is not None:
            raise ConflictError(_TAKEN)

    async def get(self, job_id: str) -> Job:
        """Raises ``NotFoundError``."""
        found = await self._database.read(lambda session: session.get(JobRow, job_id))
        if found is None:
            raise NotFoundError("there is no such job: it is unknown, or so old that it was removed")
        return job_of(found)

    async def page(self, kinds: tuple[str, ...] = (), before: str = "", limit: int = 50) -> list[Job]:
        """The newest first, those before an id; ``kinds``: none for all."""
        chosen = select(JobRow).order_by(JobRow.id.desc()).limit(limit)
        if kinds:
            chosen = chosen.where(JobRow.kind.in_(kinds))
        if before:
            chosen = chosen.where(JobRow.id < before)
        return await self._database.read(lambda session: [job_of(row) for row in session.scalars(chosen)])

    async def cancel(self, job_id: str) -> Job:
        """End it: at once where nobody has begun, else as soon as who has it in hand sees it. Of one that has ended nothing is changed. Raises ``NotFoundError``."""
        at = self._clock()
        still = (JobRow.id == job_id) & JobRow.state.in_(OPEN)
        queued = update(JobRow).where(still, JobRow.state == "queued")
        ended = queued.values(state="cancelled", slot=None, cancel_at=at, finished_at=at, trouble=_NOT_STARTED)
        asked = update(JobRow).where(still, JobRow.cancel_at.is_(None)).values(cancel_at=at)

        def cancelled(session: Session) -> None:
            session.execute(ended)
            session.execute(asked)

        await self._database.write(cancelled)
        return await self.get(job_id)

    async def forget(self, before: timedelta, keep: int = 1000) -> int:
        """Remove those that ended so long ago, and what is more than ``keep``; how many."""
        over = JobRow.state.not_in(OPEN)
        newest = select(JobRow.id).where(over).order_by(JobRow.id.desc()).limit(keep)
        old = (JobRow.finished_at < self._clock() - before) | JobRow.id.not_in(newest)
        gone = delete(JobRow).where(over, old).returning(JobRow.id)
        return len(await self._database.write(lambda session: session.scalars(gone).all()))


def job_of(row: JobRow) -> Job:
    """What a row says."""
    return Job.model_validate({name: getattr(row, name) for name in Job.model_fields})
