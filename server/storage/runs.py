"""Runs as their users see them: started, listed, cancelled, judged, their plans edited."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

from pydantic import Field
from sqlalchemy import ColumnElement, Select, case, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from domain.errors import BusyError, ConflictError, NotFoundError, UnauthenticatedError
from domain.event import Outcome
from domain.model import JsonObject, Model
from domain.verdict import Verdict
from server.storage.conversations import build_message_values, build_title_values
from server.storage.identifiers import generate_id
from server.storage.repository import Repository, to_model
from server.storage.rows.accounts import SessionRow, UserLimitRow, UserRow
from server.storage.rows.runs import ConversationRow, EventRow, InputRow, MessageRow, RunRow, TemplateRow
from server.storage.run_events import StoredEvent, to_event
from server.storage.statement_chain import StatementChain, insert_for_each
from server.storage.usage import DailyTotal, OwnLimits, build_usage_statement, to_daily_total, to_limits

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
    """One turn of a conversation. ``plan``: as it was last edited; ``usage``: what it took; while it waits, until then."""

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
    cancel_why: str | None = None
    session_id: str | None = None
    worker: str | None
    lease_until: datetime | None
    verdict: Verdict | None = None
    verdict_note: str = ""
    verdict_changes: int = 0
    is_new: bool = False
    """When it was taken up there were no events of it; False where it was read otherwise."""


class ListedRun(Model):
    """A run without what may be long: its settings, which may hold a plan, and its plan as it was edited. ``verdict``: what its user says of the
    answer.
    """

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
    outcome: Outcome | None
    usage: JsonObject | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    cancel_at: datetime | None
    verdict: Verdict | None = None
    verdict_note: str = ""


class RunWithEnd(NamedTuple):
    """A run and how far it has got."""

    run: Run
    last_event: int
    """The number of the last one stored; 0 while there is none."""
    end: StoredEvent | None
    """The event that ended it."""


_LISTED = [getattr(RunRow, name) for name in ListedRun.model_fields]


class Runs(Repository):
    """The runs of a database."""

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
        """A new one, queued. ``say``: with a message of the user that asks for it. ``most``: how many of a user's may not have ended.
        ``session_id``: in which it is asked for. ``within``: told what the user has used today with this run, and the user's own limits; raises where
        that is too much, and then there is no run.

        Raises:
            NotFoundError: this user has no such conversation. BusyError: so many have not ended. UnauthenticatedError: the account was
                disabled, or the session ended, while this was on its way.
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
        touched = (
            update(ConversationRow)
            .where(owned)
            .values(updated_at=at, **(build_title_values(request) if add_message else {}))
        )
        revoked = select(SessionRow.revoked_at).where(SessionRow.id == (session_id or "")).scalar_subquery()
        others = _count_open(user_id).where(RunRow.id != values["id"]).scalar_subquery()

        def add(session: Session) -> Run:
            # The user's row is held to the end: nobody disables the account, ends the session or adds another run meanwhile. What comes next is
            # a statement of its own, since one sees nothing of what was written while it waited for a row.
            joined = select(UserRow.disabled_at, UserLimitRow).outerjoin(
                UserLimitRow, UserLimitRow.user_id == UserRow.id
            )
            held = joined.where(UserRow.id == user_id).with_for_update(of=UserRow)
            user = session.execute(held).one_or_none()
            if user is None:
                raise _no_conversation()
            disabled, limits = user
            chain = StatementChain(session)
            owner = chain.add(touched.returning(ConversationRow.id.label("conversation_id")))
            day = chain.add(build_usage_statement(session, user_id, at, {"runs": 1}))
            chain.add(insert_for_each(owner, RunRow, values))
            if add_message:
                message = build_message_values(values["id"], "user", request, at)
                chain.add(insert_for_each(owner, MessageRow, message | {"conversation_id": owner.c.conversation_id}))
            conversations = select(func.count()).select_from(owner).scalar_subquery()
            states = (revoked.label("revoked_at"), others.label("open"), conversations.label("conversations"))
            found = chain.fetch(select(*states, *day.c)).one()
            # What was written goes with the transaction that these break off.
            if disabled is not None or found.revoked_at is not None:
                raise UnauthenticatedError("this account or session has ended; log in again")
            if max_open is not None and found.open >= max_open:
                raise BusyError(f"{max_open} of your runs have not ended yet; wait for one, or cancel one")
            if not found.conversations:
                raise _no_conversation()
            check_limits(to_daily_total(found, at), to_limits(limits))
            return _to_new_run(values)

        return await self._database.write(add)

    async def get(self, run_id: str, user_id: str | None = None) -> Run | None:
        """``user_id``: only where it is this user's."""
        chosen = RunRow.id == run_id if user_id is None else (RunRow.id == run_id) & (RunRow.user_id == user_id)
        row = await self._database.read(lambda session: session.scalar(select(RunRow).where(chosen)))
        return to_run(row) if row else None

    async def get_with_end(self, run_id: str, user_id: str) -> RunWithEnd | None:
        """A run of this user's with how far it has got, as of one moment; None where there is none."""
        last = select(func.max(EventRow.seq)).where(EventRow.run_id == run_id).correlate(None).scalar_subquery()
        its_end = (EventRow.run_id == RunRow.id) & (EventRow.kind == "run.finished")
        statement = select(RunRow, last, EventRow).outerjoin(EventRow, its_end).order_by(EventRow.seq.desc()).limit(1)
        chosen = statement.where(RunRow.id == run_id, RunRow.user_id == user_id)
        found = await self._database.read(lambda session: session.execute(chosen).one_or_none())
        if found is None:
            return None
        row, seq, end = found
        return RunWithEnd(to_run(row), seq or 0, end and to_event(end))

    async def list_page(
        self, user_id: str, *, conversation_id: str = "", before: str = "", limit: int = 50
    ) -> list[ListedRun]:
        """A user's runs, the latest first, those older than the run with id ``before``."""
        statement = select(*_LISTED).where(RunRow.user_id == user_id)
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
        """Those of a run's conversation that were asked for before it, with all that was chosen for them; the latest first."""
        chosen = (
            (RunRow.conversation_id == run.conversation_id) & (RunRow.user_id == run.user_id) & (RunRow.id < run.id)
        )
        statement = select(RunRow).where(chosen).order_by(RunRow.id.desc()).limit(limit)
        return await self._database.read(lambda session: [to_run(row) for row in session.scalars(statement)])

    async def list_in_order(
        self, user_id: str, conversation_id: str, *, after: str = "", limit: int = 50
    ) -> list[ListedRun]:
        """A conversation's runs, the oldest first, those newer than the run with id ``after``."""
        chosen = (RunRow.user_id == user_id) & (RunRow.conversation_id == conversation_id) & (RunRow.id > after)
        return await self._fetch_listed(select(*_LISTED).where(chosen).order_by(RunRow.id).limit(limit))

    async def count_open_by_status(self) -> dict[str, int]:
        """How many of all users' have not ended, by status; every status that there can be."""
        statement = select(RunRow.status, func.count()).where(RunRow.status != "finished").group_by(RunRow.status)
        found = await self._database.read(lambda session: {row[0]: row[1] for row in session.execute(statement)})
        return {status: found.get(status, 0) for status in ("queued", "running", "waiting")}

    async def count_running_since(self, before: datetime) -> int:
        """How many are being made that were begun before that."""
        chosen = select(func.count()).where(RunRow.status == "running", RunRow.started_at < before)
        return int(await self._database.read(lambda session: session.scalar(chosen)) or 0)

    async def count_open(self, user_id: str) -> int:
        """How many of a user's have not ended."""
        return await self._database.read(lambda session: session.scalar(_count_open(user_id))) or 0

    async def cancel(self, run_id: str, user_id: str) -> Run:
        """Ask for its end; a waiting run is queued for it. Idempotent. ``NotFoundError``: this user has no such run."""
        at = self._clock()
        async with self._database.write_session() as session:
            row = await self._lock_row(session, run_id, user_id)
            if row.status != "finished":
                row.cancel_at = row.cancel_at or at
                row.status = "queued" if row.status == "waiting" else row.status
            return to_run(row)

    async def remove(self, run_id: str, user_id: str) -> None:
        """With what was said by it, its events and questions; what ran it again stays. ``NotFoundError``: this user has no such run that has ended."""
        chosen = (RunRow.id == run_id) & (RunRow.user_id == user_id) & (RunRow.status == "finished")
        async with self._database.write_session() as session:
            await session.execute(delete(MessageRow).where(MessageRow.run_id.in_(select(RunRow.id).where(chosen))))
            if await session.scalar(delete(RunRow).where(chosen).returning(RunRow.id)) is None:
                raise NotFoundError("there is no such run")

    async def list_judged_wrong(self, user_id: str, limit: int = 200) -> list[tuple[str, str, str]]:
        """The latest runs of a user whose answers the user has said are wrong, each with its request and its answer."""
        answered = (MessageRow.run_id == RunRow.id) & (MessageRow.speaker == "assistant")
        statement = select(RunRow.id, RunRow.request, MessageRow.text).join(MessageRow, answered)
        chosen = statement.where(RunRow.user_id == user_id, RunRow.verdict == "wrong")
        latest = chosen.order_by(RunRow.id.desc()).limit(limit)
        return await self._database.read(lambda session: [(row[0], row[1], row[2]) for row in session.execute(latest)])

    async def set_verdict(self, run: Run, verdict: Verdict | None, note: str) -> Run:
        """What its user says of the answer, in place of what ``run`` has.

        Raises:
            NotFoundError: this user has no such run. ConflictError: something else was said meanwhile.
        """
        async with self._database.write_session() as session:
            row = await self._lock_row(session, run.id, run.user_id)
            if row.verdict_changes != run.verdict_changes:
                raise ConflictError("something else was said of this answer at the same time; read the run again")
            row.verdict, row.verdict_note = verdict, note
            row.verdict_changes += 1
            return to_run(row)

    async def set_plan(self, run_id: str, user_id: str, plan: JsonObject, version: int, question_key: str = "") -> Run:
        """Put an edited plan in place of version ``version`` (0: there was none). ``asked``: the question about it.

        Raises:
            NotFoundError: this user has no such run. ConflictError: it was edited meanwhile, the run has ended or its question is answered.
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
        chosen = (RunRow.id == run_id) & (RunRow.user_id == user_id)
        row = await session.scalar(select(RunRow).where(chosen).with_for_update())
        if row is None:
            raise NotFoundError("there is no such run")
        return row


def _no_conversation() -> NotFoundError:
    return NotFoundError("there is no such conversation")


def _to_new_run(values: Mapping[str, Any]) -> Run:
    """A run as it was just inserted."""
    return to_run(RunRow(verdict_note="", verdict_changes=0, **values))


def _count_open(user_id: str) -> Select[int]:
    still_open = (RunRow.user_id == user_id) & RunRow.status.in_(("queued", "running", "waiting"))
    return select(func.count()).select_from(RunRow).where(still_open)


def to_run(row: RunRow) -> Run:
    """A run as its row has it."""
    return to_model(Run, row, is_new=False)


async def end_runs(session: AsyncSession, condition: ColumnElement[bool], reason: str, at: datetime) -> None:
    """Ask for the end of those that have not ended. Waiting ones are queued for it; ``why`` is told as their error."""
    still_open = (RunRow.status != "finished") & RunRow.cancel_at.is_(None)
    status = case((RunRow.status == "waiting", "queued"), else_=RunRow.status)
    await session.execute(
        update(RunRow).where(condition, still_open).values(cancel_at=at, cancel_why=reason, status=status)
    )


async def end_runs_of_shared_templates(session: AsyncSession, owner_id: str, reason: str, at: datetime) -> None:
    """Those that others have made from templates of a user who may not share any more."""
    theirs = RunRow.template_id.in_(select(TemplateRow.id).where(TemplateRow.user_id == owner_id))
    await end_runs(session, theirs & (RunRow.user_id != owner_id), reason, at)
