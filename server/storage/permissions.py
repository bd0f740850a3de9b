"""What users permit once and for all: calls of tools that change something, and values that go from one host to another."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import delete, select

from domain.model import Model
from domain.origin import COVERABLE, ValueKind
from domain.tool import ToolDoc
from server.storage.repository import Repository, to_model
from server.storage.rows.accounts import AllowedToolRow, HostTransferRow


class CallTarget(Model):
    """Where a tool's calls go, by which method, and what brought the tool in: leave holds for no other."""

    address: str = ""
    method: str = ""
    source: str = ""


class AllowedTool(CallTarget):
    """``origins``: of the values that leave was given for."""

    tool: str
    origins: tuple[ValueKind, ...] = ()
    created_at: datetime

    def covers(self, target: CallTarget, kinds: Iterable[ValueKind]) -> bool:
        """Whether leave holds for a call whose values have these origins."""
        same = (self.address, self.method, self.source) == (target.address, target.method, target.source)
        return same and set(kinds) <= set(self.origins) & set(COVERABLE)


def get_call_target(tool: ToolDoc) -> CallTarget:
    """Of a tool as it is now."""
    return CallTarget(address=tool.address, method=tool.method, source=tool.source)


class AllowedTools(Repository):
    """The allow-lists of a database."""

    async def list_all(self, user_id: str) -> list[AllowedTool]:
        """By tool id."""
        statement = select(AllowedToolRow).where(AllowedToolRow.user_id == user_id).order_by(AllowedToolRow.tool)
        async with self._database.read_session() as session:
            return [to_model(AllowedTool, row) for row in await session.scalars(statement)]

    async def get(self, user_id: str, tool: str) -> AllowedTool | None:
        """What this user said of a tool."""
        async with self._database.read_session() as session:
            row = await session.get(AllowedToolRow, (user_id, tool))
            return to_model(AllowedTool, row) if row else None

    async def allow(
        self, user_id: str, tool: str, target: CallTarget, origins: Iterable[ValueKind] = COVERABLE
    ) -> None:
        """Beside what was allowed of the same tool at the same place; in place of what was allowed of it elsewhere."""
        async with self._database.write_session() as session:
            row = await session.get(AllowedToolRow, (user_id, tool), with_for_update=True)
            before = to_model(AllowedTool, row) if row else None
            kept = before.origins if before and before.covers(target, ()) else ()
            kinds = [kind for kind in COVERABLE if kind in {*kept, *origins}]
            told = target.model_dump() | {"origins": kinds, "created_at": self._clock()}
            await session.merge(AllowedToolRow(user_id=user_id, tool=tool, **told))

    async def disallow(self, user_id: str, tool: str) -> bool:
        """Whether it was allowed."""
        chosen = (AllowedToolRow.user_id == user_id) & (AllowedToolRow.tool == tool)
        async with self._database.write_session(single=True) as session:
            gone = delete(AllowedToolRow).where(chosen).returning(AllowedToolRow.tool)
            return await session.scalar(gone) is not None


class HostTransfer(Model):
    """From the host ``source`` to the host ``target``; asked once, and decided until it is taken back."""

    source: str
    target: str
    allowed: bool
    decided_at: datetime


class HostTransfers(Repository):
    """The decisions of a database's users."""

    async def list_all(self, user_id: str) -> list[HostTransfer]:
        """By hosts."""
        statement = (
            select(HostTransferRow)
            .where(HostTransferRow.user_id == user_id)
            .order_by(HostTransferRow.source, HostTransferRow.target)
        )
        async with self._database.read_session() as session:
            return [to_model(HostTransfer, row) for row in await session.scalars(statement)]

    async def get(self, user_id: str, source: str, target: str) -> HostTransfer | None:
        """None: this user has not decided."""
        async with self._database.read_session() as session:
            row = await session.get(HostTransferRow, (user_id, source, target))
            return to_model(HostTransfer, row) if row else None

    async def decide(self, user_id: str, source: str, target: str, *, allowed: bool) -> None:
        """In place of what was decided before."""
        at = self._clock()
        async with self._database.write_session() as session:
            await session.merge(
                HostTransferRow(user_id=user_id, source=source, target=target, allowed=allowed, decided_at=at)
            )

    async def forget(self, user_id: str, source: str, target: str) -> bool:
        """Have it asked again. Whether it was decided."""
        chosen = (
            (HostTransferRow.user_id == user_id)
            & (HostTransferRow.source == source)
            & (HostTransferRow.target == target)
        )
        async with self._database.write_session(single=True) as session:
            return (
                await session.scalar(delete(HostTransferRow).where(chosen).returning(HostTransferRow.source))
                is not None
            )
