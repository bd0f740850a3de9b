"""Runs as their users see them: started, listed, cancelled, judged, their plans edited."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

from pydantic import Field
from sqlalchemy import ColumnElement, Select, case, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from domain.errors import BusyError, ConflictError, NotFoundError, UnauthenticatedError
from domain.event import RunOutcome, Verdict
from domain.model import JsonObject
from server.storage.conversations import build_message_values, build_title_values
from server.storage.identifiers import generate_id
from server.storage.repository import Repository, StoredModel, to_model
from server.storage.rows.accounts import SessionRow, UserLimitRow, UserRow
from server.storage.rows.runs import ConversationRow, EventRow, InputRow, MessageRow, RunRow, TemplateRow
from server.storage.run_records import StoredEvent, to_event
from server.storage.statement_chain import StatementChain, insert_for_each
from server.storage.usage import DailyTotal, OwnLimits, build_usage_statement, to_daily_total, to_limits

RunStatus = Literal["queued", "running", "waiting", "finished"]
"""``waiting``: for an answer of the user; no worker holds it."""


class RunChoices(StoredModel):
    """The choices that were made for a run."""

    planner: str
    policy: str
    model: str = ""
    settings: JsonObject = Field(default_factory=dict)
    """Further choices by name."""
    rerun_of: str | None = None
    """The run that this one repeats."""
    template_id: str | None = None
    template_version: int | None = None


class Run(RunChoices):
    """One turn of a conversation."""

    id: str
    user_id: str
    conversation_id: str
    request: str
    status: RunStatus
    outcome: RunOutcome | None
    plan: JsonObject | None
    """The plan as it was last edited."""
    plan_version: int
    usage: JsonObject | None
    """Tokens, calls and cost of the run; until now, while it waits."""
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    cancel_at: datetime | None
    """When its end was requested."""
    cancel_why: str | None = None
    """Why it is to end, where its user did not ask for that."""
    session_id: str | None = None
    """The session in which it was started."""
    worker: str | None
    lease_until: datetime | None
    verdict: Verdict | None = None
    """The user's verdict on the answer."""
    verdict_note: str = ""
    verdict_changes: int = 0
    """How often the verdict was set."""
    is_new: bool = False
    """It had no events when it was taken up; False where it was read otherwise."""


class ListedRun(StoredModel):
    """A run without its settings and edited plan, which may be long."""

    id: str
    conversation_id: str
    request: str
    planner: str
    policy: str
    model: str
    rerun_of: str | None
    template_id: str | None
    template_version: int | None
    status: RunStatus
    outcome: RunOutcome | None
    usage: JsonObject | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    cancel_at: datetime | None
    verdict: Verdict | None = None
    """The user's verdict on the answer."""
    verdict_note: str = ""


class RunWithEnd(NamedTuple):
    """A run and its progress as of one moment."""

    run: Run
    last_event: int
    """The number of the last stored event; 0 while there is none."""
    end: StoredEvent | None
    """The event that ended it."""


_LISTED_COLUMNS = [getattr(RunRow, name) for name in ListedRun.model_fields]


class Runs(Repository):
    """Stores runs."""

    async def add(
        self,
        user_id: str,
        conversation_id: str,
        request: str,
        choices: RunChoices,
        *,
        add_message: bool = False,
        max_open: int | None = None,
        session_id: str | None = None,
        check_limits: Callable[[DailyTotal, OwnLimits], None] = lambda _used, _own: None,
    ) -> Run:
        """Queue a new run.

        ``add_message`` adds the request to the conversation as a message. ``max_open`` limits the user's unfinished
        runs. ``check_limits`` gets the user's total of today, this run included, and the user's own limits; where
        it raises, no run is added.

        Raises:
            NotFoundError: this user has no such conversation.
            BusyError: the user has too many unfinished runs.
            UnauthenticatedError: the account was disabled or the session ended meanwhile.
        """
        owned = (ConversationRow.id == conversation_id) & (ConversationRow.user_id == user_id)
        at = self._clock()
        values: dict[str, Any] = {
            "id": generate_id(),
            "user_id": user_id,
            "conversation_id": conversation_id,
            "request": request,
            "status": "queued",
            "plan_version": 0,
            "created_at": at,
            "session_id": session_id,
            **choices.model_dump(),
        }
        touch = (
            update(ConversationRow)
            .where(owned)
            .values(updated_at=at, **(build_title_values(request) if add_message else {}))
        )
        revoked = select(SessionRow.revoked_at).where(SessionRow.id == (session_id or "")).scalar_subquery()
        others = _count_open(user_id).where(RunRow.id != values["id"]).scalar_subquery()

        def add(session: Session) -> Run:
            # The user's row stays locked to the end: nobody disables the account, ends the session or adds another run
            # meanwhile. What follows is a separate statement, since a statement does not see what was committed while
            # it waited for a lock.
            joined = select(UserRow.disabled_at, UserLimitRow).outerjoin(
                UserLimitRow, UserLimitRow.user_id == UserRow.id
            )
            locked_user = joined.where(UserRow.id == user_id).with_for_update(of=UserRow)
            user = session.execute(locked_user).one_or_none()
            if user is None:
                raise _build_no_conversation_error()
            disabled, limits = user
            chain = StatementChain(session)
            owner = chain.add(touch.returning(ConversationRow.id.label("conversation_id")))
            day = chain.add(build_usage_statement(session, user_id, at, {"runs": 1}))
            chain.add(insert_for_each(owner, RunRow, values))
            if add_message:
                message = build_message_values(values["id"], "user", request, at)
                chain.add(insert_for_each(owner, MessageRow, message | {"conversation_id": owner.c.conversation_id}))
            conversations = select(func.count()).select_from(owner).scalar_subquery()
            states = (revoked.label("revoked_at"), others.label("open"), conversations.label("conversations"))
            result = chain.fetch(select(*states, *day.c)).one()
            # These errors roll the transaction back with all that was written.
            if disabled is not None or result.revoked_at is not None:
                raise UnauthenticatedError("this account or session has ended; log in again")
            if max_open is not None and result.open >= max_open:
                raise BusyError(f"{max_open} of your runs have not ended yet; wait for one, or cancel one")
            if not result.conversations:
                raise _build_no_conversation_error()
            check_limits(to_daily_total(result, at), to_limits(limits))
            return _to_new_run(values)

        return await self._database.write(add)

    async def get(self, run_id: str, user_id: str | None = None) -> Run | None:
        """Return a run, or with ``user_id`` only one of that user."""
        condition = RunRow.id == run_id if user_id is None else (RunRow.id == run_id) & (RunRow.user_id == user_id)
        row = await self._database.read(lambda session: session.scalar(select(RunRow).where(condition)))
        return to_run(row) if row else None

    async def get_with_end(self, run_id: str, user_id: str) -> RunWithEnd | None:
        """Return a run of this user with its progress as of one moment; None where there is none."""
        last = select(func.max(EventRow.seq)).where(EventRow.run_id == run_id).correlate(None).scalar_subquery()
        is_end = (EventRow.run_id == RunRow.id) & (EventRow.kind == "run.finished")
        statement = select(RunRow, last, EventRow).outerjoin(EventRow, is_end).order_by(EventRow.seq.desc()).limit(1)
        of_user = statement.where(RunRow.id == run_id, RunRow.user_id == user_id)
        result = await self._database.read(lambda session: session.execute(of_user).one_or_none())
        if result is None:
            return None
        row, seq, end = result
        return RunWithEnd(to_run(row), seq or 0, end and to_event(end))

    async def list_page(
        self, user_id: str, *, conversation_id: str = "", before: str = "", limit: int = 50
    ) -> list[ListedRun]:
        """List a user's runs, the latest first, starting before the id ``before``."""
        statement = select(*_LISTED_COLUMNS).where(RunRow.user_id == user_id)
        if conversation_id:
            statement = statement.where(RunRow.conversation_id == conversation_id)
        if before:
            statement = statement.where(RunRow.id < before)
        return await self._fetch_listed(statement.order_by(RunRow.id.desc()).limit(limit))

    async def _fetch_listed(self, statement: Select[*tuple[Any, ...]]) -> list[ListedRun]:
        async with self._database.read_session() as session:
            rows = await session.execute(statement)
            return [ListedRun.model_validate(dict(row)) for row in rows.mappings()]

    async def list_before(self, run: Run, limit: int) -> list[Run]:
        """List the earlier runs of a run's conversation, the latest first."""
        is_earlier = (
            (RunRow.conversation_id == run.conversation_id) & (RunRow.user_id == run.user_id) & (RunRow.id < run.id)
        )
        statement = select(RunRow).where(is_earlier).order_by(RunRow.id.desc()).limit(limit)
        return await self._database.read(lambda session: [to_run(row) for row in session.scalars(statement)])

    async def list_in_order(
        self, user_id: str, conversation_id: str, *, after: str = "", limit: int = 50
    ) -> list[ListedRun]:
        """List a conversation's runs, the oldest first, starting after the id ``after``."""
        condition = (RunRow.user_id == user_id) & (RunRow.conversation_id == conversation_id) & (RunRow.id > after)
        return await self._fetch_listed(select(*_LISTED_COLUMNS).where(condition).order_by(RunRow.id).limit(limit))

    async def count_open_by_status(self) -> dict[str, int]:
        """Count the unfinished runs of all users by status; every status has an entry."""
        statement = select(RunRow.status, func.count()).where(RunRow.status != "finished").group_by(RunRow.status)
        counts = await self._database.read(lambda session: {row[0]: row[1] for row in session.execute(statement)})
        return {status: counts.get(status, 0) for status in ("queued", "running", "waiting")}

    async def count_running_since(self, before: datetime) -> int:
        """Count the runs that are running and were started before a time."""
        statement = select(func.count()).where(RunRow.status == "running", RunRow.started_at < before)
        return int(await self._database.read(lambda session: session.scalar(statement)) or 0)

    async def count_open(self, user_id: str) -> int:
        """Count a user's unfinished runs."""
        return await self._database.read(lambda session: session.scalar(_count_open(user_id))) or 0

    async def cancel(self, run_id: str, user_id: str) -> Run:
        """Request the end of a run; a waiting one is queued for it. Idempotent.

        Raises:
            NotFoundError: this user has no such run.
        """
        at = self._clock()
        async with self._database.write_session() as session:
            row = await self._lock_row(session, run_id, user_id)
            if row.status != "finished":
                row.cancel_at = row.cancel_at or at
                row.status = "queued" if row.status == "waiting" else row.status
            return to_run(row)

    async def remove(self, run_id: str, user_id: str) -> None:
        """Delete a finished run with its messages, events and questions; repetitions of it stay.

        Raises:
            NotFoundError: this user has no such finished run.
        """
        condition = (RunRow.id == run_id) & (RunRow.user_id == user_id) & (RunRow.status == "finished")
        async with self._database.write_session() as session:
            await session.execute(delete(MessageRow).where(MessageRow.run_id.in_(select(RunRow.id).where(condition))))
            if await session.scalar(delete(RunRow).where(condition).returning(RunRow.id)) is None:
                raise NotFoundError("there is no such run")

    async def list_judged_wrong(self, user_id: str, limit: int = 200) -> list[tuple[str, str, str]]:
        """List id, request and answer of the latest runs whose answers the user judged wrong."""
        is_answer = (MessageRow.run_id == RunRow.id) & (MessageRow.speaker == "assistant")
        statement = select(RunRow.id, RunRow.request, MessageRow.text).join(MessageRow, is_answer)
        judged_wrong = statement.where(RunRow.user_id == user_id, RunRow.verdict == "wrong")
        latest = judged_wrong.order_by(RunRow.id.desc()).limit(limit)
        return await self._database.read(lambda session: [(row[0], row[1], row[2]) for row in session.execute(latest)])

    async def set_verdict(self, run: Run, verdict: Verdict | None, note: str) -> Run:
        """Replace the verdict that ``run`` has.

        Raises:
            NotFoundError: this user has no such run.
            ConflictError: the verdict was changed since ``run`` was read.
        """
        async with self._database.write_session() as session:
            row = await self._lock_row(session, run.id, run.user_id)
            if row.verdict_changes != run.verdict_changes:
                raise ConflictError("something else was said of this answer at the same time; read the run again")
            row.verdict, row.verdict_note = verdict, note
            row.verdict_changes += 1
            return to_run(row)

    async def set_plan(self, run_id: str, user_id: str, plan: JsonObject, version: int, question_key: str = "") -> Run:
        """Replace version ``version`` of the edited plan; 0 means that there was none.

        ``question_key`` is the question about the plan.

        Raises:
            NotFoundError: this user has no such run.
            ConflictError: the plan was edited meanwhile, the run has ended, or the question was answered.
        """
        async with self._database.write_session() as session:
            row = await self._lock_row(session, run_id, user_id)
            if row.plan_version != version or row.status == "finished":
                raise ConflictError(
                    f"the plan is at version {row.plan_version} and the run {row.status}; read it again"
                )
            question = await session.get(InputRow, (run_id, question_key)) if question_key else None
            if question is not None and question.answered_at is not None:
                raise ConflictError("the plan was decided on already; it cannot be edited any more")
            row.plan, row.plan_version = plan, version + 1
            return to_run(row)

    async def _lock_row(self, session: AsyncSession, run_id: str, user_id: str) -> RunRow:
        condition = (RunRow.id == run_id) & (RunRow.user_id == user_id)
        row = await session.scalar(select(RunRow).where(condition).with_for_update())
        if row is None:
            raise NotFoundError("there is no such run")
        return row


def _build_no_conversation_error() -> NotFoundError:
    return NotFoundError("there is no such conversation")


def _to_new_run(values: Mapping[str, Any]) -> Run:
    """Build a run from the values that were just inserted."""
    return to_run(RunRow(verdict_note="", verdict_changes=0, **values))


def _count_open(user_id: str) -> Select[int]:
    still_open = (RunRow.user_id == user_id) & RunRow.status.in_(("queued", "running", "waiting"))
    return select(func.count()).select_from(RunRow).where(still_open)


def to_run(row: RunRow) -> Run:
    """Build the run of a row."""
    return to_model(Run, row, is_new=False)


async def end_runs(session: AsyncSession, condition: ColumnElement[bool], reason: str, at: datetime) -> None:
    """Request the end of unfinished runs within the caller's transaction.

    Waiting ones are queued for it; ``reason`` becomes their error.
    """
    is_unfinished = (RunRow.status != "finished") & RunRow.cancel_at.is_(None)
    status = case((RunRow.status == "waiting", "queued"), else_=RunRow.status)
    await session.execute(
        update(RunRow).where(condition, is_unfinished).values(cancel_at=at, cancel_why=reason, status=status)
    )


async def end_runs_of_shared_templates(session: AsyncSession, owner_id: str, reason: str, at: datetime) -> None:
    """End the runs that others started from the templates of a user who may not share any more."""
    is_from_template = RunRow.template_id.in_(select(TemplateRow.id).where(TemplateRow.user_id == owner_id))
    await end_runs(session, is_from_template & (RunRow.user_id != owner_id), reason, at)
