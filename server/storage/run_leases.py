"""Runs in the hands of workers: which is next, the lease that holds it, and its end."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import ColumnElement, Select, and_, case, func, literal, or_, select, union_all, update
from sqlalchemy.orm import Session

from domain.event import RunOutcome
from domain.model import JsonObject
from server.storage.accounts import ACCOUNT_DISABLED
from server.storage.conversations import build_message_values
from server.storage.repository import Repository
from server.storage.rows.accounts import UserRow
from server.storage.rows.runs import ConversationRow, EventRow, InputRow, LessonRow, MessageRow, RunRow, RunToolRow
from server.storage.run_records import StoredEvent
from server.storage.runs import Run, to_run
from server.storage.statement_chain import StatementChain, insert_for_each


class RunLeases(Repository):
    """Leases by which workers hold runs. A worker that has lost a run gets False."""

    async def claim(
        self,
        worker: str,
        lease: timedelta,
        limit: int = 1,
        *,
        per_user: int | None = None,
        ending_only: bool = False,
        run_ids: Collection[str] | None = None,
    ) -> list[Run]:
        """Take queued runs, and running ones whose lease has expired, in fair turns between users. No two workers get
        the same.

        ``per_user`` limits the runs of one user that this worker may hold. ``ending_only`` takes only runs that are
        to end whatever happens: cancelled ones, and those that were tried for long enough. ``run_ids`` takes none
        but these.
        """
        at = self._clock()
        due = or_(RunRow.cancel_at.is_not(None), RunRow.tried_until <= at) if ending_only else _is_due(at)
        if run_ids is not None:
            due = and_(due, RunRow.id.in_(run_ids))
        next_runs = select_next_runs(worker, at, limit, due, per_user)
        values: dict[str, Any] = {
            "worker": worker,
            "lease_until": at + lease,
            "status": "running",
            "started_at": func.coalesce(RunRow.started_at, literal(at, RunRow.started_at.type)),
        }
        claimable = next_runs.cte("chosen")
        has_events = select(EventRow.seq).where(EventRow.run_id == RunRow.id).exists()
        change = (
            update(RunRow).where(RunRow.id.in_(select(claimable.c.id))).values(values).returning(RunRow, has_events)
        )

        def claim(session: Session) -> list[Run]:
            rows = session.execute(change, execution_options={"synchronize_session": False})
            runs = [to_run(row).model_copy(update={"is_new": not has_begun}) for row, has_begun in rows]
            return sorted(runs, key=lambda run: run.id)

        return await self._database.write(claim, single=True)

    async def has_due(self) -> bool:
        """Return whether there may be a run to take up now."""
        at = self._clock()
        queued = select(RunRow.id).where(RunRow.status == "queued", _is_due(at)).exists()
        lost = select(RunRow.id).where(is_lost(at)).exists()
        return bool(await self._database.read(lambda session: session.scalar(select(or_(queued, lost)))))

    async def list_due(self, limit: int) -> list[str]:
        """List the ids of queued runs that may be taken up now, the oldest first."""
        due = (
            select(RunRow.id).where(RunRow.status == "queued", _is_due(self._clock())).order_by(RunRow.id).limit(limit)
        )
        return await self._database.read(lambda session: list(session.scalars(due)))

    async def renew(self, worker: str, lease: timedelta) -> set[str]:
        """Extend all leases of a worker. Return the ids of its runs; one that is missing was lost."""
        condition = (RunRow.worker == worker) & (RunRow.status == "running")
        change = update(RunRow).where(condition).values(lease_until=self._clock() + lease).returning(RunRow.id)
        return await self._database.write(lambda session: set(session.scalars(change)), single=True)

    async def release(self, run_id: str, worker: str, status: Literal["queued", "waiting"]) -> bool:
        """Let any worker take the run up again, or let it wait for its user. Return False where this worker does not
        hold it.

        A run whose questions were answered, or that was cancelled meanwhile, is queued instead of waiting.
        """
        still_open = select(InputRow.key).where(InputRow.run_id == run_id, InputRow.answered_at.is_(None)).limit(1)
        async with self._database.write_session() as session:
            row = await session.scalar(select(RunRow).where(_is_held(run_id, worker)).with_for_update())
            if row is None:
                return False
            waits = status == "waiting" and row.cancel_at is None and await session.scalar(still_open) is not None
            row.status, row.worker, row.lease_until = "waiting" if waits else "queued", None, None
        return True

    async def store_usage(self, run_id: str, worker: str, usage: JsonObject) -> None:
        """Store what the run has used so far, while this worker holds it, for whoever resumes it."""
        change = update(RunRow).where(_is_held(run_id, worker)).values(usage=usage)
        await self._database.write(lambda session: session.execute(change), single=True)

    async def postpone(self, run_id: str, worker: str, pause: timedelta, keep_trying: timedelta | None = None) -> bool:
        """Queue the run to be taken up after a pause. Return False where this worker does not hold it.

        ``keep_trying`` sets for how long it is tried yet; None leaves that as it is.
        """
        at = self._clock()
        change = update(RunRow).where(_is_held(run_id, worker)).returning(RunRow.id)
        values: dict[str, Any] = {"not_before": at + pause} | ({"tried_until": at + keep_trying} if keep_trying else {})
        change = change.values(status="queued", worker=None, lease_until=None, **values)
        return await self._database.write(lambda session: session.scalar(change), single=True) is not None

    async def finish(
        self,
        run_id: str,
        worker: str,
        outcome: RunOutcome,
        usage: JsonObject,
        *,
        answer: str = "",
        last_event: StoredEvent | None = None,
        calls_by_tool: Mapping[str, int] | None = None,
        has_lesson: bool = False,
    ) -> bool:
        """Store the end of a run with everything that belongs to it, all or nothing. Return False where this worker
        does not hold it.

        ``answer`` is added to the conversation; ``has_lesson`` lets its lesson wait for a store.

        Raises:
            ConflictError: the number of ``last_event`` is taken.
        """
        at = self._clock()
        values: dict[str, Any] = {"status": "finished", "outcome": outcome, "usage": usage, "finished_at": at}
        held = _is_held(run_id, worker)
        change_run = update(RunRow).where(held).values(worker=None, lease_until=None, **values)
        touch_conversation = update(ConversationRow).values(updated_at=at)
        touch_conversation = touch_conversation.where(
            ConversationRow.id.in_(select(RunRow.conversation_id).where(held))
        )

        def finish(session: Session) -> bool:
            chain = StatementChain(session)
            change = change_run
            if answer:  # lock the conversation first, in the order of a deletion, to avoid deadlocks
                conversation = chain.add(touch_conversation.returning(ConversationRow.id))
                change = change_run.where(RunRow.conversation_id == conversation.c.id)
            finished = chain.add(change.returning(RunRow.id, RunRow.conversation_id))
            if answer:
                message = build_message_values(run_id, "assistant", answer, at)
                chain.add(
                    insert_for_each(finished, MessageRow, message | {"conversation_id": finished.c.conversation_id})
                )
            if has_lesson:
                chain.add(insert_for_each(finished, LessonRow, {"run_id": run_id, "kept_at": at, "turn_at": at}))
            if last_event is not None:
                chain.add(insert_for_each(finished, EventRow, last_event.model_dump()))
            for tool, calls in (calls_by_tool or {}).items():
                chain.add(insert_for_each(finished, RunToolRow, {"run_id": run_id, "tool": tool, "calls": calls}))
            return chain.fetch(select(finished.c.id)).one_or_none() is not None

        return await self._database.write(finish, single=True)

    async def list_cancelled(self, worker: str) -> dict[str, str]:
        """Return the reasons to end runs of this worker, by run id; empty where the user cancelled."""
        condition = (RunRow.worker == worker) & (RunRow.status == "running") & RunRow.cancel_at.is_not(None)
        async with self._database.read_session() as session:
            rows = await session.execute(select(RunRow.id, RunRow.cancel_why).where(condition))
            return {row.id: row.cancel_why or "" for row in rows}

    async def find_stop_reason(self, run_id: str) -> str | None:
        """Return why a run must make no further call: it was cancelled, its user was disabled, or it was deleted; None
        where it may go on.
        """
        statement = select(RunRow.cancel_at, RunRow.cancel_why, UserRow.disabled_at)
        run_with_user = statement.join(UserRow, UserRow.id == RunRow.user_id).where(RunRow.id == run_id)
        row = await self._database.read(lambda session: session.execute(run_with_user).one_or_none())
        if row is None:
            return "the run was removed"
        if row.cancel_at is not None:
            return row.cancel_why or ""
        return ACCOUNT_DISABLED if row.disabled_at is not None else None

    async def release_workers(self, workers: Sequence[str]) -> int:
        """Queue the runs of workers that are gone; return how many."""
        of_workers = RunRow.worker.in_(workers) & (RunRow.status == "running")
        change = update(RunRow).where(of_workers).values(status="queued", worker=None, lease_until=None)
        async with self._database.write_session() as session:
            return len((await session.scalars(change.returning(RunRow.id))).all())


def _is_due(at: datetime) -> ColumnElement[bool]:
    """Return the condition that a run was not postponed beyond ``at``, or is to be ended."""
    return or_(RunRow.not_before.is_(None), RunRow.not_before <= at, RunRow.cancel_at.is_not(None))


def _is_held(run_id: str, worker: str) -> ColumnElement[bool]:
    return (RunRow.id == run_id) & (RunRow.worker == worker) & (RunRow.status == "running")


def select_next_runs(
    worker: str, at: datetime, limit: int, due: ColumnElement[bool], per_user: int | None = None
) -> Select[str]:
    """Select the ids of runs to take up: users with the fewest running runs first, and of one user the oldest.

    ``due`` tells which runs may be taken up now. ``per_user`` limits the runs of one user that this worker may hold
    at a time; runs that are to be ended are exempt.
    """
    columns = select(RunRow.id, RunRow.user_id)
    # In two parts, so that each is read off its index alone.
    candidates = union_all(columns.where(RunRow.status == "queued", due), columns.where(is_lost(at), due)).subquery(
        "either"
    )
    number = func.row_number().over(partition_by=candidates.c.user_id, order_by=candidates.c.id).label("number")
    free = select(candidates.c.id, candidates.c.user_id, number).subquery("free")
    is_own = case((RunRow.worker == worker, 1), else_=0)
    running = (
        select(RunRow.user_id, func.count().label("everywhere"), func.sum(is_own).label("here"))
        .where(RunRow.status == "running", RunRow.lease_until >= at)
        .group_by(RunRow.user_id)
        .subquery("under_way")
    )
    order = free.c.number + func.coalesce(running.c.everywhere, 0)
    statement = (
        select(RunRow.id)
        .join(free, free.c.id == RunRow.id)
        .outerjoin(running, running.c.user_id == RunRow.user_id)
        .where(
            due, or_(RunRow.status == "queued", is_lost(at))
        )  # checked again, since another worker may have taken it while its row was locked
        .order_by(order, RunRow.id)
        .limit(limit)
        .with_for_update(of=RunRow, skip_locked=True)
    )
    if per_user is not None:
        has_capacity = free.c.number + func.coalesce(running.c.here, 0) <= per_user
        statement = statement.where(or_(RunRow.cancel_at.is_not(None), has_capacity))
    return statement


def is_lost(at: datetime) -> ColumnElement[bool]:
    """Return the condition that a run is running and its worker has not renewed the lease."""
    return and_(RunRow.status == "running", or_(RunRow.lease_until.is_(None), RunRow.lease_until < at))
