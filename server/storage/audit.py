"""The audit log: who changed what, and when. Entries are added and get their end once; nothing here changes or removes one otherwise."""

from datetime import datetime
from typing import Literal

from sqlalchemy import select, update

from domain.model import JsonObject, Model
from server.storage.identifiers import generate_id, normalize_name
from server.storage.repository import Repository, to_model
from server.storage.rows.administration import AuditRow

Via = Literal["session", "token", "command"]
"""By which somebody came: logged in, as a program with a token, or on the machine itself."""


class AuditedAction(Model):
    """What is about to be done. ``label``: of the program's token; ``said``: what of it may be told, never a secret."""

    user_id: str = ""
    name: str = ""
    role: str = ""
    via: Via
    label: str = ""
    operation: str
    about: str
    path: str = ""
    said: JsonObject


class AuditEntry(AuditedAction):
    """``status`` None: it was begun, and nobody knows how it ended."""

    id: str
    at: datetime
    status: int | None


class AuditFilter(Model):
    """What is looked for; what is empty or None chooses nothing. ``name``: the beginning of a name."""

    name: str = ""
    operation: str = ""
    via: Via | None = None
    since: datetime | None = None
    until: datetime | None = None


class AuditLog(Repository):
    """That of a database."""

    async def begin(self, action: AuditedAction, status: int | None = None) -> str:
        """Write it down before it is done: its id. ``status``: of what is done already."""
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

    async def finish(self, entry: str, status: int, said: JsonObject) -> None:
        """How it ended, once: a second end changes nothing."""
        still_open = (AuditRow.id == entry) & AuditRow.status.is_(None)
        ended = update(AuditRow).where(still_open).values(status=status, said=said)
        await self._database.write(lambda session: session.execute(ended), single=True)

    async def list_page(self, criteria: AuditFilter, before: str = "", limit: int = 50) -> list[AuditEntry]:
        """The newest first, those before an id."""
        chosen = select(AuditRow).order_by(AuditRow.id.desc()).limit(limit)
        if before:
            chosen = chosen.where(AuditRow.id < before)
        if criteria.name:
            chosen = chosen.where(AuditRow.name_key.startswith(normalize_name(criteria.name), autoescape=True))
        if criteria.operation:
            chosen = chosen.where(AuditRow.operation == criteria.operation)
        if criteria.via:
            chosen = chosen.where(AuditRow.via == criteria.via)
        if criteria.since:
            chosen = chosen.where(AuditRow.at >= criteria.since)
        if criteria.until:
            chosen = chosen.where(AuditRow.at < criteria.until)
        return await self._database.read(lambda session: [to_model(AuditEntry, row) for row in session.scalars(chosen)])

    async def list_operations(self) -> dict[str, str]:
        """The operations that there are entries of, with what they do in words."""
        chosen = select(AuditRow.operation, AuditRow.about).distinct().order_by(AuditRow.about)
        return await self._database.read(lambda session: {row[0]: row[1] for row in session.execute(chosen)})
