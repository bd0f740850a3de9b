"""What people do with single tools: calls that users try by hand, and marks that administrators set."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import and_, delete, func, or_, select, update

from domain.errors import ConflictError
from domain.model import JsonObject, Model
from domain.plan import CallOutcome
from domain.tool import ToolId
from server.storage.identifiers import generate_id
from server.storage.repository import Repository, to_model
from server.storage.rows.tools import ToolMarkRow, ToolTryRow

MAX_TRIES = 200
"""Of one user's tries, the newest so many are kept; one whose end nobody knows stays."""


class TryOutcome(Model):
    """How it ended. ``response``: what is kept of the answer, ``whole``: how many characters that had."""

    outcome: CallOutcome | None = None
    http_status: int | None = None
    response: str = ""
    whole: int = 0
    note: str = ""
    milliseconds: int = 0


class ToolTry(TryOutcome):
    """``finished_at`` None: it was begun, and nobody knows how it ended; ``outcome`` None of one that has ended: nothing was sent."""

    id: str
    tool: str
    arguments: JsonObject
    changes: bool
    started_at: datetime
    finished_at: datetime | None


class ToolTries(Repository):
    """Those of a database."""

    async def begin(
        self, user_id: str, tool: str, arguments: JsonObject, *, changes: bool, key: str | None = None
    ) -> tuple[str, bool]:
        """Write it down, on the disk when this returns: its id, and whether it is to be made. Of the user's older ones those go that are too many.

        One that this user has begun under this ``key`` is not: its id is told. ``ConflictError``: that was another call.
        """
        row = ToolTryRow(
            id=generate_id(), user_id=user_id, tool=tool, arguments=arguments, changes=changes, started_at=self._clock(),
            finished_at=None, key=key, **TryOutcome().model_dump(),
        )  # fmt: skip
        try:
            there = await self._insert(row)
        except ConflictError:  # another one of this key was written at this very moment, unless the account is gone
            if key is None or (there := await self._find_by_key(user_id, key)) is None:
                raise
        if there is None:
            return row.id, True
        if (there.tool, there.arguments) != (tool, arguments):
            raise ConflictError("this key stands for another call that you have tried: give each call a key of its own")
        return there.id, False

    async def _insert(self, row: ToolTryRow) -> ToolTryRow | None:
        """The one that is there already under its key."""
        own = ToolTryRow.user_id == row.user_id
        newest = select(ToolTryRow.id).where(own).order_by(ToolTryRow.id.desc()).limit(MAX_TRIES - 1)
        old = own & ToolTryRow.finished_at.is_not(None) & ToolTryRow.id.not_in(newest)
        async with self._database.write_session(durable=True) as session:
            if row.key is not None:
                there = await session.scalar(select(ToolTryRow).where(own, ToolTryRow.key == row.key))
                if there is not None:
                    return there
            await session.execute(delete(ToolTryRow).where(old), execution_options={"synchronize_session": False})
            session.add(row)
        return None

    async def _find_by_key(self, user_id: str, key: str) -> ToolTryRow | None:
        async with self._database.read_session() as session:
            return await session.scalar(select(ToolTryRow).where(ToolTryRow.user_id == user_id, ToolTryRow.key == key))

    async def finish(self, try_id: str, end: TryOutcome) -> None:
        """Write down how it ended, once."""
        chosen = (ToolTryRow.id == try_id) & ToolTryRow.finished_at.is_(None)
        ended = update(ToolTryRow).where(chosen).values(finished_at=self._clock(), **end.model_dump())
        async with self._database.write_session(durable=True, single=True) as session:
            await session.execute(ended)

    async def get(self, user_id: str, try_id: str) -> ToolTry | None:
        """One of this user's."""
        async with self._database.read_session() as session:
            row = await session.get(ToolTryRow, try_id)
            return to_model(ToolTry, row) if row is not None and row.user_id == user_id else None

    async def list_latest(self, user_id: str, tool: str, limit: int) -> list[ToolTry]:
        """This user's of a tool, the newest first."""
        chosen = select(ToolTryRow).where(ToolTryRow.user_id == user_id, ToolTryRow.tool == tool)
        async with self._database.read_session() as session:
            return [
                to_model(ToolTry, row)
                for row in await session.scalars(chosen.order_by(ToolTryRow.id.desc()).limit(limit))
            ]


MarkKind = Literal["edge", "tool", "effect", "entity", "feed", "runs"]
"""``edge``: of a transition out of the tool; ``tool``: of the tool wherever it would be taken; ``effect``: whether calling it changes something; ``entity``: what one of its
parameters or fields is of; ``feed``: what fills one of its parameters; ``runs``: what runs have said of it.
"""
MarkWord = Literal["pin", "mute", "ban", "reads", "changes", "set", "add", "forbid", "forget", "clear"]


class NewToolMark(Model):
    """``target``: where an edge leads, or which tool a feed comes from, else empty. ``sources``: where the edges come from that are marked with the tool. ``place``: the parameter or field
    that is spoken of; ``field``: of the other tool's answer, from which a feed comes; ``entity``: what the place is of.
    """

    tool: ToolId
    kind: MarkKind
    target: str = ""
    mark: MarkWord
    reason: str
    sources: tuple[ToolId, ...] = ()
    place: str = ""
    field: str = ""
    entity: str = ""


class ToolMark(NewToolMark):
    """``by``: the name of who said it."""

    id: str
    by: str
    at: datetime


class ToolMarks(Repository):
    """Those of a database."""

    async def add(self, mark: NewToolMark, by_id: str, by: str, set_aside: Mapping[str, Any] | None = None) -> None:
        """It counts from now on. ``kept``: what it put aside, to be put back when it is taken back."""
        told = mark.model_dump() | {"sources": list(mark.sources)}
        row = ToolMarkRow(id=generate_id(), by_id=by_id, by=by, at=self._clock(), kept=dict(set_aside or {}), **told)
        async with self._database.write_session(single=True) as session:
            session.add(row)

    async def list_for_tool(self, tool: ToolId, limit: int = 100) -> list[ToolMark]:
        """All that was said of a tool and of the edges out of it, the newest first."""
        chosen = select(ToolMarkRow).where(ToolMarkRow.tool == tool).order_by(ToolMarkRow.id.desc()).limit(limit)
        async with self._database.read_session() as session:
            return [to_model(ToolMark, row) for row in await session.scalars(chosen)]

    async def get_set_aside(self, mark_id: str) -> Mapping[str, Any]:
        """What a mark put aside; nothing where there is no such mark."""
        chosen = select(ToolMarkRow.kept).where(ToolMarkRow.id == mark_id)
        async with self._database.read_session() as session:
            return await session.scalar(chosen) or {}

    async def list_between(self, tool: ToolId, target: ToolId, limit: int = 50) -> list[ToolMark]:
        """What was said of what joins two tools: of the edge from the one to the other, and of what it feeds there; the newest first."""
        edge = and_(ToolMarkRow.kind == "edge", ToolMarkRow.tool == tool, ToolMarkRow.target == target)
        feed = and_(ToolMarkRow.kind == "feed", ToolMarkRow.tool == target, ToolMarkRow.target == tool)
        chosen = select(ToolMarkRow).where(or_(edge, feed)).order_by(ToolMarkRow.id.desc()).limit(limit)
        async with self._database.read_session() as session:
            return [to_model(ToolMark, row) for row in await session.scalars(chosen)]

    async def list_banned(self) -> frozenset[ToolId]:
        """The tools that are offered to nobody, whatever leads to them."""
        newest = select(func.max(ToolMarkRow.id)).where(ToolMarkRow.kind == "tool").group_by(ToolMarkRow.tool)
        chosen = select(ToolMarkRow.tool).where(ToolMarkRow.id.in_(newest), ToolMarkRow.mark == "ban")
        async with self._database.read_session() as session:
            return frozenset(ToolId(tool) for tool in await session.scalars(chosen))
