"""Long work that administrators ask for."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.columns import Json, Row


class JobRow(Row):
    """``slot``: what it has to itself while it is open, so that no two of it are; empty of the rest (NULL). ``home``: of the server whose files it needs; empty: any.

    ``wanted``: what it is to do, never a secret. ``lines``: its log, the latest. ``tries``: how often it was begun. ``worker`` holds it until ``lease_until``.
    """

    __tablename__ = "jobs"
    __table_args__ = (Index(None, "slot", unique=True), Index(None, "state", "lease_until"), Index(None, "kind", "id"))

    id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    slot: Mapped[str | None]
    home: Mapped[str]
    state: Mapped[str]
    wanted: Mapped[dict[str, Any]] = mapped_column(Json)
    what: Mapped[str]
    done: Mapped[int]
    total: Mapped[int | None]
    lines: Mapped[list[str]] = mapped_column(Json)
    result: Mapped[dict[str, Any] | None] = mapped_column(Json)
    trouble: Mapped[str]
    by_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    by: Mapped[str]
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None] = mapped_column(index=True)
    cancel_at: Mapped[datetime | None]
    tries: Mapped[int]
    worker: Mapped[str | None]
    lease_until: Mapped[datetime | None]
