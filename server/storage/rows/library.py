"""What people do with single tools: calls that they try, and marks with their reasons."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.columns import Json, Row


class ToolTryRow(Row):
    """A call that a user tries, written before it is made; ``finished_at`` and ``outcome`` after. Without them nobody knows how it ended.

    ``key``: what its caller named it by; no two of one user have the same.
    """

    __tablename__ = "tool_tries"
    __table_args__ = (Index(None, "user_id", "tool"), Index(None, "user_id", "key", unique=True))

    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    tool: Mapped[str]
    arguments: Mapped[dict[str, Any]] = mapped_column(Json)
    changes: Mapped[bool]
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    outcome: Mapped[str | None]
    http_status: Mapped[int | None]
    response: Mapped[str]
    whole: Mapped[int]
    note: Mapped[str]
    milliseconds: Mapped[int]
    key: Mapped[str | None]


class ToolMarkRow(Row):
    """What an administrator said, and why; the newest of a tool, kind, target, place and field counts. ``target``: where an edge leads, or which tool a feed comes from, else empty.
    ``sources``: where the edges come from that were marked with the tool. ``place``, ``field``, ``entity``: of which parameter or field it is said, and what. ``kept``: what it put aside.
    """

    __tablename__ = "tool_marks"
    __table_args__ = (Index(None, "tool"), Index(None, "kind", "tool"))

    id: Mapped[str] = mapped_column(primary_key=True)
    tool: Mapped[str]
    kind: Mapped[str]
    target: Mapped[str]
    mark: Mapped[str]
    reason: Mapped[str]
    sources: Mapped[list[str]] = mapped_column(Json)
    place: Mapped[str]
    field: Mapped[str]
    entity: Mapped[str]
    kept: Mapped[dict[str, Any]] = mapped_column(Json)
    by_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    by: Mapped[str]
    at: Mapped[datetime]
