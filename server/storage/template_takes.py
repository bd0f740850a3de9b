"""Which version of another's template a user runs: the one they took, until they take another."""

from sqlalchemy import select

from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.rows.workflows import TemplateTakeRow


class TemplateTakes:
    """Those of a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def all(self, user_id: str) -> dict[str, int]:
        """A user's, by the templates' ids."""
        statement = select(TemplateTakeRow.template_id, TemplateTakeRow.version)
        async with self._database.reading() as session:
            found = await session.execute(statement.where(TemplateTakeRow.user_id == user_id))
            return {row.template_id: row.version for row in found}

    async def get(self, user_id: str, template_id: str) -> int | None:
        """The version that a user has taken; None where there is none."""
        async with self._database.reading() as session:
            row = await session.get(TemplateTakeRow, (user_id, template_id))
            return row.version if row else None

    async def take(self, user_id: str, template_id: str, version: int) -> None:
        """In place of the one before. ``ConflictError``: there is no such version."""
        row = TemplateTakeRow(user_id=user_id, template_id=template_id, version=version, taken_at=self._clock())
        async with self._database.writing() as session:
            await session.merge(row)
