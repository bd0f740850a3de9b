"""Standing permissions of users: calls of tools that change data, and values that go from one host to another."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import delete, select

from domain.provenance import COVERABLE, ValueKind
from domain.tool import ToolDoc
from server.storage.repository import Repository, StoredModel, to_model
from server.storage.rows.accounts import AllowedToolRow, HostTransferRow


class CallTarget(StoredModel):
    """Where a tool's calls go, how, and which source offers the tool. A permission covers no other target."""

    address: str = ""
    """The URL of the call, or the command of a local server."""
    method: str = ""
    """The HTTP method."""
    source: str = ""
    """The source that brought the tool in."""


class AllowedTool(CallTarget):
    """A tool that changes data and that a user lets be called without being asked each time."""

    tool: str
    origins: tuple[ValueKind, ...] = ()
    """Kinds of values that the permission was given for."""
    created_at: datetime

    def covers(self, target: CallTarget, kinds: Iterable[ValueKind]) -> bool:
        """Return whether the permission covers a call to this target with values of these kinds."""
        same_target = (self.address, self.method, self.source) == (target.address, target.method, target.source)
        return same_target and set(kinds) <= set(self.origins) & set(COVERABLE)


def get_call_target(tool: ToolDoc) -> CallTarget:
    """Return the target of a tool's calls as it is now."""
    return CallTarget(address=tool.address, method=tool.method, source=tool.source)


class AllowedTools(Repository):
    """Stores the tools that users have allowed."""

    async def list_all(self, user_id: str) -> list[AllowedTool]:
        """List a user's permissions by tool id."""
        statement = select(AllowedToolRow).where(AllowedToolRow.user_id == user_id).order_by(AllowedToolRow.tool)
        async with self._database.read_session() as session:
            return [to_model(AllowedTool, row) for row in await session.scalars(statement)]

    async def get(self, user_id: str, tool: str) -> AllowedTool | None:
        """Return a user's permission for a tool."""
        async with self._database.read_session() as session:
            row = await session.get(AllowedToolRow, (user_id, tool))
            return to_model(AllowedTool, row) if row else None

    async def allow(
        self, user_id: str, tool: str, target: CallTarget, origins: Iterable[ValueKind] = COVERABLE
    ) -> None:
        """Allow a tool, in addition to what was allowed of it for the same target.

        A permission for another target is replaced.
        """
        async with self._database.write_session() as session:
            row = await session.get(AllowedToolRow, (user_id, tool), with_for_update=True)
            previous = to_model(AllowedTool, row) if row else None
            previous_origins = previous.origins if previous and previous.covers(target, ()) else ()
            kinds = [kind for kind in COVERABLE if kind in {*previous_origins, *origins}]
            values = target.model_dump() | {"origins": kinds, "created_at": self._clock()}
            await session.merge(AllowedToolRow(user_id=user_id, tool=tool, **values))

    async def disallow(self, user_id: str, tool: str) -> bool:
        """Revoke the permission for a tool; return whether there was one."""
        condition = (AllowedToolRow.user_id == user_id) & (AllowedToolRow.tool == tool)
        async with self._database.write_session(single=True) as session:
            removal = delete(AllowedToolRow).where(condition).returning(AllowedToolRow.tool)
            return await session.scalar(removal) is not None


class HostTransfer(StoredModel):
    """A user's decision on sending values of one host's responses to another host."""

    source: str
    """The host whose responses the values come from."""
    target: str
    """The host that they are sent to."""
    allowed: bool
    decided_at: datetime


class HostTransfers(Repository):
    """Stores the decisions of users."""

    async def list_all(self, user_id: str) -> list[HostTransfer]:
        """List a user's decisions by hosts."""
        statement = (
            select(HostTransferRow)
            .where(HostTransferRow.user_id == user_id)
            .order_by(HostTransferRow.source, HostTransferRow.target)
        )
        async with self._database.read_session() as session:
            return [to_model(HostTransfer, row) for row in await session.scalars(statement)]

    async def get(self, user_id: str, source: str, target: str) -> HostTransfer | None:
        """Return a user's decision; None where there is none yet."""
        async with self._database.read_session() as session:
            row = await session.get(HostTransferRow, (user_id, source, target))
            return to_model(HostTransfer, row) if row else None

    async def decide(self, user_id: str, source: str, target: str, *, allowed: bool) -> None:
        """Store a decision in place of an earlier one."""
        at = self._clock()
        async with self._database.write_session() as session:
            await session.merge(
                HostTransferRow(user_id=user_id, source=source, target=target, allowed=allowed, decided_at=at)
            )

    async def forget(self, user_id: str, source: str, target: str) -> bool:
        """Delete a decision, so that the user is asked again; return whether there was one."""
        condition = (
            (HostTransferRow.user_id == user_id)
            & (HostTransferRow.source == source)
            & (HostTransferRow.target == target)
        )
        async with self._database.write_session(single=True) as session:
            return (
                await session.scalar(delete(HostTransferRow).where(condition).returning(HostTransferRow.source))
                is not None
            )
