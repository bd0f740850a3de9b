"""Sources of tools: changed step by step, checked, read again by themselves, and what of them is offered."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import get_args

from sqlalchemy import Row, Select, func, or_, select, update
from sqlalchemy.orm import Session

from domain.errors import BusyError, ConflictError, NotFoundError
from domain.source import KeysOf, ToolState
from domain.tool import STDIO, ToolDoc, ToolId
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
"""Steps that can be undone, and readings that are kept as they came, of each source."""


class Sources(Repository):
    """Those of a database. Those that were removed are not found, but for ``removed``."""

    def now(self) -> datetime:
        """The time that rows are written with."""
        return self._clock()

    async def add(
        self, source: Source, tools: Sequence[StoredTool], reading: SourceReading, actor: Actor, max_sources: int = 0
    ) -> Source:
        """A new one with what was read of it. ``ConflictError``: its author has ``most`` of them already."""

        def added(session: Session) -> Source:
            mine = (SourceRow.author_id == source.author_id) & SourceRow.removed_at.is_(None)
            if (
                max_sources
                and (session.scalar(select(func.count()).select_from(SourceRow).where(mine)) or 0) >= max_sources
            ):
                raise ConflictError(
                    f"you have {max_sources} sources, which is the most; remove one, or have FOOTPATH_AUTHOR_SOURCES raised"
                )
            row = build_source_row(source)
            row.watch_at = _compute_next_watch(self._clock(), source)
            session.add(row)
            session.flush()
            session.add(build_reading_row(source.id, reading))
            _write_tools(session, source.id, {one.tool: one for one in tools})
            session.add(
                self._build_step_row(
                    source.id, actor, SourceChange("added", named_tools=tuple(one.tool for one in tools)), None
                )
            )
            session.flush()
            return to_source(row, actor.name)

        return await self._database.write(added, durable=True)

    async def get(self, source_id: str, *, removed: bool = False) -> Source | None:
        """One by its id."""
        chosen = _select_sources(removed=removed).where(SourceRow.id == source_id)
        return await self._database.read(lambda session: _to_first_source(session.execute(chosen).all()))

    async def list_all(self, author_id: str | None = None, *, removed: bool = False) -> list[Source]:
        """An author's, or everybody's, by name."""
        chosen = _select_sources(removed=removed).order_by(SourceRow.name, SourceRow.id)
        if author_id is not None:
            chosen = chosen.where(SourceRow.author_id == author_id)
        return await self._database.read(lambda session: [to_source(*row) for row in session.execute(chosen)])

    async def count_tools(self, source_ids: Sequence[str]) -> dict[str, StateCounts]:
        """Tools by state, of each of these."""
        columns = (SourceToolRow.source_id, SourceToolRow.state, func.count())
        chosen = select(*columns).where(SourceToolRow.source_id.in_(source_ids))
        grouped = chosen.group_by(SourceToolRow.source_id, SourceToolRow.state)

        def counted(session: Session) -> dict[str, StateCounts]:
            found: dict[str, StateCounts] = {one: _count_nothing() for one in source_ids}
            for source_id, state, number in session.execute(grouped):
                found[source_id][state] = number
            return found

        return await self._database.read(counted)

    async def list_tools(self, source_id: str) -> list[StoredTool]:
        """A source's, in the order of their ids."""
        chosen = select(SourceToolRow).where(SourceToolRow.source_id == source_id).order_by(SourceToolRow.tool)
        return await self._database.read(lambda session: [to_model(StoredTool, row) for row in session.scalars(chosen)])

    async def get_tool(self, source_id: str, tool: str) -> StoredTool | None:
        """One of them."""
        key = (source_id, tool)
        return await self._database.read(
            lambda s: to_model(StoredTool, row) if (row := s.get(SourceToolRow, key)) else None
        )

    async def get_reading(self, source_id: str, version: int) -> SourceReading | None:
        """What was read then."""
        key = (source_id, version)
        return await self._database.read(
            lambda s: to_model(SourceReading, row) if (row := s.get(SourceReadingRow, key)) else None
        )

    async def list_steps(self, source_id: str, *, limit: int = 100, before: str = "") -> list[SourceStep]:
        """What was done, the latest first; ``before``: only what came before this one."""
        chosen = select(SourceStepRow).where(SourceStepRow.source_id == source_id)
        if before:
            chosen = chosen.where(SourceStepRow.id < before)
        ordered = chosen.order_by(SourceStepRow.id.desc()).limit(limit)
        return await self._database.read(lambda session: [to_step(row) for row in session.scalars(ordered)])

    async def apply_step(
        self, source_id: str, actor: Actor, work: Callable[[LockedSource], SourceChange | None]
    ) -> OfferChange:
        """Take a step: what ``work`` makes of the source is written as a whole, or, where it raises, nothing of it. None: nothing is to be done.

        Raises:
            NotFoundError: there is no such source. ConflictError: a tool that would be offered is offered of another source.
        """

        def taken(session: Session) -> OfferChange:
            row = session.scalar(
                select(SourceRow).where(SourceRow.id == source_id, SourceRow.removed_at.is_(None)).with_for_update()
            )
            if row is None:
                raise NotFoundError("there is no such source")
            author = session.scalar(select(UserRow.name).where(UserRow.id == row.author_id))
            held = _load_locked(session, row, author)
            done = work(held)
            if done is None:
                return OfferChange(held.source, (), ())
            _write_change(session, row, done)
            if done.source is not None and done.source.watch_minutes != held.source.watch_minutes:
                row.watch_at = _compute_next_watch(self._clock(), done.source)
            if done.is_recorded:
                session.add(self._build_step_row(source_id, actor, done, _build_undo_state(held, done)))
                session.flush()
                _forget_old_details(session, source_id)
            session.flush()
            return _compare_offers(to_source(row, author), held, done)

        return await self._database.write(taken, durable=True)

    def _build_step_row(
        self, source_id: str, actor: Actor, done: SourceChange, before: UndoState | None
    ) -> SourceStepRow:
        return SourceStepRow(
            id=generate_id(),
            source_id=source_id,
            at=self._clock(),
            user_id=actor.user_id,
            who=actor.name,
            by_admin=actor.admin,
            what=done.what,
            tools=list(done.named_tools or done.tools),
            reason=done.reason,
            before=None if before is None else before.model_dump(mode="json"),
            undone=False,
        )


def _select_sources(*, removed: bool) -> Select[SourceRow, str]:
    joined = select(SourceRow, UserRow.name).outerjoin(UserRow, UserRow.id == SourceRow.author_id)
    return joined if removed else joined.where(SourceRow.removed_at.is_(None))


def _to_first_source(rows: Sequence[Row[SourceRow, str]]) -> Source | None:
    return to_source(*rows[0]) if rows else None


def _compute_next_watch(at: datetime, source: Source) -> datetime | None:
    return at + timedelta(minutes=source.watch_minutes) if source.watch_minutes else None


def _count_nothing() -> StateCounts:
    return dict.fromkeys(get_args(ToolState), 0)


def _load_locked(session: Session, row: SourceRow, author: str | None) -> LockedSource:
    rows = session.scalars(select(SourceToolRow).where(SourceToolRow.source_id == row.id)).all()
    undoable = (SourceStepRow.source_id == row.id) & SourceStepRow.before.is_not(None) & SourceStepRow.undone.is_(False)
    last = session.scalar(select(SourceStepRow).where(undoable).order_by(SourceStepRow.id.desc()).limit(1))
    before = to_undo_state(last) if last is not None else None
    readings = select(func.max(SourceReadingRow.version)).where(SourceReadingRow.source_id == row.id)
    return LockedSource(
        to_source(row, author),
        {ToolId(one.tool): to_model(StoredTool, one) for one in rows},
        None if last is None or before is None else (to_step(last), before),
        session.scalar(readings) or 0,
    )


def _write_change(session: Session, row: SourceRow, done: SourceChange) -> None:
    _check_unclaimed(session, row.id, done)
    if done.source is not None:
        write_source(row, done.source)
    if done.reading is not None:
        session.add(build_reading_row(row.id, done.reading))
    _write_tools(session, row.id, done.tools)
    if done.undoes:
        session.execute(update(SourceStepRow).where(SourceStepRow.id == done.undoes).values(undone=True))


def _check_unclaimed(session: Session, source_id: str, done: SourceChange) -> None:
    wanted = [one.offer.id for one in done.tools.values() if one is not None and one.offer is not None]
    if not wanted:
        return
    others = SourceToolRow.offered_as.in_(wanted) & (SourceToolRow.source_id != source_id)
    if taken := session.scalar(select(SourceToolRow.tool).where(others).limit(1)):
        raise ConflictError(
            f"another source offers {taken} already; add this one under another category or tool set, or withdraw that one"
        )


def _write_tools(session: Session, source_id: str, tools: Mapping[ToolId, StoredTool | None]) -> None:
    for tool, kept in tools.items():
        row = session.get(SourceToolRow, (source_id, tool))
        if kept is None:
            if row is not None:
                session.delete(row)
            continue
        fresh = row is None
        row = row or SourceToolRow(source_id=source_id, tool=tool)
        write_tool(row, kept)
        if fresh:
            session.add(row)


def _build_undo_state(held: LockedSource, done: SourceChange) -> UndoState | None:
    if not done.is_undoable:
        return None
    return UndoState(
        tools={tool: held.tools.get(tool) for tool in done.tools},
        version=held.source.version,
        changes=held.source.changes,
        operations=held.source.operations,
    )


def _forget_old_details(session: Session, source_id: str) -> None:
    """The latest few steps can be undone, and the latest few readings are kept as they came."""
    steps = select(SourceStepRow.id).where(SourceStepRow.source_id == source_id, SourceStepRow.before.is_not(None))
    if old := session.scalars(steps.order_by(SourceStepRow.id.desc()).offset(_MAX_UNDOABLE)).all():
        session.execute(update(SourceStepRow).where(SourceStepRow.id.in_(old)).values(before=None))
    of_it = (SourceReadingRow.source_id == source_id) & SourceReadingRow.raw.is_not(None)
    readings = (
        select(SourceReadingRow.version).where(of_it).order_by(SourceReadingRow.version.desc()).offset(_MAX_UNDOABLE)
    )
    if bygone := session.scalars(readings).all():
        chosen = (SourceReadingRow.source_id == source_id) & SourceReadingRow.version.in_(bygone)
        session.execute(update(SourceReadingRow).where(chosen).values(raw=None))


def _compare_offers(source: Source, held: LockedSource, done: SourceChange) -> OfferChange:
    offered, withdrawn = list[ToolDoc](), list[ToolId]()
    for tool, now in done.tools.items():
        before = held.tools.get(tool)
        was = before.offer if before is not None else None
        is_now = now.offer if now is not None else None
        if is_now is not None and is_now != was:
            offered.append(is_now)
        elif is_now is None and was is not None:
            withdrawn.append(tool)
    return OfferChange(source, tuple(offered), tuple(withdrawn))


CHECK_ABORTED = "the check was broken off when the server stopped; start it again"


class SourceChecks(Repository):
    """Those of a database. A check is held by a lease, which its worker renews."""

    async def begin(self, source_id: str, worker: str, lease: timedelta, to_check: int, max_checks: int) -> None:
        """Take it.

        Raises:
            NotFoundError: there is no such source. ConflictError: it is being checked. BusyError: ``most`` of its author's are.
        """
        at = self._clock()

        def begun(session: Session) -> None:
            there = (SourceRow.id == source_id) & SourceRow.removed_at.is_(None)
            row = session.scalar(select(SourceRow).where(there).with_for_update())
            if row is None:
                raise NotFoundError("there is no such source")
            if row.check_worker is not None and row.check_until is not None and row.check_until > at:
                raise ConflictError("this source is being checked; wait until it is done")
            mine = (SourceRow.author_id == row.author_id) & (SourceRow.check_until > at) & (SourceRow.id != source_id)
            under_way = select(func.count()).select_from(SourceRow).where(mine, SourceRow.check_worker.is_not(None))
            if (session.scalar(under_way) or 0) >= max_checks:
                raise BusyError(
                    f"{max_checks} of this author's sources are being checked, which is the most; wait for one of them"
                )
            row.check_worker, row.check_until = worker, at + lease
            row.checked, row.to_check, row.check_trouble = 0, to_check, ""

        await self._database.write(begun)

    async def renew(self, worker: str, lease: timedelta) -> None:
        """Go on holding all that this worker holds."""
        held = update(SourceRow).where(SourceRow.check_worker == worker).values(check_until=self._clock() + lease)
        await self._database.write(lambda session: session.execute(held))

    async def is_held(self, source_id: str, worker: str) -> bool:
        """Whether it is this worker's still."""
        holds = select(SourceRow.id).where(SourceRow.id == source_id, SourceRow.check_worker == worker)
        return await self._database.read(lambda session: session.scalar(holds)) is not None

    async def finish(self, source_id: str, worker: str, trouble: str = "") -> None:
        """It is done, or stopped early."""
        values = {"check_worker": None, "check_until": None, "check_trouble": trouble}
        if not trouble:
            values |= {"checked_at": self._clock()}
        ended = update(SourceRow).where(SourceRow.id == source_id, SourceRow.check_worker == worker).values(values)
        await self._database.write(lambda session: session.execute(ended))

    async def abort_lost(self, workers: Sequence[str] = ()) -> int:
        """Tell of the checks that these workers had in hand, and of those whose lease has ended; how many."""
        lost = or_(SourceRow.check_worker.in_(workers), SourceRow.check_until <= self._clock())
        values = {"check_worker": None, "check_until": None, "check_trouble": CHECK_ABORTED}
        ended = update(SourceRow).where(SourceRow.check_worker.is_not(None), lost).values(values)
        return len(await self._database.write(lambda s: s.scalars(ended.returning(SourceRow.id)).all()))


class SourceWatches(Repository):
    """Sources that are read again by themselves. Of several servers one does it."""

    async def claim(self, lease: timedelta, limit: int = 1) -> list[str]:
        """Take sources that are due; no two get the same. What is not :meth:`done` when the lease ends is due again."""
        at = self._clock()
        due = (SourceRow.watch_at <= at) & SourceRow.removed_at.is_(None)
        chosen = (
            select(SourceRow.id).where(due).order_by(SourceRow.watch_at).limit(limit).with_for_update(skip_locked=True)
        )

        def claimed(session: Session) -> list[str]:
            ids = list(session.scalars(chosen))
            session.execute(update(SourceRow).where(SourceRow.id.in_(ids)).values(watch_at=at + lease))
            return ids

        return await self._database.write(claimed)

    async def schedule_next(self, source_id: str, pause: float) -> None:
        """It is due again after ``pause`` times the minutes of its watch; never where these are none."""

        def put(session: Session) -> None:
            row = session.get(SourceRow, source_id)
            if row is not None:
                minutes = timedelta(minutes=row.watch_minutes * pause)
                row.watch_at = self._clock() + minutes if row.watch_minutes and row.removed_at is None else None

        await self._database.write(put)

    async def schedule_soon(self, url: str, pause: timedelta) -> None:
        """The sources of the MCP server at this address, or of this command, are due after ``pause``, if they are not before."""
        at = self._clock() + pause
        command = url.removeprefix(STDIO) if url.startswith(STDIO) else ""
        same = (SourceRow.command == command) if command else (SourceRow.address == url)
        later = SourceRow.watch_at.is_(None) | (SourceRow.watch_at > at)
        due = update(SourceRow).where(same & later & (SourceRow.kind == "mcp") & SourceRow.removed_at.is_(None))
        await self._database.write(lambda session: session.execute(due.values(watch_at=at)))

    async def record_reading(self, source_id: str, trouble: str) -> None:
        """It was read again and says the same, or could not be read: why."""
        values = {"trouble": trouble} | ({} if trouble else {"read_at": self._clock()})
        told = update(SourceRow).where(SourceRow.id == source_id).values(values)
        await self._database.write(lambda session: session.execute(told))


def _format_revision(steps: int, last: str | None) -> str:
    return f"{steps}:{last}"


class SourceOffers(Repository):
    """Those of a database. Only what is admitted, of sources that are there."""

    async def get_revision(self) -> str:
        """What is another one after every step that was taken with any source."""
        chosen = select(func.count(), func.max(SourceStepRow.id))
        return _format_revision(*await self._database.read(lambda session: session.execute(chosen).one()))

    async def get_revision_and_user(self, user_id: str) -> tuple[str, User | None]:
        """The revision, and the account that looks at it, as of one moment; None where it is gone."""
        steps = select(func.count().label("steps"), func.max(SourceStepRow.id).label("last")).subquery()
        chosen = select(steps.c.steps, steps.c.last, UserRow).outerjoin_from(steps, UserRow, UserRow.id == user_id)
        found = await self._database.read(lambda session: session.execute(chosen).one())
        user: UserRow | None = found[2]  # an outer join
        return _format_revision(found[0], found[1]), to_model(User, user) if user else None

    async def list_all(self) -> list[SourceOffer]:
        """Every tool that is offered, with its document as it is offered."""
        columns = (SourceToolRow.source_id, SourceToolRow.offer)
        chosen = select(*columns).where(SourceToolRow.offered_as.is_not(None)).order_by(SourceToolRow.offered_as)

        def found(session: Session) -> list[SourceOffer]:
            return [SourceOffer(source_id=one, doc=ToolDoc.model_validate(doc)) for one, doc in session.execute(chosen)]

        return await self._database.read(found)

    async def map_tools_to_sources(self) -> dict[ToolId, str]:
        """The tools that are offered, each with its source's id."""
        columns = (SourceToolRow.offered_as, SourceToolRow.source_id)
        chosen = select(*columns).where(SourceToolRow.offered_as.is_not(None))
        return await self._database.read(
            lambda session: {ToolId(one): of for one, of in session.execute(chosen) if one}
        )

    async def list_known_ids(self) -> frozenset[ToolId]:
        """Every tool that any source ever named, offered or not."""
        chosen = select(SourceToolRow.tool).distinct()
        return await self._database.read(lambda session: frozenset(ToolId(one) for one in session.scalars(chosen)))

    async def list_access(self) -> dict[str, SourceAccess]:
        """Who may use which source, by its id."""
        chosen = select(SourceRow).where(SourceRow.removed_at.is_(None))
        return await self._database.read(
            lambda session: {row.id: to_model(SourceAccess, row) for row in session.scalars(chosen)}
        )

    async def get_keys_of(self, source_id: str) -> KeysOf | None:
        """Whose keys a source's calls send; None where there is no such source."""
        chosen = select(SourceRow.keys_of).where(SourceRow.id == source_id, SourceRow.removed_at.is_(None))
        found = await self._database.read(lambda session: session.scalar(chosen))
        return "source" if found == "source" else "caller" if found is not None else None

    async def find_source(self, tool: ToolId) -> str | None:
        """The id of the source that offers it."""
        chosen = select(SourceToolRow.source_id).where(SourceToolRow.offered_as == tool)
        return await self._database.read(lambda session: session.scalar(chosen))
