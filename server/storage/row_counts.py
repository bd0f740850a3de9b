"""How many rows there are of what."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from server.storage.database import Database
from server.storage.rows.accounts import UserRow
from server.storage.rows.conversations import ConversationRow
from server.storage.rows.runs import LessonRow, RunRow
from server.storage.rows.sources import SourceRow
from server.storage.rows.workflows import TemplateRow

_TABLES = {
    "users": UserRow,
    "conversations": ConversationRow,
    "runs": RunRow,
    "templates": TemplateRow,
    "waiting_lessons": LessonRow,
}


class RowCounts:
    """Those of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> dict[str, int]:
        """By name."""

        def counted(session: Session) -> dict[str, int]:
            found = {
                name: session.scalar(select(func.count()).select_from(table)) or 0 for name, table in _TABLES.items()
            }
            there = select(func.count()).select_from(SourceRow).where(SourceRow.removed_at.is_(None))
            return found | {"sources": session.scalar(there) or 0}

        return await self._database.read(counted)

    async def source_names(self) -> dict[str, str]:
        """Of sources of tools, by id; of removed ones too."""
        chosen = select(SourceRow.id, SourceRow.name)
        return await self._database.read(lambda session: {row.id: row.name for row in session.execute(chosen)})
