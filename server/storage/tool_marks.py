"""What administrators say of tools and of the edges between them, with who said it, when and why; what was said before stays readable."""

from datetime import datetime
from typing import Literal

from sqlalchemy import func, select

from domain.model import Model
from domain.tool import ToolId
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.row_ids import new_id
from server.storage.rows.library import ToolMarkRow

MarkKind = Literal["edge", "tool", "effect"]
"""``edge``: of a transition out of the tool; ``tool``: of the tool wherever it would be taken; ``effect``: whether calling it changes something."""
MarkWord = Literal["pin", "mute", "ban", "reads", "changes", "clear"]


class NewToolMark(Model):
    """``target``: where an edge leads, else empty. ``sources``: where the edges come from that are marked with the tool."""

    tool: ToolId
    kind: MarkKind
    target: str = ""
    mark: MarkWord
    reason: str
    sources: tuple[ToolId, ...] = ()


class ToolMark(NewToolMark):
    """``by``: the name of who said it."""

    by: str
    at: datetime


class ToolMarks:
    """Those of a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, mark: NewToolMark, by_id: str, by: str) -> None:
        """It counts from now on."""
        told = mark.model_dump() | {"sources": list(mark.sources)}
        row = ToolMarkRow(id=new_id(), by_id=by_id, by=by, at=self._clock(), **told)
        async with self._database.writing() as session:
            session.add(row)

    async def of(self, tool: ToolId, limit: int = 100) -> list[ToolMark]:
        """All that was said of a tool and of the edges out of it, the newest first."""
        chosen = select(ToolMarkRow).where(ToolMarkRow.tool == tool).order_by(ToolMarkRow.id.desc()).limit(limit)
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
