"""The events of runs, the questions that runs wait with, and the removal of old events."""

from collections.abc import AsyncIterator, Collection, Sequence
from datetime import datetime, timedelta
from typing import Literal

from pydantic import JsonValue
from sqlalchemy import ColumnElement, delete, exists, func, insert, select
from sqlalchemy.orm import Session, aliased

from domain.errors import ConflictError, NotFoundError
from domain.model import Model
from server.storage.repository import Repository, to_model
from server.storage.rows.runs import ConversationRow, EventRow, InputRow, RunRow


class StoredEvent(Model):
    """``body``: the event's record as JSON text, to be sent as it is."""

    run_id: str
    seq: int
    kind: str
    body: str


class RunEvents(Repository):
    """The events of a database's runs."""

    async def append(self, events: Sequence[StoredEvent], *, durable: bool = False) -> None:
        """Write them in one statement: all or none.

        Raises ``ConflictError`` where a number is taken (another worker has this run now) or the run is gone.
        """
        if not events:
            return
        rows = [event.model_dump() for event in events]
        await self._database.write(
            lambda session: session.execute(insert(EventRow), rows), durable=durable, single=True
        )

    async def list_after(self, run_id: str, seq: int = 0, limit: int = 500) -> list[StoredEvent]:
        """In order, those after number ``seq``."""
        chosen = (EventRow.run_id == run_id) & (EventRow.seq > seq)
        statement = select(EventRow).where(chosen).order_by(EventRow.seq).limit(limit)
        return await self._database.read(lambda session: [to_event(row) for row in session.scalars(statement)])

    async def iterate_pages(self, run_id: str, size: int = 500) -> AsyncIterator[list[StoredEvent]]:
        """All of a run's events in order, ``size`` at a time."""
        after = 0
        while page := await self.list_after(run_id, after, size):
            yield page
            after = page[-1].seq

    async def list_kinds(self, run_id: str, kinds: Sequence[str]) -> list[StoredEvent]:
        """A run's events of these kinds, in order."""
        chosen = (EventRow.run_id == run_id) & EventRow.kind.in_(kinds)
        statement = select(EventRow).where(chosen).order_by(EventRow.seq)
        return await self._database.read(lambda session: [to_event(row) for row in session.scalars(statement)])

    async def find_last_numbers(self, run_ids: Sequence[str]) -> dict[str, int]:
        """The greatest number of each of these runs; those without events are left out."""
        chosen = select(EventRow.run_id, func.max(EventRow.seq)).where(EventRow.run_id.in_(run_ids))
        async with self._database.read_session() as session:
            return {row[0]: row[1] for row in await session.execute(chosen.group_by(EventRow.run_id))}

    async def list_kinds_of_conversation(self, conversation_id: str, kinds: Sequence[str]) -> list[StoredEvent]:
        """Events of these kinds in all runs of a conversation, the oldest run first."""
        chosen = (RunRow.conversation_id == conversation_id) & EventRow.kind.in_(kinds)
        statement = select(EventRow).join(RunRow, RunRow.id == EventRow.run_id).where(chosen)
        async with self._database.read_session() as session:
            rows = await session.scalars(statement.order_by(EventRow.run_id, EventRow.seq))
            return [to_event(row) for row in rows]


def to_event(row: EventRow) -> StoredEvent:
    """The event in a row."""
    return StoredEvent(run_id=row.run_id, seq=row.seq, kind=row.kind, body=row.body)


InputKind = Literal["plan", "call", "flow", "unknown_outcome", "question"]
"""A plan to approve, a call that changes something, values of a host's answers that go to another, a call of which nobody knows whether it had its effect,
a question about what the request leaves open."""


class RunQuestion(Model):
    """``answered_at`` None: it is still open."""

    run_id: str
    key: str
    kind: InputKind
    question: JsonValue
    asked_at: datetime
    answer: JsonValue = None
    answered_at: datetime | None = None


class RunQuestions(Repository):
    """The questions of a database's runs."""

    async def ask(self, run_id: str, key: str, kind: InputKind, question: JsonValue) -> RunQuestion:
        """Ask it, or find it asked already: a resumed run asks again by the same key and gets the answer if there is one."""
        row = InputRow(run_id=run_id, key=key, kind=kind, question=question, asked_at=self._clock())
        async with self._database.write_session() as session:
            if there := await session.get(InputRow, (run_id, key)):
                return to_model(RunQuestion, there)
            session.add(row)
        return to_model(RunQuestion, row)

    async def answer(
        self, run_id: str, key: str, user_id: str, answer: JsonValue, *, plan_version: int | None = None
    ) -> RunQuestion:
        """Answer it; the run is queued if it waits. ``plan_version``: of the run's plan that the answer is about.

        Raises:
            NotFoundError: no run of this user asked it. ConflictError: it was answered already, the run has ended, or its plan was edited meanwhile.
        """
        owned = select(RunRow).where(RunRow.id == run_id, RunRow.user_id == user_id)
        async with self._database.write_session() as session:
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
            return to_model(RunQuestion, row)

    async def get(self, run_id: str, key: str) -> RunQuestion | None:
        """One question of a run."""
        async with self._database.read_session() as session:
            row = await session.get(InputRow, (run_id, key))
            return to_model(RunQuestion, row) if row else None

    async def list_all(self, run_id: str, *, open_only: bool = False) -> list[RunQuestion]:
        """A run's questions in the order they were asked."""
        statement = select(InputRow).where(InputRow.run_id == run_id)
        if open_only:
            statement = statement.where(InputRow.answered_at.is_(None))
        ordered = statement.order_by(InputRow.asked_at, InputRow.key)
        return await self._database.read(
            lambda session: [to_model(RunQuestion, row) for row in session.scalars(ordered)]
        )

    async def list_answered(self, run_ids: Collection[str], until: datetime) -> list[RunQuestion]:
        """What the users of these runs answered to questions, until then, in that order."""
        statement = select(InputRow).where(
            InputRow.run_id.in_(run_ids), InputRow.kind == "question", InputRow.answered_at <= until
        )
        ordered = statement.order_by(InputRow.answered_at, InputRow.key)
        return await self._database.read(
            lambda session: [to_model(RunQuestion, row) for row in session.scalars(ordered)]
        )


LAST_EVENT = "run.finished"
"""The event that stays: it holds the answer, and who follows the run is told by it that it has ended."""


class EventRetention(Repository):
    """Of a database. The runs themselves stay, with what was said in their conversations."""

    async def find_expired_runs(self, before: timedelta, limit: int = 1000) -> list[str]:
        """Runs that ended so long ago and have more than their last event, the first to end first."""
        long_ago = (RunRow.status == "finished") & (RunRow.finished_at < self._clock() - before)
        more = exists().where(EventRow.run_id == RunRow.id, EventRow.seq == 1, EventRow.kind != LAST_EVENT)
        chosen = (
            select(RunRow.id).where(long_ago, more, _is_conversation_idle()).order_by(RunRow.finished_at).limit(limit)
        )
        return await self._database.read(lambda session: list(session.scalars(chosen)))

    async def remove_events(self, run_ids: Sequence[str]) -> int:
        """Remove all events of these runs but their last; how many. A run that came into a conversation meanwhile keeps what it may refer to."""
        talks = select(RunRow.conversation_id).where(RunRow.id.in_(run_ids))
        held = select(ConversationRow.id).where(ConversationRow.id.in_(talks)).order_by(ConversationRow.id)
        still = select(RunRow.id).where(RunRow.id.in_(run_ids), _is_conversation_idle())
        gone = delete(EventRow).where(EventRow.run_id.in_(still), EventRow.kind != LAST_EVENT).returning(EventRow.seq)

        def removed(session: Session) -> int:
            session.scalars(held.with_for_update()).all()  # who asks for a run in one of them waits
            return len(session.scalars(gone, execution_options={"synchronize_session": False}).all())

        return await self._database.write(removed)


def _is_conversation_idle() -> ColumnElement[bool]:
    """In the conversation of a run: one that goes on, or waits, sees what earlier ones have found each time that it is taken up."""
    other = aliased(RunRow)
    under_way = other.status.in_(("queued", "running", "waiting"))
    return ~exists().where(other.conversation_id == RunRow.conversation_id, under_way)
