"""Runs: who asked for what, how it stands, and which worker has it in hand."""

from datetime import datetime, timedelta
from typing import Any, Literal

from pydantic import Field
from sqlalchemy import ColumnElement, and_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from domain.errors import ConflictError, NotFoundError
from domain.event import Outcome
from domain.model import JsonObject, Model
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.identity import new_id
from server.storage.rows.conversations import ConversationRow, MessageRow
from server.storage.rows.runs import InputRow, RunRow

RunStatus = Literal["queued", "running", "waiting", "finished"]
"""``waiting``: for a person's answer; no worker has it in hand."""


class RunChoices(Model):
    """What was chosen for a run. ``settings``: whatever else, by name."""

    planner: str
    policy: str
    model: str = ""
    settings: JsonObject = Field(default_factory=dict)
    rerun_of: str | None = None
    template_id: str | None = None
    template_version: int | None = None


class Run(RunChoices):
    """One turn of a conversation. ``plan``: as it was last edited; ``usage``: what it took, once it has ended."""

    id: str
    user_id: str
    conversation_id: str
    request: str
    status: RunStatus
    outcome: Outcome | None
    plan: JsonObject | None
    plan_version: int
    usage: JsonObject | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    cancel_at: datetime | None
    worker: str | None
    lease_until: datetime | None


class Runs:
    """The runs of a database. A worker holds a run by a lease; who lost it meanwhile is told by False."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(
        self, user_id: str, conversation_id: str, request: str, choices: RunChoices, *, say: bool = False
    ) -> Run:
        """A new one, queued. ``say``: with a message of the user that asks for it. ``NotFoundError``: this user has no such conversation."""
        owned = (ConversationRow.id == conversation_id) & (ConversationRow.user_id == user_id)
        at = self._clock()
        row = RunRow(
            id=new_id(),
            user_id=user_id,
            conversation_id=conversation_id,
            request=request,
            status="queued",
            plan_version=0,
            created_at=at,
            **choices.model_dump(),
        )
        async with self._database.writing() as session:
            touched = update(ConversationRow).where(owned).values(updated_at=at).returning(ConversationRow.id)
            if await session.scalar(touched) is None:
                raise NotFoundError("there is no such conversation")
            session.add(row)
            if say:
                await session.flush()  # the message refers to the run
                session.add(_message(row, "user", request, at))
        return _run(row)

    async def get(self, run_id: str, user_id: str | None = None) -> Run | None:
        """``user_id``: only where it is this user's."""
        chosen = RunRow.id == run_id if user_id is None else (RunRow.id == run_id) & (RunRow.user_id == user_id)
        async with self._database.reading() as session:
            row = await session.scalar(select(RunRow).where(chosen))
            return _run(row) if row else None

    async def page(self, user_id: str, *, conversation_id: str = "", before: str = "", limit: int = 50) -> list[Run]:
        """A user's runs, the latest first, those older than the run with id ``before``."""
        statement = select(RunRow).where(RunRow.user_id == user_id)
        if conversation_id:
            statement = statement.where(RunRow.conversation_id == conversation_id)
        if before:
            statement = statement.where(RunRow.id < before)
        async with self._database.reading() as session:
            rows = await session.scalars(statement.order_by(RunRow.id.desc()).limit(limit))
            return [_run(row) for row in rows]

    async def open_count(self, user_id: str | None = None) -> int:
        """How many have not ended, of one user or of all."""
        statement = select(RunRow.id).where(RunRow.status != "finished")
        if user_id is not None:
            statement = statement.where(RunRow.user_id == user_id)
        async with self._database.reading() as session:
            return len((await session.scalars(statement)).all())

    async def claim(self, worker: str, lease: timedelta, limit: int = 1) -> list[Run]:
        """Take queued runs, and running ones whose worker has not renewed its lease; the oldest first. No two get the same."""
        at = self._clock()
        lost = and_(RunRow.status == "running", or_(RunRow.lease_until.is_(None), RunRow.lease_until < at))
        free = select(RunRow.id).where(or_(RunRow.status == "queued", lost)).order_by(RunRow.id).limit(limit)
        async with self._database.writing() as session:
            ids = list(await session.scalars(free.with_for_update(skip_locked=True)))
            taken = (
                update(RunRow).where(RunRow.id.in_(ids)).values(worker=worker, lease_until=at + lease, status="running")
            )
            rows = (await session.scalars(taken.returning(RunRow))).all()
            for row in rows:
                row.started_at = row.started_at or at
        return sorted((_run(row) for row in rows), key=lambda run: run.id)

    async def renew(self, worker: str, lease: timedelta) -> set[str]:
        """Go on holding all that this worker holds; their ids. What is missing was lost."""
        held = (RunRow.worker == worker) & (RunRow.status == "running")
        renewed = update(RunRow).where(held).values(lease_until=self._clock() + lease).returning(RunRow.id)
        async with self._database.writing() as session:
            return set(await session.scalars(renewed))

    async def put_down(self, run_id: str, worker: str, status: Literal["queued", "waiting"]) -> bool:
        """Let go of it: to be taken up by any worker, or to wait for a person. False: it was not this worker's.

        It does not wait where its questions are answered or its end was asked for meanwhile: then it is queued.
        """
        still_open = select(InputRow.key).where(InputRow.run_id == run_id, InputRow.answered_at.is_(None)).limit(1)
        async with self._database.writing() as session:
            row = await session.scalar(select(RunRow).where(_held(run_id, worker)).with_for_update())
            if row is None:
                return False
            waits = status == "waiting" and row.cancel_at is None and await session.scalar(still_open) is not None
            row.status, row.worker, row.lease_until = "waiting" if waits else "queued", None, None
        return True

    async def finish(self, run_id: str, worker: str, outcome: Outcome, usage: JsonObject, *, answer: str = "") -> bool:
        """It has ended. ``answer``: said in its conversation with it. False: it was not this worker's."""
        at = self._clock()
        ended: dict[str, Any] = {"status": "finished", "outcome": outcome, "usage": usage, "finished_at": at}
        held = _held(run_id, worker)
        async with self._database.writing() as session:
            conversation = await session.scalar(select(RunRow.conversation_id).where(held))
            if conversation is None:
                return False
            if answer:  # the conversation first: the order in which a removal takes them
                told = update(ConversationRow).where(ConversationRow.id == conversation).values(updated_at=at)
                await session.execute(told)
            chosen = update(RunRow).where(held).values(worker=None, lease_until=None, **ended).returning(RunRow)
            row = await session.scalar(chosen)
            if row is not None and answer:
                session.add(_message(row, "assistant", answer, at))
        return row is not None

    async def cancel(self, run_id: str, user_id: str) -> Run:
        """Ask for its end; a waiting run is queued for it. Idempotent. ``NotFoundError``: this user has no such run."""
        at = self._clock()
        async with self._database.writing() as session:
            row = await self._locked(session, run_id, user_id)
            if row.status != "finished":
                row.cancel_at = row.cancel_at or at
                row.status = "queued" if row.status == "waiting" else row.status
            return _run(row)

    async def cancelled(self, worker: str) -> set[str]:
        """Those of this worker's runs whose end was asked for."""
        asked = (RunRow.worker == worker) & (RunRow.status == "running") & RunRow.cancel_at.is_not(None)
        async with self._database.reading() as session:
            return set(await session.scalars(select(RunRow.id).where(asked)))

    async def set_plan(self, run_id: str, user_id: str, plan: JsonObject, version: int, asked: str = "") -> Run:
        """Put an edited plan in place of version ``version`` (0: there was none). ``asked``: the question about it.

        Raises:
            NotFoundError: this user has no such run. ConflictError: it was edited meanwhile, the run has ended or its question is answered.
        """
        async with self._database.writing() as session:
            row = await self._locked(session, run_id, user_id)
            if row.plan_version != version or row.status == "finished":
                raise ConflictError(
                    f"the plan is at version {row.plan_version} and the run {row.status}; read it again"
                )
            question = await session.get(InputRow, (run_id, asked)) if asked else None
            if question is not None and question.answered_at is not None:
                raise ConflictError("the plan was decided on already; it cannot be edited any more")
            row.plan, row.plan_version = plan, version + 1
            return _run(row)

    async def _locked(self, session: AsyncSession, run_id: str, user_id: str) -> RunRow:
        chosen = (RunRow.id == run_id) & (RunRow.user_id == user_id)
        row = await session.scalar(select(RunRow).where(chosen).with_for_update())
        if row is None:
            raise NotFoundError("there is no such run")
        return row


def _held(run_id: str, worker: str) -> ColumnElement[bool]:
    return (RunRow.id == run_id) & (RunRow.worker == worker) & (RunRow.status == "running")


def _message(row: RunRow, speaker: str, text: str, at: datetime) -> MessageRow:
    return MessageRow(
        id=new_id(),
        conversation_id=row.conversation_id,
        speaker=speaker,
        text=text,
        text_key=text.casefold(),
        run_id=row.id,
        created_at=at,
    )


def _run(row: RunRow) -> Run:
    return Run.model_validate({name: getattr(row, name) for name in Run.model_fields})
