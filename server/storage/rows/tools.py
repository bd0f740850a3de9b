"""Tables of sources of tools, and of what people do with single tools."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.table_base import JsonText, TableRow


class SourceRow(TableRow):
    """A source of tools."""

    __tablename__ = "sources"

    id: Mapped[str] = mapped_column(primary_key=True)
    author_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    """None once that account was deleted; administrators then manage the source."""
    name: Mapped[str]
    kind: Mapped[str]
    category: Mapped[str]
    toolset: Mapped[str]
    address: Mapped[str]
    command: Mapped[str]
    base_url: Mapped[str]
    operations: Mapped[dict[str, Any]] = mapped_column(JsonText)
    visibility: Mapped[str]
    roles: Mapped[list[str]] = mapped_column(JsonText)
    users: Mapped[list[str]] = mapped_column(JsonText)
    keys_of: Mapped[str]
    watch_minutes: Mapped[int]
    version: Mapped[int]
    """The number of the reading in use."""
    created_at: Mapped[datetime]
    read_at: Mapped[datetime | None]
    checked_at: Mapped[datetime | None]
    removed_at: Mapped[datetime | None]
    """Since when it is kept for its history only."""
    trouble: Mapped[str]
    notes: Mapped[list[str]] = mapped_column(JsonText)
    """Parts that could not be taken from it, or only partly."""
    credentials: Mapped[list[dict[str, Any]]] = mapped_column(JsonText)
    """Keys that reading it takes (MCP)."""
    changes: Mapped[list[dict[str, Any]]] = mapped_column(JsonText)
    """Changes of its tools that nobody has acknowledged yet."""
    check_worker: Mapped[str | None] = mapped_column(index=True)
    """The worker that holds the running check, until ``check_until``."""
    check_until: Mapped[datetime | None]
    check_trouble: Mapped[str]
    checked: Mapped[int]
    to_check: Mapped[int]
    watch_at: Mapped[datetime | None] = mapped_column(index=True)
    """When it is to be read again."""


class SourceReadingRow(TableRow):
    """The tools that a source listed at a time. Only ``raw`` changes once it is written."""

    __tablename__ = "source_readings"

    source_id: Mapped[str] = mapped_column(ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    digest: Mapped[str]
    raw: Mapped[bytes | None] = mapped_column(LargeBinary)
    """The bytes as they came, for the latest readings."""
    documents: Mapped[list[dict[str, Any]]] = mapped_column(JsonText)
    skipped: Mapped[list[str]] = mapped_column(JsonText)
    at: Mapped[datetime]


class SourceToolRow(TableRow):
    """A tool of a source."""

    __tablename__ = "source_tools"
    __table_args__ = (Index(None, "offered_as", unique=True),)

    source_id: Mapped[str] = mapped_column(ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True)
    tool: Mapped[str] = mapped_column(primary_key=True)
    state: Mapped[str]
    reason: Mapped[str]
    original: Mapped[dict[str, Any]] = mapped_column(JsonText)
    """As its source describes it."""
    corrections: Mapped[dict[str, Any]] = mapped_column(JsonText)
    learnt: Mapped[dict[str, Any]] = mapped_column(JsonText)
    """Responses as a probe saw them."""
    findings: Mapped[list[dict[str, Any]]] = mapped_column(JsonText)
    looked_at: Mapped[str]
    """The digest of the document that the findings are about."""
    version: Mapped[int]
    offer: Mapped[dict[str, Any] | None] = mapped_column(JsonText)
    """The document that is offered, while the tool is admitted."""
    offered_as: Mapped[str | None]
    """The id that it is offered under, which only one source's tool can have."""
    held: Mapped[bool]
    """An administrator keeps it out."""
    gone: Mapped[bool]
    """Its source no longer names it."""


class SourceStepRow(TableRow):
    """A step that was taken with a source."""

    __tablename__ = "source_steps"

    id: Mapped[str] = mapped_column(primary_key=True)
    source_id: Mapped[str] = mapped_column(ForeignKey("sources.id", ondelete="CASCADE"), index=True)
    at: Mapped[datetime]
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    who: Mapped[str]
    """The user's name at that time; empty for the server itself."""
    by_admin: Mapped[bool]
    what: Mapped[str]
    tools: Mapped[list[str]] = mapped_column(JsonText)
    reason: Mapped[str]
    before: Mapped[dict[str, Any] | None] = mapped_column(JsonText)
    """The state that undoing restores."""
    undone: Mapped[bool]


class ToolTryRow(TableRow):
    """A call that a user makes by hand, recorded before it is made. Without ``finished_at`` its end is unknown."""

    __tablename__ = "tool_tries"
    __table_args__ = (Index(None, "user_id", "tool"), Index(None, "user_id", "key", unique=True))

    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    tool: Mapped[str]
    arguments: Mapped[dict[str, Any]] = mapped_column(JsonText)
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
    """The key that the client gave it; unique among the user's tries."""


class ToolMarkRow(TableRow):
    """A mark of an administrator. The newest of a tool, kind, target, place and field counts."""

    __tablename__ = "tool_marks"
    __table_args__ = (Index(None, "tool"), Index(None, "kind", "tool"))

    id: Mapped[str] = mapped_column(primary_key=True)
    tool: Mapped[str]
    kind: Mapped[str]
    target: Mapped[str]
    """The tool that an edge leads to or a feed comes from; empty otherwise."""
    mark: Mapped[str]
    reason: Mapped[str]
    sources: Mapped[list[str]] = mapped_column(JsonText)
    """The tools whose edges were marked together with the tool."""
    place: Mapped[str]
    """The parameter or field that the mark is about."""
    field: Mapped[str]
    entity: Mapped[str]
    """The entity that the place is of."""
    kept: Mapped[dict[str, Any]] = mapped_column(JsonText)
    """The state that the mark replaced."""
    by_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    by: Mapped[str]
    at: Mapped[datetime]
