"""Sources of tools, what was read of them, their tools with what the gate found out, and what was done with them."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.columns import Json, Row
from server.storage.rows.grants import GrantColumns


class SourceRow(Row):
    """``author_id``: empty once that account is gone; administrators have it then. ``version``: of the reading that counts.

    ``notes``: what could not be taken of it, or only in part. ``credentials``: keys that reading it takes (MCP). ``changes``: of its tools, which nobody has looked at yet. ``check_*``: the check that is under way, and who makes it.
    ``watch_at``: when it is to be read again. ``removed_at``: since when it is kept for its history only.
    """

    __tablename__ = "sources"

    id: Mapped[str] = mapped_column(primary_key=True)
    author_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    name: Mapped[str]
    kind: Mapped[str]
    category: Mapped[str]
    toolset: Mapped[str]
    address: Mapped[str]
    command: Mapped[str]
    base_url: Mapped[str]
    operations: Mapped[dict[str, Any]] = mapped_column(Json)
    visibility: Mapped[str]
    roles: Mapped[list[str]] = mapped_column(Json)
    users: Mapped[list[str]] = mapped_column(Json)
    keys_of: Mapped[str]
    watch_minutes: Mapped[int]
    version: Mapped[int]
    created_at: Mapped[datetime]
    read_at: Mapped[datetime | None]
    checked_at: Mapped[datetime | None]
    removed_at: Mapped[datetime | None]
    trouble: Mapped[str]
    notes: Mapped[list[str]] = mapped_column(Json)
    credentials: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    changes: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    check_worker: Mapped[str | None] = mapped_column(index=True)
    check_until: Mapped[datetime | None]
    check_trouble: Mapped[str]
    checked: Mapped[int]
    to_check: Mapped[int]
    watch_at: Mapped[datetime | None] = mapped_column(index=True)


class SourceReadingRow(Row):
    """What a source said at a time; never changed once written. ``raw``: as it came, for the latest few."""

    __tablename__ = "source_readings"

    source_id: Mapped[str] = mapped_column(ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    digest: Mapped[str]
    raw: Mapped[bytes | None] = mapped_column(LargeBinary)
    documents: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    skipped: Mapped[list[str]] = mapped_column(Json)
    at: Mapped[datetime]


class SourceToolRow(Row):
    """``original``: as its source says it; ``learnt``: what a probe saw of its answers. ``looked_at``: digest of what the gate looked at.

    ``offer``: its document as it is offered, while it is admitted, and ``offered_as`` its id then, which only one source's tool can have.
    ``held``: an administrator keeps it out. ``gone``: its source does not name it any more.
    """

    __tablename__ = "source_tools"
    __table_args__ = (Index(None, "offered_as", unique=True),)

    source_id: Mapped[str] = mapped_column(ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True)
    tool: Mapped[str] = mapped_column(primary_key=True)
    state: Mapped[str]
    reason: Mapped[str]
    original: Mapped[dict[str, Any]] = mapped_column(Json)
    corrections: Mapped[dict[str, Any]] = mapped_column(Json)
    learnt: Mapped[dict[str, Any]] = mapped_column(Json)
    findings: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    looked_at: Mapped[str]
    version: Mapped[int]
    offer: Mapped[dict[str, Any] | None] = mapped_column(Json)
    offered_as: Mapped[str | None]
    held: Mapped[bool]
    gone: Mapped[bool]


class SourceStepRow(Row):
    """Something that was done with a source. ``who``: the name at that time; empty: the server itself. ``before``: what undoing brings back."""

    __tablename__ = "source_steps"

    id: Mapped[str] = mapped_column(primary_key=True)
    source_id: Mapped[str] = mapped_column(ForeignKey("sources.id", ondelete="CASCADE"), index=True)
    at: Mapped[datetime]
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    who: Mapped[str]
    by_admin: Mapped[bool]
    what: Mapped[str]
    tools: Mapped[list[str]] = mapped_column(Json)
    reason: Mapped[str]
    before: Mapped[dict[str, Any] | None] = mapped_column(Json)
    undone: Mapped[bool]


class SourceKeyRow(GrantColumns, Row):
    """A key of a source, sealed: its calls send it, whoever asks, where the source's keys are used."""

    __tablename__ = "source_keys"
    __table_args__ = (Index(None, "key_version"),)

    source_id: Mapped[str] = mapped_column(ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    hosts: Mapped[list[str]] = mapped_column(Json)
    key_version: Mapped[int]
    sealed: Mapped[bytes] = mapped_column(LargeBinary)
    updated_at: Mapped[datetime]
