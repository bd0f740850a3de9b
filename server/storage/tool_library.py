"""Work with single tools: calls that users try by hand, and marks that administrators set."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import and_, delete, func, or_, select, update

from domain.errors import ConflictError
from domain.model import JsonObject
from domain.plan import CallOutcome
from domain.tool import ToolId
from server.storage.identifiers import generate_id
from server.storage.repository import Repository, StoredModel, to_model
from server.storage.rows.tools import ToolMarkRow, ToolTryRow

MAX_TRIES = 200
"""The newest tries of a user that are stored. One whose end is unknown always stays."""


class TryOutcome(StoredModel):
    """How a try ended."""

    outcome: CallOutcome | None = None
    """None of a try that has ended: nothing was sent."""
    http_status: int | None = None
    response: str = ""
    """The stored part of the response."""
    whole: int = 0
    """Characters of the full response."""
    note: str = ""
    milliseconds: int = 0


class ToolTry(TryOutcome):
    """A call that a user made by hand."""

    id: str
    tool: str
    arguments: JsonObject
    changes: bool
    """The call may change data."""
    started_at: datetime
    finished_at: datetime | None
    """None where it was started and its end is unknown."""


class ToolTries(Repository):
    """Stores calls that users make by hand: recorded on disk before they are made, and finished after."""

    async def begin(
        self, user_id: str, tool: str, arguments: JsonObject, *, changes: bool, key: str | None = None
    ) -> tuple[str, bool]:
        """Record a try, on disk when this returns. Return its id and whether the call is to be made.

        A try that this user began under the same ``key`` is not repeated: its id is returned. The user's oldest
        finished tries beyond the limit are deleted.

        Raises:
            ConflictError: the key was used for another call.
        """
        row = ToolTryRow(
            id=generate_id(), user_id=user_id, tool=tool, arguments=arguments, changes=changes, started_at=self._clock(),
            finished_at=None, key=key, **TryOutcome().model_dump(),
        )  # fmt: skip
        try:
            existing = await self._insert(row)
        except ConflictError:  # a concurrent request inserted this key, or the account was deleted
            if key is None or (existing := await self._find_by_key(user_id, key)) is None:
                raise
        if existing is None:
            return row.id, True
        if (existing.tool, existing.arguments) != (tool, arguments):
            raise ConflictError("this key stands for another call that you have tried: give each call a key of its own")
        return existing.id, False

    async def _insert(self, row: ToolTryRow) -> ToolTryRow | None:
        """Insert a row, or return the one that exists under its key."""
        is_own = ToolTryRow.user_id == row.user_id
        newest = select(ToolTryRow.id).where(is_own).order_by(ToolTryRow.id.desc()).limit(MAX_TRIES - 1)
        is_old = is_own & ToolTryRow.finished_at.is_not(None) & ToolTryRow.id.not_in(newest)
        async with self._database.write_session(durable=True) as session:
            if row.key is not None:
                existing = await session.scalar(select(ToolTryRow).where(is_own, ToolTryRow.key == row.key))
                if existing is not None:
                    return existing
            await session.execute(delete(ToolTryRow).where(is_old), execution_options={"synchronize_session": False})
            session.add(row)
        return None

    async def _find_by_key(self, user_id: str, key: str) -> ToolTryRow | None:
        async with self._database.read_session() as session:
            return await session.scalar(select(ToolTryRow).where(ToolTryRow.user_id == user_id, ToolTryRow.key == key))

    async def finish(self, try_id: str, end: TryOutcome) -> None:
        """Record how a try ended, once."""
        unfinished = (ToolTryRow.id == try_id) & ToolTryRow.finished_at.is_(None)
        change = update(ToolTryRow).where(unfinished).values(finished_at=self._clock(), **end.model_dump())
        async with self._database.write_session(durable=True, single=True) as session:
            await session.execute(change)

    async def get(self, user_id: str, try_id: str) -> ToolTry | None:
        """Return one of this user's tries."""
        async with self._database.read_session() as session:
            row = await session.get(ToolTryRow, try_id)
            return to_model(ToolTry, row) if row is not None and row.user_id == user_id else None

    async def list_latest(self, user_id: str, tool: str, limit: int) -> list[ToolTry]:
        """List this user's tries of a tool, the newest first."""
        statement = select(ToolTryRow).where(ToolTryRow.user_id == user_id, ToolTryRow.tool == tool)
        async with self._database.read_session() as session:
            return [
                to_model(ToolTry, row)
                for row in await session.scalars(statement.order_by(ToolTryRow.id.desc()).limit(limit))
            ]


MarkKind = Literal["edge", "tool", "effect", "entity", "feed", "runs"]
"""The subject of a mark: an edge out of the tool, the tool everywhere, whether it changes data, the entity of a
parameter or field, the feed of a parameter, or what runs have taught about the tool.
"""
MarkWord = Literal["pin", "mute", "ban", "reads", "changes", "set", "add", "forbid", "forget", "clear"]


class NewToolMark(StoredModel):
    """A mark to be set."""

    tool: ToolId
    kind: MarkKind
    target: str = ""
    """The tool that an edge leads to or a feed comes from; empty otherwise."""
    mark: MarkWord
    reason: str
    sources: tuple[ToolId, ...] = ()
    """The tools whose edges were marked together with the tool."""
    place: str = ""
    """The parameter or field that the mark is about."""
    field: str = ""
    """The field of the other tool's response that a feed comes from."""
    entity: str = ""
    """The entity that the place is of."""


class ToolMark(NewToolMark):
    """A mark with its author."""

    id: str
    by: str
    """The name of the administrator."""
    at: datetime


class ToolMarks(Repository):
    """Stores the marks that administrators set, with reasons. Earlier marks stay readable."""

    async def add(self, mark: NewToolMark, by_id: str, by: str, set_aside: Mapping[str, Any] | None = None) -> None:
        """Add a mark, valid from now on. ``set_aside`` is what it replaced, to be restored when it is revoked."""
        values = mark.model_dump() | {"sources": list(mark.sources)}
        row = ToolMarkRow(id=generate_id(), by_id=by_id, by=by, at=self._clock(), kept=dict(set_aside or {}), **values)
        async with self._database.write_session(single=True) as session:
            session.add(row)

    async def list_for_tool(self, tool: ToolId, limit: int = 100) -> list[ToolMark]:
        """List all marks of a tool and of the edges out of it, the newest first."""
        statement = select(ToolMarkRow).where(ToolMarkRow.tool == tool).order_by(ToolMarkRow.id.desc()).limit(limit)
        async with self._database.read_session() as session:
            return [to_model(ToolMark, row) for row in await session.scalars(statement)]

    async def get_set_aside(self, mark_id: str) -> Mapping[str, Any]:
        """Return what a mark replaced; empty where there is no such mark."""
        statement = select(ToolMarkRow.kept).where(ToolMarkRow.id == mark_id)
        async with self._database.read_session() as session:
            return await session.scalar(statement) or {}

    async def list_between(self, tool: ToolId, target: ToolId, limit: int = 50) -> list[ToolMark]:
        """List the marks of what connects two tools: the edge between them and feeds along it; the newest first."""
        edge = and_(ToolMarkRow.kind == "edge", ToolMarkRow.tool == tool, ToolMarkRow.target == target)
        feed = and_(ToolMarkRow.kind == "feed", ToolMarkRow.tool == target, ToolMarkRow.target == tool)
        statement = select(ToolMarkRow).where(or_(edge, feed)).order_by(ToolMarkRow.id.desc()).limit(limit)
        async with self._database.read_session() as session:
            return [to_model(ToolMark, row) for row in await session.scalars(statement)]

    async def list_banned(self) -> frozenset[ToolId]:
        """Return the tools that are offered to nobody."""
        newest = select(func.max(ToolMarkRow.id)).where(ToolMarkRow.kind == "tool").group_by(ToolMarkRow.tool)
        statement = select(ToolMarkRow.tool).where(ToolMarkRow.id.in_(newest), ToolMarkRow.mark == "ban")
        async with self._database.read_session() as session:
            return frozenset(ToolId(tool) for tool in await session.scalars(statement))
