"""The audit log: who changed what, and when.

Entries are added and finished once; nothing here changes or removes one otherwise.
"""

from datetime import datetime
from typing import Literal

from sqlalchemy import select, update

from domain.model import JsonObject
from server.storage.identifiers import generate_id, normalize_name
from server.storage.repository import Repository, StoredModel, to_model
from server.storage.rows.administration import AuditRow

Via = Literal["session", "token", "command"]
"""How somebody was authenticated: a session, a program's token, or a command on the machine itself."""


class AuditedAction(StoredModel):
    """An action that is about to be taken."""

    user_id: str = ""
    name: str = ""
    role: str = ""
    via: Via
    label: str = ""
    """The label of the program's token."""
    operation: str
    """The operation's name in the API's document."""
    about: str
    """The operation in words."""
    path: str = ""
    said: JsonObject
    """Details that may be shown; never a secret."""


class AuditEntry(AuditedAction):
    """An action with its time and result."""

    id: str
    at: datetime
    status: int | None
    """The HTTP status; None where the action was started and its end is unknown."""


class AuditFilter(StoredModel):
    """Criteria for entries; one that is empty or None matches everything."""

    name: str = ""
    """The beginning of a user's name."""
    operation: str = ""
    via: Via | None = None
    since: datetime | None = None
    until: datetime | None = None


class AuditLog(Repository):
    """Stores the entries of the audit log."""

    async def begin(self, action: AuditedAction, status: int | None = None) -> str:
        """Record an action before it is taken and return the entry's id.

        ``status`` is given for an action that is over already.
        """
        row = AuditRow(
            id=generate_id(),
            at=self._clock(),
            status=status,
            name_key=normalize_name(action.name),
            **action.model_dump(mode="json"),
        )
        async with self._database.write_session(single=True) as session:
            session.add(row)
        return row.id

    async def finish(self, entry: str, status: int, details: JsonObject) -> None:
        """Record how an action ended. Only the first call for an entry has an effect."""
        unfinished = (AuditRow.id == entry) & AuditRow.status.is_(None)
        change = update(AuditRow).where(unfinished).values(status=status, said=details)
        await self._database.write(lambda session: session.execute(change), single=True)

    async def list_page(self, criteria: AuditFilter, before: str = "", limit: int = 50) -> list[AuditEntry]:
        """List entries, the newest first, starting before the id ``before``."""
        statement = select(AuditRow).order_by(AuditRow.id.desc()).limit(limit)
        if before:
            statement = statement.where(AuditRow.id < before)
        if criteria.name:
            statement = statement.where(AuditRow.name_key.startswith(normalize_name(criteria.name), autoescape=True))
        if criteria.operation:
            statement = statement.where(AuditRow.operation == criteria.operation)
        if criteria.via:
            statement = statement.where(AuditRow.via == criteria.via)
        if criteria.since:
            statement = statement.where(AuditRow.at >= criteria.since)
        if criteria.until:
            statement = statement.where(AuditRow.at < criteria.until)
        return await self._database.read(
            lambda session: [to_model(AuditEntry, row) for row in session.scalars(statement)]
        )

    async def list_operations(self) -> dict[str, str]:
        """Return the operations that have entries, by name, each with its description."""
        statement = select(AuditRow.operation, AuditRow.about).distinct().order_by(AuditRow.about)
        return await self._database.read(lambda session: {row[0]: row[1] for row in session.execute(statement)})
