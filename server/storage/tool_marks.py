"""What administrators say of tools and of the edges between them, with who said it, when and why; what was said before stays readable."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import and_, func, or_, select

from domain.model import Model
from domain.tool import ToolId
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.row_ids import new_id
from server.storage.rows.library import ToolMarkRow

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


class ToolMarks:
    """Those of a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, mark: NewToolMark, by_id: str, by: str, kept: Mapping[str, Any] | None = None) -> None:
        """It counts from now on. ``kept``: what it put aside, to be put back when it is taken back."""
        told = mark.model_dump() | {"sources": list(mark.sources)}
        row = ToolMarkRow(id=new_id(), by_id=by_id, by=by, at=self._clock(), kept=dict(kept or {}), **told)
        async with self._database.writing(single=True) as session:
            session.add(row)

    async def of(self, tool: ToolId, limit: int = 100) -> list[ToolMark]:
        """All that was said of a tool and of the edges out of it, the newest first."""
        chosen = select(ToolMarkRow).where(ToolMarkRow.tool == tool).order_by(ToolMarkRow.id.desc()).limit(limit)
        async with self._database.reading() as session:
            return [_shown(row) for row in await session.scalars(chosen)]

    async def kept(self, mark_id: str) -> Mapping[str, Any]:
        """What a mark put aside; nothing where there is no such mark."""
        chosen = select(ToolMarkRow.kept).where(ToolMarkRow.id == mark_id)
        async with self._database.reading() as session:
            return await session.scalar(chosen) or {}

    async def into(self, tool: ToolId, target: ToolId, limit: int = 50) -> list[ToolMark]:
        """What was said of what joins two tools: of the edge from the one to the other, and of what it feeds there; the newest first."""
        edge = and_(ToolMarkRow.kind == "edge", ToolMarkRow.tool == tool, ToolMarkRow.target == target)
        feed = and_(ToolMarkRow.kind == "feed", ToolMarkRow.tool == target, ToolMarkRow.target == tool)
        chosen = select(ToolMarkRow).where(or_(edge, feed)).order_by(ToolMarkRow.id.desc()).limit(limit)
        async with self._database.reading() as session:
            return [_shown(row) for row in await session.scalars(chosen)]

    async def banned(self) -> frozenset[ToolId]:
        """The tools that are offered to nobody, whatever leads to them."""
        newest = select(func.max(ToolMarkRow.id)).where(ToolMarkRow.kind == "tool").group_by(ToolMarkRow.tool)
        chosen = select(ToolMarkRow.tool).where(ToolMarkRow.id.in_(newest), ToolMarkRow.mark == "ban")
        async with self._database.reading() as session:
            return frozenset(ToolId(tool) for tool in await session.scalars(chosen))


def _shown(row: ToolMarkRow) -> ToolMark:
    return ToolMark.model_validate({name: getattr(row, name) for name in ToolMark.model_fields})
