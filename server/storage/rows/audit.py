"""What administrators, authors and programs with a token have done."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.columns import Json, Row


class AuditRow(Row):
    """One change, written before it is made; ``status`` after, without it nobody knows how it ended. It outlives the account, so it refers to no row.

    ``name_key``: the name as names are compared. ``via``: session, token or command; ``label``: of the token. ``operation``: its name in the API's
    document, ``about`` in words. ``said``: what of it may be told, never a secret.
    """

    __tablename__ = "audit_entries"
    __table_args__ = (Index(None, "name_key", "id"), Index(None, "operation", "id"))

    id: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(index=True)
    user_id: Mapped[str]
    name: Mapped[str]
    name_key: Mapped[str]
    role: Mapped[str]
    via: Mapped[str]
    label: Mapped[str]
    operation: Mapped[str]
    about: Mapped[str]
    path: Mapped[str]
    said: Mapped[dict[str, Any]] = mapped_column(Json)
    status: Mapped[int | None]
