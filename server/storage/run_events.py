"""What runs record: events, questions to the user, the ledger of effects, lessons that wait, and their removal."""

from collections.abc import AsyncIterator, Collection, Sequence
from datetime import datetime, timedelta
from typing import Literal

from pydantic import JsonValue
from sqlalchemy import ColumnElement, delete, exists, func, insert, select
from sqlalchemy.orm import Session, aliased

from domain.errors import ConflictError, NotFoundError
from server.storage.repository import Repository, StoredModel, to_model
from server.storage.rows.runs import ConversationRow, EventRow, InputRow, RunRow


class StoredEvent(StoredModel):
    """An event of a run, numbered from 1 without gaps."""

    run_id: str
    seq: int
    kind: str
    body: str
    """The event's record as JSON text, sent as it is."""


class RunEvents(Repository):
    """Stores the events of runs.

    A stored event never changes, except that a waiting lesson is replaced by what was learned.
    """

    async def append(self, events: Sequence[StoredEvent], *, durable: bool = False) -> None:
        """Append events in one statement: all or none.

        Raises:
            ConflictError: a number is taken, since another worker has the run now, or the run was deleted.
        """
        if not events:
            return
        rows = [event.model_dump() for event in events]
        await self._database.write(
            lambda session: session.execute(insert(EventRow), rows), durable=durable, single=True
        )

    async def list_after(self, run_id: str, seq: int = 0, limit: int = 500) -> list[StoredEvent]:
        """List a run's events in order, starting after the number ``seq``."""
        condition = (EventRow.run_id == run_id) & (EventRow.seq > seq)
        statement = select(EventRow).where(condition).order_by(EventRow.seq).limit(limit)
        return await self._database.read(lambda session: [to_event(row) for row in session.scalars(statement)])

    async def iterate_pages(self, run_id: str, size: int = 500) -> AsyncIterator[list[StoredEvent]]:
        """Yield all events of a run in order, ``size`` at a time."""
        after = 0
        while page := await self.list_after(run_id, after, size):
            yield page
            after = page[-1].seq

    async def list_kinds(self, run_id: str, kinds: Sequence[str]) -> list[StoredEvent]:
        """List a run's events of these kinds, in order."""
        condition = (EventRow.run_id == run_id) & EventRow.kind.in_(kinds)
        statement = select(EventRow).where(condition).order_by(EventRow.seq)
        return await self._database.read(lambda session: [to_event(row) for row in session.scalars(statement)])

    async def find_last_numbers(self, run_ids: Sequence[str]) -> dict[str, int]:
        """Return the greatest number of each run; runs without events are left out."""
        statement = select(EventRow.run_id, func.max(EventRow.seq)).where(EventRow.run_id.in_(run_ids))
        async with self._database.read_session() as session:
            return {row[0]: row[1] for row in await session.execute(statement.group_by(EventRow.run_id))}

    async def list_kinds_of_conversation(self, conversation_id: str, kinds: Sequence[str]) -> list[StoredEvent]:
        """List the events of these kinds in all runs of a conversation, the oldest run first."""
        condition = (RunRow.conversation_id == conversation_id) & EventRow.kind.in_(kinds)
        statement = select(EventRow).join(RunRow, RunRow.id == EventRow.run_id).where(condition)
        async with self._database.read_session() as session:
            rows = await session.scalars(statement.order_by(EventRow.run_id, EventRow.seq))
            return [to_event(row) for row in rows]


def to_event(row: EventRow) -> StoredEvent:
    """Build the event of a row."""
    return StoredEvent(run_id=row.run_id, seq=row.seq, kind=row.kind, body=row.body)


InputKind = Literal["plan", "call", "flow", "unknown_outcome", "question"]
"""A plan to approve, a call that changes data, values that go to another host, a call whose effect is unknown, or a
question about what the request leaves open.
"""


class RunQuestion(StoredModel):
    """A question that a run waits with."""

    run_id: str
    key: str
    """Identifies the question within its run; the same when the run is resumed."""
    kind: InputKind
    question: JsonValue
    asked_at: datetime
    answer: JsonValue = None
    answered_at: datetime | None = None
    """None while it is open."""


class RunQuestions(Repository):
    """Stores the questions of runs. Each is answered once."""

    async def ask(self, run_id: str, key: str, kind: InputKind, question: JsonValue) -> RunQuestion:
        """Ask a question, or return the one asked before: a resumed run asks again by the same key and gets the
        answer, if any.
        """
        row = InputRow(run_id=run_id, key=key, kind=kind, question=question, asked_at=self._clock())
        async with self._database.write_session() as session:
            if existing := await session.get(InputRow, (run_id, key)):
                return to_model(RunQuestion, existing)
            session.add(row)
        return to_model(RunQuestion, row)

    async def answer(
        self, run_id: str, key: str, user_id: str, answer: JsonValue, *, plan_version: int | None = None
    ) -> RunQuestion:
        """Answer a question; the run is queued if it waits.

        ``plan_version`` is the version of the run's plan that the answer is about.

        Raises:
            NotFoundError: no run of this user asked it.
            ConflictError: it was answered already, the run has ended, or its plan was edited meanwhile.
        """
        owned = select(RunRow).where(RunRow.id == run_id, RunRow.user_id == user_id)
        async with self._database.write_session() as session:
            # Lock the run's row first, as RunLeases.release does before a run waits: so no answer is missed.
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
            return to_model(RunQuestion, row)

    async def get(self, run_id: str, key: str) -> RunQuestion | None:
        """Return one question of a run."""
        async with self._database.read_session() as session:
            row = await session.get(InputRow, (run_id, key))
            return to_model(RunQuestion, row) if row else None

    async def list_all(self, run_id: str, *, open_only: bool = False) -> list[RunQuestion]:
        """List a run's questions in the order in which they were asked."""
        statement = select(InputRow).where(InputRow.run_id == run_id)
        if open_only:
            statement = statement.where(InputRow.answered_at.is_(None))
        ordered = statement.order_by(InputRow.asked_at, InputRow.key)
        return await self._database.read(
            lambda session: [to_model(RunQuestion, row) for row in session.scalars(ordered)]
        )

    async def list_answered(self, run_ids: Collection[str], until: datetime) -> list[RunQuestion]:
        """List the questions of these runs that users answered up to a time, in that order."""
        statement = select(InputRow).where(
            InputRow.run_id.in_(run_ids), InputRow.kind == "question", InputRow.answered_at <= until
        )
        ordered = statement.order_by(InputRow.answered_at, InputRow.key)
        return await self._database.read(
            lambda session: [to_model(RunQuestion, row) for row in session.scalars(ordered)]
        )


LAST_EVENT = "run.finished"
"""The event that is never removed: it holds the answer, and tells clients that follow the run that it has ended."""


class EventRetention(Repository):
    """Removes events of runs that ended long ago. The runs and their messages stay."""

    async def find_expired_runs(self, before: timedelta, limit: int = 1000) -> list[str]:
        """Return the ids of runs that ended longer ago than ``before`` and still have events besides the last, the
        oldest end first.
        """
        has_expired = (RunRow.status == "finished") & (RunRow.finished_at < self._clock() - before)
        has_more_events = exists().where(EventRow.run_id == RunRow.id, EventRow.seq == 1, EventRow.kind != LAST_EVENT)
        statement = (
            select(RunRow.id)
            .where(has_expired, has_more_events, _is_conversation_idle())
            .order_by(RunRow.finished_at)
            .limit(limit)
        )
        return await self._database.read(lambda session: list(session.scalars(statement)))

    async def remove_events(self, run_ids: Sequence[str]) -> int:
        """Delete all events of these runs but the last; return how many.

        A run whose conversation has got another unfinished run meanwhile keeps its events, since that run may refer
        to them.
        """
        conversation_ids = select(RunRow.conversation_id).where(RunRow.id.in_(run_ids))
        conversations = (
            select(ConversationRow.id).where(ConversationRow.id.in_(conversation_ids)).order_by(ConversationRow.id)
        )
        removable = select(RunRow.id).where(RunRow.id.in_(run_ids), _is_conversation_idle())
        removal = (
            delete(EventRow).where(EventRow.run_id.in_(removable), EventRow.kind != LAST_EVENT).returning(EventRow.seq)
        )

        def remove(session: Session) -> int:
            session.scalars(conversations.with_for_update()).all()  # nobody starts a run in them meanwhile
            return len(session.scalars(removal, execution_options={"synchronize_session": False}).all())

        return await self._database.write(remove)


def _is_conversation_idle() -> ColumnElement[bool]:
    """Return the condition that a run's conversation has no unfinished run, which would read the results of earlier
    ones.
    """
    other = aliased(RunRow)
    is_unfinished = other.status.in_(("queued", "running", "waiting"))
    return ~exists().where(other.conversation_id == RunRow.conversation_id, is_unfinished)
