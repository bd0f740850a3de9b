"""Sources of tools: changed step by step, checked, read again on a schedule, and what they offer."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import get_args

from sqlalchemy import Row, Select, func, or_, select, update
from sqlalchemy.orm import Session

from domain.errors import BusyError, ConflictError, NotFoundError
from domain.tool import STDIO, ToolDoc, ToolId
from domain.tool_source import KeyOwner, ToolState
from server.storage.accounts import User
from server.storage.identifiers import generate_id
from server.storage.repository import Repository, to_model
from server.storage.rows.accounts import UserRow
from server.storage.rows.tools import SourceReadingRow, SourceRow, SourceStepRow, SourceToolRow
from server.storage.source_records import (
    Actor,
    LockedSource,
    OfferChange,
    Source,
    SourceAccess,
    SourceChange,
    SourceOffer,
    SourceReading,
    SourceStep,
    StateCounts,
    StoredTool,
    UndoState,
    build_reading_row,
    build_source_row,
    to_source,
    to_step,
    to_undo_state,
    write_source,
    write_tool,
)

_MAX_UNDOABLE = 20
"""The latest steps of a source that can be undone, and readings whose bytes are stored."""


class Sources(Repository):
    """Stores sources. A step is one transaction: the source, its tools, and the state for undoing it.

    Removed sources are found only with ``removed``.
    """

    def get_time(self) -> datetime:
        """Return the time that rows are written with."""
        return self._clock()

    async def add(
        self, source: Source, tools: Sequence[StoredTool], reading: SourceReading, actor: Actor, max_sources: int = 0
    ) -> Source:
        """Add a source with its first reading.

        Raises:
            ConflictError: its author has ``max_sources`` already.
        """

        def add(session: Session) -> Source:
            is_own = (SourceRow.author_id == source.author_id) & SourceRow.removed_at.is_(None)
            if (
                max_sources
                and (session.scalar(select(func.count()).select_from(SourceRow).where(is_own)) or 0) >= max_sources
            ):
                raise ConflictError(
                    f"you have {max_sources} sources, which is the most; remove one, or have FOOTPATH_AUTHOR_SOURCES raised"
                )
            row = build_source_row(source)
            row.watch_at = _compute_next_watch(self._clock(), source)
            session.add(row)
            session.flush()
            session.add(build_reading_row(source.id, reading))
            _write_tools(session, source.id, {tool.tool: tool for tool in tools})
            session.add(
                self._build_step_row(
                    source.id, actor, SourceChange("added", named_tools=tuple(tool.tool for tool in tools)), None
                )
            )
            session.flush()
            return to_source(row, actor.name)

        return await self._database.write(add, durable=True)

    async def get(self, source_id: str, *, removed: bool = False) -> Source | None:
        """Return a source."""
        statement = _select_sources(removed=removed).where(SourceRow.id == source_id)
        return await self._database.read(lambda session: _to_first_source(session.execute(statement).all()))

    async def list_all(self, author_id: str | None = None, *, removed: bool = False) -> list[Source]:
        """List an author's sources, or everybody's, by name."""
        statement = _select_sources(removed=removed).order_by(SourceRow.name, SourceRow.id)
        if author_id is not None:
            statement = statement.where(SourceRow.author_id == author_id)
        return await self._database.read(lambda session: [to_source(*row) for row in session.execute(statement)])

    async def count_tools(self, source_ids: Sequence[str]) -> dict[str, StateCounts]:
        """Count the tools of these sources by state."""
        columns = (SourceToolRow.source_id, SourceToolRow.state, func.count())
        statement = select(*columns).where(SourceToolRow.source_id.in_(source_ids))
        grouped = statement.group_by(SourceToolRow.source_id, SourceToolRow.state)

        def count(session: Session) -> dict[str, StateCounts]:
            counts: dict[str, StateCounts] = {source_id: _build_zero_counts() for source_id in source_ids}
            for source_id, state, number in session.execute(grouped):
                counts[source_id][state] = number
            return counts

        return await self._database.read(count)

    async def list_tools(self, source_id: str) -> list[StoredTool]:
        """List a source's tools by id."""
        statement = select(SourceToolRow).where(SourceToolRow.source_id == source_id).order_by(SourceToolRow.tool)
        return await self._database.read(
            lambda session: [to_model(StoredTool, row) for row in session.scalars(statement)]
        )

    async def get_tool(self, source_id: str, tool: str) -> StoredTool | None:
        """Return a tool of a source."""
        key = (source_id, tool)
        return await self._database.read(
            lambda s: to_model(StoredTool, row) if (row := s.get(SourceToolRow, key)) else None
        )

    async def get_reading(self, source_id: str, version: int) -> SourceReading | None:
        """Return a reading of a source."""
        key = (source_id, version)
        return await self._database.read(
            lambda s: to_model(SourceReading, row) if (row := s.get(SourceReadingRow, key)) else None
        )

    async def list_steps(self, source_id: str, *, limit: int = 100, before: str = "") -> list[SourceStep]:
        """List a source's steps, the latest first, starting before the id ``before``."""
        statement = select(SourceStepRow).where(SourceStepRow.source_id == source_id)
        if before:
            statement = statement.where(SourceStepRow.id < before)
        ordered = statement.order_by(SourceStepRow.id.desc()).limit(limit)
        return await self._database.read(lambda session: [to_step(row) for row in session.scalars(ordered)])

    async def apply_step(
        self, source_id: str, actor: Actor, work: Callable[[LockedSource], SourceChange | None]
    ) -> OfferChange:
        """Apply a step: write what ``work`` returns for the locked source, all or nothing.

        Where ``work`` returns None there is nothing to do; where it raises, nothing is written.

        Raises:
            NotFoundError: there is no such source.
            ConflictError: another source already offers a tool of the step.
        """

        def apply(session: Session) -> OfferChange:
            row = session.scalar(
                select(SourceRow).where(SourceRow.id == source_id, SourceRow.removed_at.is_(None)).with_for_update()
            )
            if row is None:
                raise NotFoundError("there is no such source")
            author = session.scalar(select(UserRow.name).where(UserRow.id == row.author_id))
            locked = _load_locked(session, row, author)
            change = work(locked)
            if change is None:
                return OfferChange(locked.source, (), ())
            _write_change(session, row, change)
            if change.source is not None and change.source.watch_minutes != locked.source.watch_minutes:
                row.watch_at = _compute_next_watch(self._clock(), change.source)
            if change.is_recorded:
                session.add(self._build_step_row(source_id, actor, change, _build_undo_state(locked, change)))
                session.flush()
                _forget_old_details(session, source_id)
            session.flush()
            return _compare_offers(to_source(row, author), locked, change)

        return await self._database.write(apply, durable=True)

    def _build_step_row(
        self, source_id: str, actor: Actor, change: SourceChange, undo_state: UndoState | None
    ) -> SourceStepRow:
        return SourceStepRow(
            id=generate_id(),
            source_id=source_id,
            at=self._clock(),
            user_id=actor.user_id,
            who=actor.name,
            by_admin=actor.admin,
            what=change.what,
            tools=list(change.named_tools or change.tools),
            reason=change.reason,
            before=None if undo_state is None else undo_state.model_dump(mode="json"),
            undone=False,
        )


def _select_sources(*, removed: bool) -> Select[SourceRow, str]:
    joined = select(SourceRow, UserRow.name).outerjoin(UserRow, UserRow.id == SourceRow.author_id)
    return joined if removed else joined.where(SourceRow.removed_at.is_(None))


def _to_first_source(rows: Sequence[Row[SourceRow, str]]) -> Source | None:
    return to_source(*rows[0]) if rows else None


def _compute_next_watch(at: datetime, source: Source) -> datetime | None:
    return at + timedelta(minutes=source.watch_minutes) if source.watch_minutes else None


def _build_zero_counts() -> StateCounts:
    return dict.fromkeys(get_args(ToolState), 0)


def _load_locked(session: Session, row: SourceRow, author: str | None) -> LockedSource:
    """Load what a step may need of a source whose row is locked."""
    rows = session.scalars(select(SourceToolRow).where(SourceToolRow.source_id == row.id)).all()
    undoable = (SourceStepRow.source_id == row.id) & SourceStepRow.before.is_not(None) & SourceStepRow.undone.is_(False)
    last = session.scalar(select(SourceStepRow).where(undoable).order_by(SourceStepRow.id.desc()).limit(1))
    before = to_undo_state(last) if last is not None else None
    readings = select(func.max(SourceReadingRow.version)).where(SourceReadingRow.source_id == row.id)
    return LockedSource(
        to_source(row, author),
        {ToolId(tool.tool): to_model(StoredTool, tool) for tool in rows},
        None if last is None or before is None else (to_step(last), before),
        session.scalar(readings) or 0,
    )


def _write_change(session: Session, row: SourceRow, change: SourceChange) -> None:
    _check_unclaimed(session, row.id, change)
    if change.source is not None:
        write_source(row, change.source)
    if change.reading is not None:
        session.add(build_reading_row(row.id, change.reading))
    _write_tools(session, row.id, change.tools)
    if change.undoes:
        session.execute(update(SourceStepRow).where(SourceStepRow.id == change.undoes).values(undone=True))


def _check_unclaimed(session: Session, source_id: str, change: SourceChange) -> None:
    """Check that no other source offers a tool that this step offers.

    Raises:
        ConflictError: one does.
    """
    offered_ids = [tool.offer.id for tool in change.tools.values() if tool is not None and tool.offer is not None]
    if not offered_ids:
        return
    of_others = SourceToolRow.offered_as.in_(offered_ids) & (SourceToolRow.source_id != source_id)
    if offered_elsewhere := session.scalar(select(SourceToolRow.tool).where(of_others).limit(1)):
        raise ConflictError(
            f"another source offers {offered_elsewhere} already; add this one under another category or tool set, or withdraw that one"
        )


def _write_tools(session: Session, source_id: str, tools: Mapping[ToolId, StoredTool | None]) -> None:
    for tool, stored in tools.items():
        row = session.get(SourceToolRow, (source_id, tool))
        if stored is None:
            if row is not None:
                session.delete(row)
            continue
        is_new = row is None
        row = row or SourceToolRow(source_id=source_id, tool=tool)
        write_tool(row, stored)
        if is_new:
            session.add(row)


def _build_undo_state(locked: LockedSource, change: SourceChange) -> UndoState | None:
    """Return the state before a step, limited to what the step changes; None if the step cannot be undone."""
    if not change.is_undoable:
        return None
    return UndoState(
        tools={tool: locked.tools.get(tool) for tool in change.tools},
        version=locked.source.version,
        changes=locked.source.changes,
        operations=locked.source.operations,
    )


def _forget_old_details(session: Session, source_id: str) -> None:
    """Delete undo states and raw bytes of all but the latest steps and readings."""
    steps = select(SourceStepRow.id).where(SourceStepRow.source_id == source_id, SourceStepRow.before.is_not(None))
    if old := session.scalars(steps.order_by(SourceStepRow.id.desc()).offset(_MAX_UNDOABLE)).all():
        session.execute(update(SourceStepRow).where(SourceStepRow.id.in_(old)).values(before=None))
    has_bytes = (SourceReadingRow.source_id == source_id) & SourceReadingRow.raw.is_not(None)
    readings = (
        select(SourceReadingRow.version)
        .where(has_bytes)
        .order_by(SourceReadingRow.version.desc())
        .offset(_MAX_UNDOABLE)
    )
    if old_versions := session.scalars(readings).all():
        condition = (SourceReadingRow.source_id == source_id) & SourceReadingRow.version.in_(old_versions)
        session.execute(update(SourceReadingRow).where(condition).values(raw=None))


def _compare_offers(source: Source, locked: LockedSource, change: SourceChange) -> OfferChange:
    """Return which documents a step has offered anew, and which it has withdrawn."""
    offered, withdrawn = list[ToolDoc](), list[ToolId]()
    for tool, now in change.tools.items():
        before = locked.tools.get(tool)
        previous_offer = before.offer if before is not None else None
        current_offer = now.offer if now is not None else None
        if current_offer is not None and current_offer != previous_offer:
            offered.append(current_offer)
        elif current_offer is None and previous_offer is not None:
            withdrawn.append(tool)
    return OfferChange(source, tuple(offered), tuple(withdrawn))


CHECK_ABORTED = "the check was broken off when the server stopped; start it again"
"""Shown where a check was lost."""


class SourceChecks(Repository):
    """Leases of running checks, which their workers renew."""

    async def begin(self, source_id: str, worker: str, lease: timedelta, to_check: int, max_checks: int) -> None:
        """Take the lease of a new check.

        Raises:
            NotFoundError: there is no such source.
            ConflictError: it is being checked.
            BusyError: ``max_checks`` sources of its author are being checked.
        """
        at = self._clock()

        def begin(session: Session) -> None:
            exists = (SourceRow.id == source_id) & SourceRow.removed_at.is_(None)
            row = session.scalar(select(SourceRow).where(exists).with_for_update())
            if row is None:
                raise NotFoundError("there is no such source")
            if row.check_worker is not None and row.check_until is not None and row.check_until > at:
                raise ConflictError("this source is being checked; wait until it is done")
            is_checked = (
                (SourceRow.author_id == row.author_id) & (SourceRow.check_until > at) & (SourceRow.id != source_id)
            )
            running = select(func.count()).select_from(SourceRow).where(is_checked, SourceRow.check_worker.is_not(None))
            if (session.scalar(running) or 0) >= max_checks:
                raise BusyError(
                    f"{max_checks} of this author's sources are being checked, which is the most; wait for one of them"
                )
            row.check_worker, row.check_until = worker, at + lease
            row.checked, row.to_check, row.check_trouble = 0, to_check, ""

        await self._database.write(begin)

    async def renew(self, worker: str, lease: timedelta) -> None:
        """Extend all leases of a worker."""
        change = update(SourceRow).where(SourceRow.check_worker == worker).values(check_until=self._clock() + lease)
        await self._database.write(lambda session: session.execute(change))

    async def is_held(self, source_id: str, worker: str) -> bool:
        """Return whether the worker still holds the check."""
        statement = select(SourceRow.id).where(SourceRow.id == source_id, SourceRow.check_worker == worker)
        return await self._database.read(lambda session: session.scalar(statement)) is not None

    async def finish(self, source_id: str, worker: str, trouble: str = "") -> None:
        """Store the end of a check; ``trouble`` tells why it stopped early."""
        values = {"check_worker": None, "check_until": None, "check_trouble": trouble}
        if not trouble:
            values |= {"checked_at": self._clock()}
        change = update(SourceRow).where(SourceRow.id == source_id, SourceRow.check_worker == worker).values(values)
        await self._database.write(lambda session: session.execute(change))

    async def abort_lost(self, workers: Sequence[str] = ()) -> int:
        """Abort the checks of these workers and those whose lease has expired; return how many."""
        lost = or_(SourceRow.check_worker.in_(workers), SourceRow.check_until <= self._clock())
        values = {"check_worker": None, "check_until": None, "check_trouble": CHECK_ABORTED}
        change = update(SourceRow).where(SourceRow.check_worker.is_not(None), lost).values(values)
        return len(await self._database.write(lambda s: s.scalars(change.returning(SourceRow.id)).all()))


class SourceWatches(Repository):
    """Schedules the repeated reading of sources, each by one of several servers."""

    async def claim(self, lease: timedelta, limit: int = 1) -> list[str]:
        """Take sources that are due; no two servers get the same.

        One that is not passed to :meth:`schedule_next` before the lease ends is due again.
        """
        at = self._clock()
        is_due = (SourceRow.watch_at <= at) & SourceRow.removed_at.is_(None)
        statement = (
            select(SourceRow.id)
            .where(is_due)
            .order_by(SourceRow.watch_at)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )

        def claim(session: Session) -> list[str]:
            ids = list(session.scalars(statement))
            session.execute(update(SourceRow).where(SourceRow.id.in_(ids)).values(watch_at=at + lease))
            return ids

        return await self._database.write(claim)

    async def schedule_next(self, source_id: str, pause: float) -> None:
        """Schedule the next reading after ``pause`` times the source's interval; none where it is not watched."""

        def schedule(session: Session) -> None:
            row = session.get(SourceRow, source_id)
            if row is not None:
                minutes = timedelta(minutes=row.watch_minutes * pause)
                row.watch_at = self._clock() + minutes if row.watch_minutes and row.removed_at is None else None

        await self._database.write(schedule)

    async def schedule_soon(self, url: str, pause: timedelta) -> None:
        """Have the sources of the MCP server at this address, or of this command, read after ``pause``, unless they
        are due sooner.
        """
        at = self._clock() + pause
        command = url.removeprefix(STDIO) if url.startswith(STDIO) else ""
        has_address = (SourceRow.command == command) if command else (SourceRow.address == url)
        later = SourceRow.watch_at.is_(None) | (SourceRow.watch_at > at)
        change = update(SourceRow).where(
            has_address & later & (SourceRow.kind == "mcp") & SourceRow.removed_at.is_(None)
        )
        await self._database.write(lambda session: session.execute(change.values(watch_at=at)))

    async def record_reading(self, source_id: str, trouble: str) -> None:
        """Record that a source was read without changes, or why it could not be read."""
        values = {"trouble": trouble} | ({} if trouble else {"read_at": self._clock()})
        change = update(SourceRow).where(SourceRow.id == source_id).values(values)
        await self._database.write(lambda session: session.execute(change))


def _format_revision(steps: int, last: str | None) -> str:
    return f"{steps}:{last}"


class SourceOffers(Repository):
    """Finds what is offered: admitted tools of sources that were not removed."""

    async def get_revision(self) -> str:
        """Return a text that changes with every step of any source."""
        statement = select(func.count(), func.max(SourceStepRow.id))
        return _format_revision(*await self._database.read(lambda session: session.execute(statement).one()))

    async def get_revision_and_user(self, user_id: str) -> tuple[str, User | None]:
        """Return the revision and a user's account as of one moment; None where the account was deleted."""
        steps = select(func.count().label("steps"), func.max(SourceStepRow.id).label("last")).subquery()
        statement = select(steps.c.steps, steps.c.last, UserRow).outerjoin_from(steps, UserRow, UserRow.id == user_id)
        row = await self._database.read(lambda session: session.execute(statement).one())
        user: UserRow | None = row[2]  # an outer join
        return _format_revision(row[0], row[1]), to_model(User, user) if user else None

    async def list_all(self) -> list[SourceOffer]:
        """List every offered tool with its document."""
        columns = (SourceToolRow.source_id, SourceToolRow.offer)
        statement = select(*columns).where(SourceToolRow.offered_as.is_not(None)).order_by(SourceToolRow.offered_as)

        def load(session: Session) -> list[SourceOffer]:
            return [
                SourceOffer(source_id=source_id, doc=ToolDoc.model_validate(doc))
                for source_id, doc in session.execute(statement)
            ]

        return await self._database.read(load)

    async def map_tools_to_sources(self) -> dict[ToolId, str]:
        """Return the source id of each offered tool."""
        columns = (SourceToolRow.offered_as, SourceToolRow.source_id)
        statement = select(*columns).where(SourceToolRow.offered_as.is_not(None))
        return await self._database.read(
            lambda session: {ToolId(tool): source_id for tool, source_id in session.execute(statement) if tool}
        )

    async def list_known_ids(self) -> frozenset[ToolId]:
        """Return the ids of all tools that any source ever named, offered or not."""
        statement = select(SourceToolRow.tool).distinct()
        return await self._database.read(lambda session: frozenset(ToolId(tool) for tool in session.scalars(statement)))

    async def list_access(self) -> dict[str, SourceAccess]:
        """Return who may use each source, by source id."""
        statement = select(SourceRow).where(SourceRow.removed_at.is_(None))
        return await self._database.read(
            lambda session: {row.id: to_model(SourceAccess, row) for row in session.scalars(statement)}
        )

    async def get_keys_of(self, source_id: str) -> KeyOwner | None:
        """Return whose keys a source's calls send; None where there is no such source."""
        statement = select(SourceRow.keys_of).where(SourceRow.id == source_id, SourceRow.removed_at.is_(None))
        keys_of = await self._database.read(lambda session: session.scalar(statement))
        return "source" if keys_of == "source" else "caller" if keys_of is not None else None
