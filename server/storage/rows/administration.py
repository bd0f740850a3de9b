"""Tables that only administrators see: the audit log, jobs, and model services."""

from datetime import datetime
from typing import Any

from sqlalchemy import Double, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.columns import JsonText, TableRow


class AuditRow(TableRow):
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
    said: Mapped[dict[str, Any]] = mapped_column(JsonText)
    status: Mapped[int | None]


class JobRow(TableRow):
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
    wanted: Mapped[dict[str, Any]] = mapped_column(JsonText)
    what: Mapped[str]
    done: Mapped[int]
    total: Mapped[int | None]
    lines: Mapped[list[str]] = mapped_column(JsonText)
    result: Mapped[dict[str, Any] | None] = mapped_column(JsonText)
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


class ModelServiceRow(TableRow):
    """``name_key`` is the name as names are compared. ``version`` counts changes. ``tested``: what its last test found.

    ``own_network``: its address may be one that is not public. ``online``: runs may ask it.
    """

    __tablename__ = "model_services"

    id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    name: Mapped[str]
    name_key: Mapped[str] = mapped_column(unique=True)
    provider: Mapped[str]
    address: Mapped[str]
    own_network: Mapped[bool]
    model: Mapped[str]
    parameters: Mapped[dict[str, Any]] = mapped_column(JsonText)
    price_prompt: Mapped[float | None] = mapped_column(Double[float]())
    price_completion: Mapped[float | None] = mapped_column(Double[float]())
    online: Mapped[bool]
    tested: Mapped[dict[str, Any] | None] = mapped_column(JsonText)
    tested_at: Mapped[datetime | None]
    version: Mapped[int]
    created_at: Mapped[datetime]
    created_by: Mapped[str]
    changed_at: Mapped[datetime]
    changed_by: Mapped[str]


class ModelPurposeRow(TableRow):
    """Which service is asked for a purpose."""

    __tablename__ = "model_purposes"

    purpose: Mapped[str] = mapped_column(primary_key=True)
    service_id: Mapped[str] = mapped_column(ForeignKey("model_services.id", ondelete="CASCADE"), index=True)
