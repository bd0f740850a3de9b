"""Questions that runs wait with, each answered once."""

from collections.abc import Collection
from datetime import datetime
from typing import Literal

from pydantic import JsonValue
from sqlalchemy import select

from domain.errors import ConflictError, NotFoundError
from domain.model import Model
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.rows.runs import InputRow, RunRow

InputKind = Literal["plan", "call", "flow", "unknown_outcome", "question"]
"""A plan to approve, a call that changes something, values of a host's answers that go to another, a call of which nobody knows whether it had its effect,
a question about what the request leaves open."""


class Input(Model):
    """``answered_at`` None: it is still open."""

    run_id: str
    key: str
    kind: InputKind
    question: JsonValue
    asked_at: datetime
    answer: JsonValue = None
    answered_at: datetime | None = None


class Inputs:
    """The questions of a database's runs."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def ask(self, run_id: str, key: str, kind: InputKind, question: JsonValue) -> Input:
        """Ask it, or find it asked already: a resumed run asks again by the same key and gets the answer if there is one."""
        row = InputRow(run_id=run_id, key=key, kind=kind, question=question, asked_at=self._clock())
        async with self._database.writing() as session:
            if there := await session.get(InputRow, (run_id, key)):
                return _input(there)
            session.add(row)
        return _input(row)

    async def answer(
        self, run_id: str, key: str, user_id: str, answer: JsonValue, *, plan_version: int | None = None
    ) -> Input:
        """Answer it; the run is queued if it waits. ``plan_version``: of the run's plan that the answer is about.

        Raises:
            NotFoundError: no run of this user asked it. ConflictError: it was answered already, the run has ended, or its plan was edited meanwhile.
        """
        owned = select(RunRow).where(RunRow.id == run_id, RunRow.user_id == user_id)
        async with self._database.writing() as session:
            # The run's row is locked first, as by who puts it down to wait: an answer is never missed.
            run = await session.scalar(owned.with_for_update())
            row = await session.get(InputRow, (run_id, key), populate_existing=True) if run else None
            if run is None or row is None:
                raise NotFoundError("no run of yours asks this")
            if row.answered_at is not None:
                raise ConflictError("this was answered already")
            if run.status == "finished":
                raise ConflictError("the run has ended, so that there is nothing to answer")
            if run.cancel_at is not None:
                raise ConflictError("the run is being ended, so that there is nothing to answer")
            if plan_version is not None and run.plan_version != plan_version:
                raise ConflictError("the plan was edited meanwhile; read it again")
            row.answer, row.answered_at = answer, self._clock()
            run.status = "queued" if run.status == "waiting" else run.status
            return _input(row)

    async def get(self, run_id: str, key: str) -> Input | None:
        """One question of a run."""
        async with self._database.reading() as session:
            row = await session.get(InputRow, (run_id, key))
            return _input(row) if row else None

    async def all(self, run_id: str, *, open_only: bool = False) -> list[Input]:
        """A run's questions in the order they were asked."""
        statement = select(InputRow).where(InputRow.run_id == run_id)
        if open_only:
            statement = statement.where(InputRow.answered_at.is_(None))
        ordered = statement.order_by(InputRow.asked_at, InputRow.key)
        return await self._database.read(lambda session: [_input(row) for row in session.scalars(ordered)])

    async def said(self, run_ids: Collection[str], until: datetime) -> list[Input]:
        """What the users of these runs answered to questions, until then, in that order."""
        statement = select(InputRow).where(
            InputRow.run_id.in_(run_ids), InputRow.kind == "question", InputRow.answered_at <= until
        )
        ordered = statement.order_by(InputRow.answered_at, InputRow.key)
        return await self._database.read(lambda session: [_input(row) for row in session.scalars(ordered)])


def _input(row: InputRow) -> Input:
    return Input.model_validate({name: getattr(row, name) for name in Input.model_fields})
