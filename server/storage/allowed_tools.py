"""Tools that change something and that a user lets be called without being asked each time."""

from sqlalchemy import delete, select

from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.rows.accounts import AllowedToolRow


class AllowedTools:
    """The allow-lists of a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def all(self, user_id: str) -> list[str]:
        """Tool ids, sorted."""
        statement = select(AllowedToolRow.tool).where(AllowedToolRow.user_id == user_id).order_by(AllowedToolRow.tool)
        async with self._database.reading() as session:
            return list(await session.scalars(statement))

    async def allow(self, user_id: str, tool: str) -> None:
        """Idempotent."""
        async with self._database.writing() as session:
            await session.merge(AllowedToolRow(user_id=user_id, tool=tool, created_at=self._clock()))

    async def disallow(self, user_id: str, tool: str) -> bool:
        """Whether it was allowed."""
        chosen = (AllowedToolRow.user_id == user_id) & (AllowedToolRow.tool == tool)
        async with self._database.writing() as session:
            gone = delete(AllowedToolRow).where(chosen).returning(AllowedToolRow.tool)
            return await session.scalar(gone) is not None
