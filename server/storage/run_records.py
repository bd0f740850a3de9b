"""What runs record: events, questions to the user, the ledger of effects, lessons that wait, and their removal."""

from collections.abc import AsyncIterator, Collection, Sequence
from datetime import datetime, timedelta
from typing import Literal

from pydantic import Field, JsonValue
from sqlalchemy import ColumnElement, delete, exists, func, insert, select, update
from sqlalchemy.orm import Session, aliased

from domain.errors import ConflictError, NotFoundError
from domain.model import JsonObject
from domain.plan import CallOutcome
from server.storage.repository import Repository, StoredModel, to_model
from server.storage.rows.runs import ConversationRow, EffectRow, EventRow, InputRow, LessonRow, RunRow


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


class NewEffect(StoredModel):
    """A call that is about to be made."""

    run_id: str
    call_key: str
    """Identifies the call within its run; the same when the run is resumed."""
    tool: str
    method: str
    idempotent: bool
    arguments: JsonObject = Field(default_factory=dict)
    result: JsonObject | None = None
    """Where the call goes and, once it has ended, the parts of the response that are stored."""


class Effect(NewEffect):
    """A recorded call."""

    started_at: datetime
    finished_at: datetime | None = None
    """None where the call was started and its end is unknown."""
    outcome: CallOutcome | None = None


class EffectLedger(Repository):
    """Ledger of effects: a call is recorded before it is made, so that it is never made twice.

    After a crash, an entry without an end is a call whose effect is unknown.
    """

    async def begin(self, effect: NewEffect) -> Effect | None:
        """Record a call, on disk when this returns.

        Return None where the call may be made, or the existing entry of one that must not be repeated.
        """
        row = EffectRow(started_at=self._clock(), **effect.model_dump())
        async with self._database.write_session(durable=True) as session:
            # The run's row is not locked: two that begin the same call meet in the primary key.
            if existing := await session.get(EffectRow, (effect.run_id, effect.call_key)):
                return to_model(Effect, existing)
            session.add(row)
        return None

    async def finish(self, run_id: str, call_key: str, outcome: CallOutcome, result: JsonObject) -> bool:
        """Record how a call ended, once. Return False where it has no unfinished entry."""
        unfinished = (EffectRow.run_id == run_id) & (EffectRow.call_key == call_key) & EffectRow.finished_at.is_(None)
        change = update(EffectRow).where(unfinished).values(finished_at=self._clock(), outcome=outcome, result=result)
        async with self._database.write_session(durable=True, single=True) as session:
            return await session.scalar(change.returning(EffectRow.call_key)) is not None

    async def remove_open(self, run_id: str, call_key: str) -> None:
        """Remove the unfinished entry of a call of which nothing was sent, so that it may be made again."""
        unfinished = (EffectRow.run_id == run_id) & (EffectRow.call_key == call_key) & EffectRow.finished_at.is_(None)
        async with self._database.write_session(durable=True, single=True) as session:
            await session.execute(delete(EffectRow).where(unfinished))

    async def get(self, run_id: str, call_key: str) -> Effect | None:
        """Return a run's entry for a call."""
        async with self._database.read_session() as session:
            row = await session.get(EffectRow, (run_id, call_key))
            return to_model(Effect, row) if row else None

    async def list_all(self, run_id: str) -> list[Effect]:
        """List a run's entries in the order in which the calls were started."""
        statement = select(EffectRow).where(EffectRow.run_id == run_id)
        async with self._database.read_session() as session:
            rows = await session.scalars(statement.order_by(EffectRow.started_at, EffectRow.call_key))
            return [to_model(Effect, row) for row in rows]


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
