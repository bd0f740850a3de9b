"""Runs in the hands of workers: which is next, the lease that holds it, and its end."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import ColumnElement, Select, and_, case, func, literal, or_, select, union_all, update
from sqlalchemy.orm import Session

from domain.event import Outcome
from domain.model import JsonObject
from server.storage.accounts import ACCOUNT_DISABLED
from server.storage.conversations import build_message_values
from server.storage.repository import Repository
from server.storage.rows.accounts import UserRow
from server.storage.rows.runs import ConversationRow, EventRow, InputRow, LessonRow, MessageRow, RunRow, RunToolRow
from server.storage.run_events import StoredEvent
from server.storage.runs import Run, to_run
from server.storage.statement_chain import StatementChain, insert_for_each


class RunLeases(Repository):
    """Those of a database. Who lost a run meanwhile is told by False."""

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
        """Take queued runs, and running ones whose worker has not renewed its lease, users in turn. No two get the same.

        ``of_one``: how many of one user's runs this worker may have at a time. ``ending``: only those that are to end whatever they find: they were
        cancelled, or tried for long enough. ``only``: none but these.
        """
        at = self._clock()
        due = or_(RunRow.cancel_at.is_not(None), RunRow.tried_until <= at) if ending_only else _is_due(at)
        if run_ids is not None:
            due = and_(due, RunRow.id.in_(run_ids))
        free = select_next_runs(worker, at, limit, due, per_user)
        held: dict[str, Any] = {
            "worker": worker,
            "lease_until": at + lease,
            "status": "running",
            "started_at": func.coalesce(RunRow.started_at, literal(at, RunRow.started_at.type)),
        }
        chosen = free.cte("chosen")
        has_events = select(EventRow.seq).where(EventRow.run_id == RunRow.id).exists()
        taken = update(RunRow).where(RunRow.id.in_(select(chosen.c.id))).values(held).returning(RunRow, has_events)

        def claimed(session: Session) -> list[Run]:
            rows = session.execute(taken, execution_options={"synchronize_session": False})
            runs = [to_run(row).model_copy(update={"is_new": not begun}) for row, begun in rows]
            return sorted(runs, key=lambda run: run.id)

        return await self._database.write(claimed, single=True)

    async def has_due(self) -> bool:
        """Whether there may be a run to be taken up now."""
        at = self._clock()
        queued = select(RunRow.id).where(RunRow.status == "queued", _is_due(at)).exists()
        left = select(RunRow.id).where(is_lost(at)).exists()
        return bool(await self._database.read(lambda session: session.scalar(select(or_(queued, left)))))

    async def list_due(self, limit: int) -> list[str]:
        """Runs that are queued and may be taken up now, the oldest first."""
        due = (
            select(RunRow.id).where(RunRow.status == "queued", _is_due(self._clock())).order_by(RunRow.id).limit(limit)
        )
        return await self._database.read(lambda session: list(session.scalars(due)))

    async def renew(self, worker: str, lease: timedelta) -> set[str]:
        """Go on holding all that this worker holds; their ids. What is missing was lost."""
        held = (RunRow.worker == worker) & (RunRow.status == "running")
        renewed = update(RunRow).where(held).values(lease_until=self._clock() + lease).returning(RunRow.id)
        return await self._database.write(lambda session: set(session.scalars(renewed)), single=True)

    async def release(self, run_id: str, worker: str, status: Literal["queued", "waiting"]) -> bool:
        """Let go of it: to be taken up by any worker, or to wait for a person. False: it was not this worker's.

        It does not wait where its questions are answered or its end was asked for meanwhile: then it is queued.
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
        """What it has taken until now, while this worker holds it: who takes it up goes on from there."""
        kept = update(RunRow).where(_is_held(run_id, worker)).values(usage=usage)
        await self._database.write(lambda session: session.execute(kept), single=True)

    async def postpone(self, run_id: str, worker: str, pause: timedelta, keep_trying: timedelta | None = None) -> bool:
        """Let go of it, to be taken up after a pause; ``trying``: for how long yet, None: as before. False: it was not this worker's."""
        at = self._clock()
        put = update(RunRow).where(_is_held(run_id, worker)).returning(RunRow.id)
        waits: dict[str, Any] = {"not_before": at + pause} | ({"tried_until": at + keep_trying} if keep_trying else {})
        put = put.values(status="queued", worker=None, lease_until=None, **waits)
        return await self._database.write(lambda session: session.scalar(put), single=True) is not None

    async def finish(
        self,
        run_id: str,
        worker: str,
        outcome: Outcome,
        usage: JsonObject,
        *,
        answer: str = "",
        last_event: StoredEvent | None = None,
        calls_by_tool: Mapping[str, int] | None = None,
        has_lesson: bool = False,
    ) -> bool:
        """It has ended. ``answer``: said in its conversation; ``last``: its last event; ``called``: how often it called which tools;
        ``lesson``: what it teaches waits for a store; all with it or not at all.

        False: it was not this worker's. ``ConflictError``: the event's number is taken.
        """
        at = self._clock()
        values: dict[str, Any] = {"status": "finished", "outcome": outcome, "usage": usage, "finished_at": at}
        held = _is_held(run_id, worker)
        ended = update(RunRow).where(held).values(worker=None, lease_until=None, **values)
        touched = update(ConversationRow).values(updated_at=at)
        touched = touched.where(ConversationRow.id.in_(select(RunRow.conversation_id).where(held)))

        def finish(session: Session) -> bool:
            chain = StatementChain(session)
            change = ended
            if answer:  # the conversation first: the order in which a removal takes them
                conversation = chain.add(touched.returning(ConversationRow.id))
                change = ended.where(RunRow.conversation_id == conversation.c.id)
            own = chain.add(change.returning(RunRow.id, RunRow.conversation_id))
            if answer:
                message = build_message_values(run_id, "assistant", answer, at)
                chain.add(insert_for_each(own, MessageRow, message | {"conversation_id": own.c.conversation_id}))
            if has_lesson:
                chain.add(insert_for_each(own, LessonRow, {"run_id": run_id, "kept_at": at, "turn_at": at}))
            if last_event is not None:
                chain.add(insert_for_each(own, EventRow, last_event.model_dump()))
            for tool, calls in (calls_by_tool or {}).items():
                chain.add(insert_for_each(own, RunToolRow, {"run_id": run_id, "tool": tool, "calls": calls}))
            return chain.fetch(select(own.c.id)).one_or_none() is not None

        return await self._database.write(finish, single=True)

    async def list_cancelled(self, worker: str) -> dict[str, str]:
        """Those of this worker's runs whose end was asked for, and why; empty where their users wanted it."""
        asked = (RunRow.worker == worker) & (RunRow.status == "running") & RunRow.cancel_at.is_not(None)
        async with self._database.read_session() as session:
            found = await session.execute(select(RunRow.id, RunRow.cancel_why).where(asked))
            return {row.id: row.cancel_why or "" for row in found}

    async def find_stop_reason(self, run_id: str) -> str | None:
        """Why a run is to make no further call, None where it may: its end was asked for, its user is disabled, it is gone."""
        statement = select(RunRow.cancel_at, RunRow.cancel_why, UserRow.disabled_at)
        chosen = statement.join(UserRow, UserRow.id == RunRow.user_id).where(RunRow.id == run_id)
        found = await self._database.read(lambda session: session.execute(chosen).one_or_none())
        if found is None:
            return "the run was removed"
        if found.cancel_at is not None:
            return found.cancel_why or ""
        return ACCOUNT_DISABLED if found.disabled_at is not None else None

    async def release_workers(self, workers: Sequence[str]) -> int:
        """Queue the runs of workers that are no more; how many."""
        theirs = RunRow.worker.in_(workers) & (RunRow.status == "running")
        queued = update(RunRow).where(theirs).values(status="queued", worker=None, lease_until=None)
        async with self._database.write_session() as session:
            return len((await session.scalars(queued.returning(RunRow.id))).all())


def _is_due(at: datetime) -> ColumnElement[bool]:
    """It was not put back for later, or its end is asked for."""
    return or_(RunRow.not_before.is_(None), RunRow.not_before <= at, RunRow.cancel_at.is_not(None))


def _is_held(run_id: str, worker: str) -> ColumnElement[bool]:
    return (RunRow.id == run_id) & (RunRow.worker == worker) & (RunRow.status == "running")


def select_next_runs(
    worker: str, at: datetime, limit: int, due: ColumnElement[bool], per_user: int | None = None
) -> Select[str]:
    """The ids of runs to be taken up: first of who has the fewest under way, with whatever worker; of one user the oldest first.

    ``due``: which of them are to be taken up now. ``of_one``: how many of one user's runs this worker may have at a time, beside those that are to
    end. What several are taken at once is what they would be one by one. Rows are locked, and those that another transaction has locked are left out.
    """
    columns = select(RunRow.id, RunRow.user_id)
    # In two parts, so that each is read off its index alone.
    either = union_all(columns.where(RunRow.status == "queued", due), columns.where(is_lost(at), due)).subquery(
        "either"
    )
    number = func.row_number().over(partition_by=either.c.user_id, order_by=either.c.id).label("number")
    free = select(either.c.id, either.c.user_id, number).subquery("free")
    mine = case((RunRow.worker == worker, 1), else_=0)
    under_way = (
        select(RunRow.user_id, func.count().label("everywhere"), func.sum(mine).label("here"))
        .where(RunRow.status == "running", RunRow.lease_until >= at)
        .group_by(RunRow.user_id)
        .subquery("under_way")
    )
    order = free.c.number + func.coalesce(under_way.c.everywhere, 0)
    chosen = (
        select(RunRow.id)
        .join(free, free.c.id == RunRow.id)
        .outerjoin(under_way, under_way.c.user_id == RunRow.user_id)
        .where(
            due, or_(RunRow.status == "queued", is_lost(at))
        )  # once more, since it may have been taken while its row was waited for
        .order_by(order, RunRow.id)
        .limit(limit)
        .with_for_update(of=RunRow, skip_locked=True)
    )
    if per_user is not None:
        has_a_place = free.c.number + func.coalesce(under_way.c.here, 0) <= per_user
        chosen = chosen.where(or_(RunRow.cancel_at.is_not(None), has_a_place))
    return chosen


def is_lost(at: datetime) -> ColumnElement[bool]:
    """Running, with a worker that has not renewed its lease."""
    return and_(RunRow.status == "running", or_(RunRow.lease_until.is_(None), RunRow.lease_until < at))
