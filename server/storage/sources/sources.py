"""Sources of tools: added, read, changed step by step. A step is one transaction: the source, its tools, what undoing brings back."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import get_args

from sqlalchemy import Row, Select, func, select, update
from sqlalchemy.orm import Session

from domain.errors import ConflictError, NotFoundError
from domain.source import ToolState
from domain.tool import ToolDoc, ToolId
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.row_ids import new_id
from server.storage.rows.accounts import UserRow
from server.storage.rows.sources import SourceReadingRow, SourceRow, SourceStepRow, SourceToolRow
from server.storage.sources.mapping import (
    before_of,
    new_source_row,
    put_source,
    put_tool,
    reading_of,
    reading_row,
    source_of,
    step_of,
    tool_of,
)
from server.storage.sources.models import Actor, Before, Counts, Done, Followed, Held, KeptTool, Reading, Source, Step

_KEPT = 20
"""Steps that can be undone, and readings that are kept as they came, of each source."""


class Sources:
    """Those of a database. Those that were removed are not found, but for ``removed``."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def now(self) -> datetime:
        """The time that rows are written with."""
        return self._clock()

    async def add(
        self, source: Source, tools: Sequence[KeptTool], reading: Reading, actor: Actor, most: int = 0
    ) -> Source:
        """A new one with what was read of it. ``ConflictError``: its author has ``most`` of them already."""

        def added(session: Session) -> Source:
            mine = (SourceRow.author_id == source.author_id) & SourceRow.removed_at.is_(None)
            if most and (session.scalar(select(func.count()).select_from(SourceRow).where(mine)) or 0) >= most:
                raise ConflictError(
                    f"you have {most} sources, which is the most; remove one, or have FOOTPATH_AUTHOR_SOURCES raised"
                )
            row = new_source_row(source)
            row.watch_at = _next_watch(self._clock(), source)
            session.add(row)
            session.flush()
            session.add(reading_row(source.id, reading))
            _put_tools(session, source.id, {one.tool: one for one in tools})
            session.add(self._step(source.id, actor, Done("added", named=tuple(one.tool for one in tools)), None))
            session.flush()
            return source_of(row, actor.name)

        return await self._database.write(added, durable=True)

    async def get(self, source_id: str, *, removed: bool = False) -> Source | None:
        """One by its id."""
        chosen = _whole(removed=removed).where(SourceRow.id == source_id)
        return await self._database.read(lambda session: _first(session.execute(chosen).all()))

    async def all(self, author_id: str | None = None, *, removed: bool = False) -> list[Source]:
        """An author's, or everybody's, by name."""
        chosen = _whole(removed=removed).order_by(SourceRow.name, SourceRow.id)
        if author_id is not None:
            chosen = chosen.where(SourceRow.author_id == author_id)
        return await self._database.read(lambda session: [source_of(*row) for row in session.execute(chosen)])

    async def counts(self, source_ids: Sequence[str]) -> dict[str, Counts]:
        """Tools by state, of each of these."""
        columns = (SourceToolRow.source_id, SourceToolRow.state, func.count())
        chosen = select(*columns).where(SourceToolRow.source_id.in_(source_ids))
        grouped = chosen.group_by(SourceToolRow.source_id, SourceToolRow.state)

        def counted(session: Session) -> dict[str, Counts]:
            found: dict[str, Counts] = {one: _none() for one in source_ids}
            for source_id, state, number in session.execute(grouped):
                found[source_id][state] = number
            return found

        return await self._database.read(counted)

    async def tools(self, source_id: str) -> list[KeptTool]:
        """A source's, in the order of their ids."""
        chosen = select(SourceToolRow).where(SourceToolRow.source_id == source_id).order_by(SourceToolRow.tool)
        return await self._database.read(lambda session: [tool_of(row) for row in session.scalars(chosen)])

    async def tool(self, source_id: str, tool: str) -> KeptTool | None:
        """One of them."""
        key = (source_id, tool)
        return await self._database.read(lambda s: tool_of(row) if (row := s.get(SourceToolRow, key)) else None)

    async def reading(self, source_id: str, version: int) -> Reading | None:
        """What was read then."""
        key = (source_id, version)
        return await self._database.read(lambda s: reading_of(row) if (row := s.get(SourceReadingRow, key)) else None)

    async def steps(self, source_id: str, *, limit: int = 100, before: str = "") -> list[Step]:
        """What was done, the latest first; ``before``: only what came before this one."""
        chosen = select(SourceStepRow).where(SourceStepRow.source_id == source_id)
        if before:
            chosen = chosen.where(SourceStepRow.id < before)
        ordered = chosen.order_by(SourceStepRow.id.desc()).limit(limit)
        return await self._database.read(lambda session: [step_of(row) for row in session.scalars(ordered)])

    async def take(self, source_id: str, actor: Actor, work: Callable[[Held], Done | None]) -> Followed:
        """Take a step: what ``work`` makes of the source is written as a whole, or, where it raises, nothing of it. None: nothing is to be done.

        Raises:
            NotFoundError: there is no such source. ConflictError: a tool that would be offered is offered of another source.
        """

        def taken(session: Session) -> Followed:
            row = session.scalar(
                select(SourceRow).where(SourceRow.id == source_id, SourceRow.removed_at.is_(None)).with_for_update()
            )
            if row is None:
                raise NotFoundError("there is no such source")
            author = session.scalar(select(UserRow.name).where(UserRow.id == row.author_id))
            held = _held(session, row, author)
            done = work(held)
            if done is None:
                return Followed(held.source, (), ())
            _write(session, row, done)
            if done.source is not None and done.source.watch_minutes != held.source.watch_minutes:
                row.watch_at = _next_watch(self._clock(), done.source)
            if done.told:
                session.add(self._step(source_id, actor, done, _before(held, done)))
                session.flush()
                _forget_old(session, source_id)
            session.flush()
            return _followed(source_of(row, author), held, done)

        return await self._database.write(taken, durable=True)

    def _step(self, source_id: str, actor: Actor, done: Done, before: Before | None) -> SourceStepRow:
        return SourceStepRow(
            id=new_id(),
            source_id=source_id,
            at=self._clock(),
            user_id=actor.user_id,
            who=actor.name,
            by_admin=actor.admin,
            what=done.what,
            tools=list(done.named or done.tools),
            reason=done.reason,
            before=None if before is None else before.model_dump(mode="json"),
            undone=False,
        )


def _whole(*, removed: bool) -> Select[SourceRow, str]:
    joined = select(SourceRow, UserRow.name).outerjoin(UserRow, UserRow.id == SourceRow.author_id)
    return joined if removed else joined.where(SourceRow.removed_at.is_(None))


def _first(rows: Sequence[Row[SourceRow, str]]) -> Source | None:
    return source_of(*rows[0]) if rows else None


def _next_watch(at: datetime, source: Source) -> datetime | None:
    return at + timedelta(minutes=source.watch_minutes) if source.watch_minutes else None


def _none() -> Counts:
    return dict.fromkeys(get_args(ToolState), 0)


def _held(session: Session, row: SourceRow, author: str | None) -> Held:
    rows = session.scalars(select(SourceToolRow).where(SourceToolRow.source_id == row.id)).all()
    undoable = (SourceStepRow.source_id == row.id) & SourceStepRow.before.is_not(None) & SourceStepRow.undone.is_(False)
    last = session.scalar(select(SourceStepRow).where(undoable).order_by(SourceStepRow.id.desc()).limit(1))
    before = before_of(last) if last is not None else None
    readings = select(func.max(SourceReadingRow.version)).where(SourceReadingRow.source_id == row.id)
    return Held(
        source_of(row, author),
        {ToolId(one.tool): tool_of(one) for one in rows},
        None if last is None or before is None else (step_of(last), before),
        session.scalar(readings) or 0,
    )


def _write(session: Session, row: SourceRow, done: Done) -> None:
    _unclaimed(session, row.id, done)
    if done.source is not None:
        put_source(row, done.source)
    if done.reading is not None:
        session.add(reading_row(row.id, done.reading))
    _put_tools(session, row.id, done.tools)
    if done.undoes:
        session.execute(update(SourceStepRow).where(SourceStepRow.id == done.undoes).values(undone=True))


def _unclaimed(session: Session, source_id: str, done: Done) -> None:
    wanted = [one.offer.id for one in done.tools.values() if one is not None and one.offer is not None]
    if not wanted:
        return
    others = SourceToolRow.offered_as.in_(wanted) & (SourceToolRow.source_id != source_id)
    if taken := session.scalar(select(SourceToolRow.tool).where(others).limit(1)):
        raise ConflictError(
            f"another source offers {taken} already; add this one under another category or tool set, or withdraw that one"
        )


def _put_tools(session: Session, source_id: str, tools: Mapping[ToolId, KeptTool | None]) -> None:
    for tool, kept in tools.items():
        row = session.get(SourceToolRow, (source_id, tool))
        if kept is None:
            if row is not None:
                session.delete(row)
            continue
        fresh = row is None
        row = row or SourceToolRow(source_id=source_id, tool=tool)
        put_tool(row, kept)
        if fresh:
            session.add(row)


def _before(held: Held, done: Done) -> Before | None:
    if not done.keep:
        return None
    return Before(
        tools={tool: held.tools.get(tool) for tool in done.tools},
        version=held.source.version,
        changes=held.source.changes,
        operations=held.source.operations,
    )


def _forget_old(session: Session, source_id: str) -> None:
    """The latest few steps can be undone, and the latest few readings are kept as they came."""
    steps = select(SourceStepRow.id).where(SourceStepRow.source_id == source_id, SourceStepRow.before.is_not(None))
    if old := session.scalars(steps.order_by(SourceStepRow.id.desc()).offset(_KEPT)).all():
        session.execute(update(SourceStepRow).where(SourceStepRow.id.in_(old)).values(before=None))
    of_it = (SourceReadingRow.source_id == source_id) & SourceReadingRow.raw.is_not(None)
    readings = select(SourceReadingRow.version).where(of_it).order_by(SourceReadingRow.version.desc()).offset(_KEPT)
    if bygone := session.scalars(readings).all():
        chosen = (SourceReadingRow.source_id == source_id) & SourceReadingRow.version.in_(bygone)
        session.execute(update(SourceReadingRow).where(chosen).values(raw=None))


def _followed(source: Source, held: Held, done: Done) -> Followed:
    offered, withdrawn = list[ToolDoc](), list[ToolId]()
    for tool, now in done.tools.items():
        before = held.tools.get(tool)
        was = before.offer if before is not None else None
        is_now = now.offer if now is not None else None
        if is_now is not None and is_now != was:
            offered.append(is_now)
        elif is_now is None and was is not None:
            withdrawn.append(tool)
    return Followed(source, tuple(offered), tuple(withdrawn))
