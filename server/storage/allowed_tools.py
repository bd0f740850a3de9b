"""Tools that change something and that a user lets be called without being asked each time."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import delete, select

from domain.model import Model
from domain.origin import COVERABLE, ValueKind
from domain.tool import ToolDoc
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.rows.accounts import AllowedToolRow


class Reach(Model):
    """Where a tool's calls go, by which method, and what brought the tool in: leave holds for no other."""

    address: str = ""
    method: str = ""
    source: str = ""


class AllowedTool(Reach):
    """``origins``: of the values that leave was given for."""

    tool: str
    origins: tuple[ValueKind, ...] = ()
    created_at: datetime

    def covers(self, reach: Reach, kinds: Iterable[ValueKind]) -> bool:
        """Whether leave holds for a call whose values have these origins."""
        same = (self.address, self.method, self.source) == (reach.address, reach.method, reach.source)
        return same and set(kinds) <= set(self.origins) & set(COVERABLE)


def reach_of(tool: ToolDoc) -> Reach:
    """Of a tool as it is now."""
    return Reach(address=tool.address, method=tool.method, source=tool.source)


class AllowedTools:
    """The allow-lists of a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def all(self, user_id: str) -> list[AllowedTool]:
        """By tool id."""
        statement = select(AllowedToolRow).where(AllowedToolRow.user_id == user_id).order_by(AllowedToolRow.tool)
        async with self._database.reading() as session:
            return [_allowed(row) for row in await session.scalars(statement)]

    async def get(self, user_id: str, tool: str) -> AllowedTool | None:
        """What this user said of a tool."""
        async with self._database.reading() as session:
            row = await session.get(AllowedToolRow, (user_id, tool))
            return _allowed(row) if row else None

    async def allow(self, user_id: str, tool: str, reach: Reach, origins: Iterable[ValueKind] = COVERABLE) -> None:
        """Beside what was allowed of the same tool at the same place; in place of what was allowed of it elsewhere."""
        async with self._database.writing() as session:
            row = await session.get(AllowedToolRow, (user_id, tool), with_for_update=True)
            before = _allowed(row) if row else None
            kept = before.origins if before and before.covers(reach, ()) else ()
            kinds = [kind for kind in COVERABLE if kind in {*kept, *origins}]
            told = reach.model_dump() | {"origins": kinds, "created_at": self._clock()}
            await session.merge(AllowedToolRow(user_id=user_id, tool=tool, **told))

    async def disallow(self, user_id: str, tool: str) -> bool:
        """Whether it was allowed."""
        chosen = (AllowedToolRow.user_id == user_id) & (AllowedToolRow.tool == tool)
        async with self._database.writing(single=True) as session:
            gone = delete(AllowedToolRow).where(chosen).returning(AllowedToolRow.tool)
            return await session.scalar(gone) is not None


def _allowed(row: AllowedToolRow) -> AllowedTool:
    return AllowedTool.model_validate({name: getattr(row, name) for name in AllowedTool.model_fields})
