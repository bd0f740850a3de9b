"""Tables that only administrators see: the audit log, jobs, and model services."""

from datetime import datetime
from typing import Any

from sqlalchemy import Double, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.table_base import JsonText, TableRow


class AuditRow(TableRow):
    """An action, recorded before it is taken. It outlives the account, so it refers to no other row."""

    __tablename__ = "audit_entries"
    __table_args__ = (Index(None, "name_key", "id"), Index(None, "operation", "id"))

    id: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(index=True)
    user_id: Mapped[str]
    name: Mapped[str]
    name_key: Mapped[str]
    """The name as names are compared."""
    role: Mapped[str]
    via: Mapped[str]
    """session, token or command."""
    label: Mapped[str]
    """The label of the token."""
    operation: Mapped[str]
    """The operation's name in the API's document."""
    about: Mapped[str]
    """The operation in words."""
    path: Mapped[str]
    said: Mapped[dict[str, Any]] = mapped_column(JsonText)
    """Details that may be shown; never a secret."""
    status: Mapped[int | None]
    """The HTTP status, written afterwards; None where the end is unknown."""


class JobRow(TableRow):
    """A job that an administrator asked for."""

    __tablename__ = "jobs"
    __table_args__ = (Index(None, "slot", unique=True), Index(None, "state", "lease_until"), Index(None, "kind", "id"))

    id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    slot: Mapped[str | None]
    """The resource that the job has to itself while it is open, so that no two open jobs share it; NULL once it has
    ended.
    """
    home: Mapped[str]
    """The server whose files it needs; empty for any."""
    state: Mapped[str]
    wanted: Mapped[dict[str, Any]] = mapped_column(JsonText)
    """The parameters of the job; never a secret."""
    what: Mapped[str]
    """The part that is being done."""
    done: Mapped[int]
    total: Mapped[int | None]
    lines: Mapped[list[str]] = mapped_column(JsonText)
    """The latest lines of its log."""
    result: Mapped[dict[str, Any] | None] = mapped_column(JsonText)
    trouble: Mapped[str]
    """Why it failed or was cancelled."""
    by_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    by: Mapped[str]
    """The name that the user who asked for it had at that time."""
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None] = mapped_column(index=True)
    cancel_at: Mapped[datetime | None]
    tries: Mapped[int]
    """How often it was started."""
    worker: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    """Until when ``worker`` holds it."""


class ModelServiceRow(TableRow):
    """A language model or an embedding service."""

    __tablename__ = "model_services"

    id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    name: Mapped[str]
    name_key: Mapped[str] = mapped_column(unique=True)
    """The name as names are compared."""
    provider: Mapped[str]
    address: Mapped[str]
    own_network: Mapped[bool]
    """Its address may be one that is not public."""
    model: Mapped[str]
    parameters: Mapped[dict[str, Any]] = mapped_column(JsonText)
    price_prompt: Mapped[float | None] = mapped_column(Double[float]())
    price_completion: Mapped[float | None] = mapped_column(Double[float]())
    online: Mapped[bool]
    """Runs may use it."""
    tested: Mapped[dict[str, Any] | None] = mapped_column(JsonText)
    """The result of its last test."""
    tested_at: Mapped[datetime | None]
    version: Mapped[int]
    """Counts changes."""
    created_at: Mapped[datetime]
    created_by: Mapped[str]
    changed_at: Mapped[datetime]
    changed_by: Mapped[str]


class ModelPurposeRow(TableRow):
    """The service that is chosen for a purpose."""

    __tablename__ = "model_purposes"

    purpose: Mapped[str] = mapped_column(primary_key=True)
    service_id: Mapped[str] = mapped_column(ForeignKey("model_services.id", ondelete="CASCADE"), index=True)
