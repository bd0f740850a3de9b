"""Tables of sources of tools, and of what people do with single tools."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.columns import JsonText, TableRow


class SourceRow(TableRow):
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
    operations: Mapped[dict[str, Any]] = mapped_column(JsonText)
    visibility: Mapped[str]
    roles: Mapped[list[str]] = mapped_column(JsonText)
    users: Mapped[list[str]] = mapped_column(JsonText)
    keys_of: Mapped[str]
    watch_minutes: Mapped[int]
    version: Mapped[int]
    created_at: Mapped[datetime]
    read_at: Mapped[datetime | None]
    checked_at: Mapped[datetime | None]
    removed_at: Mapped[datetime | None]
    trouble: Mapped[str]
    notes: Mapped[list[str]] = mapped_column(JsonText)
    credentials: Mapped[list[dict[str, Any]]] = mapped_column(JsonText)
    changes: Mapped[list[dict[str, Any]]] = mapped_column(JsonText)
    check_worker: Mapped[str | None] = mapped_column(index=True)
    check_until: Mapped[datetime | None]
    check_trouble: Mapped[str]
    checked: Mapped[int]
    to_check: Mapped[int]
    watch_at: Mapped[datetime | None] = mapped_column(index=True)


class SourceReadingRow(TableRow):
    """What a source said at a time; never changed once written. ``raw``: as it came, for the latest few."""

    __tablename__ = "source_readings"

    source_id: Mapped[str] = mapped_column(ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    digest: Mapped[str]
    raw: Mapped[bytes | None] = mapped_column(LargeBinary)
    documents: Mapped[list[dict[str, Any]]] = mapped_column(JsonText)
    skipped: Mapped[list[str]] = mapped_column(JsonText)
    at: Mapped[datetime]


class SourceToolRow(TableRow):
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
    original: Mapped[dict[str, Any]] = mapped_column(JsonText)
    corrections: Mapped[dict[str, Any]] = mapped_column(JsonText)
    learnt: Mapped[dict[str, Any]] = mapped_column(JsonText)
    findings: Mapped[list[dict[str, Any]]] = mapped_column(JsonText)
    looked_at: Mapped[str]
    version: Mapped[int]
    offer: Mapped[dict[str, Any] | None] = mapped_column(JsonText)
    offered_as: Mapped[str | None]
    held: Mapped[bool]
    gone: Mapped[bool]


class SourceStepRow(TableRow):
    """Something that was done with a source. ``who``: the name at that time; empty: the server itself. ``before``: what undoing brings back."""

    __tablename__ = "source_steps"

    id: Mapped[str] = mapped_column(primary_key=True)
    source_id: Mapped[str] = mapped_column(ForeignKey("sources.id", ondelete="CASCADE"), index=True)
    at: Mapped[datetime]
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    who: Mapped[str]
    by_admin: Mapped[bool]
    what: Mapped[str]
    tools: Mapped[list[str]] = mapped_column(JsonText)
    reason: Mapped[str]
    before: Mapped[dict[str, Any] | None] = mapped_column(JsonText)
    undone: Mapped[bool]


class ToolTryRow(TableRow):
    """A call that a user tries, written before it is made; ``finished_at`` and ``outcome`` after. Without them nobody knows how it ended.

    ``key``: what its caller named it by; no two of one user have the same.
    """

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


class ToolMarkRow(TableRow):
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
    sources: Mapped[list[str]] = mapped_column(JsonText)
    place: Mapped[str]
    field: Mapped[str]
    entity: Mapped[str]
    kept: Mapped[dict[str, Any]] = mapped_column(JsonText)
    by_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    by: Mapped[str]
    at: Mapped[datetime]
