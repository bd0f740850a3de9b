"""Language models and embedding services that administrators have set up, their keys, and what each is asked for."""

from datetime import datetime
from typing import Any

from sqlalchemy import Double, ForeignKey, Index, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.columns import Json, Row
from server.storage.rows.grants import GrantColumns


class ModelServiceRow(Row):
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
    parameters: Mapped[dict[str, Any]] = mapped_column(Json)
    price_prompt: Mapped[float | None] = mapped_column(Double[float]())
    price_completion: Mapped[float | None] = mapped_column(Double[float]())
    online: Mapped[bool]
    tested: Mapped[dict[str, Any] | None] = mapped_column(Json)
    tested_at: Mapped[datetime | None]
    version: Mapped[int]
    created_at: Mapped[datetime]
    created_by: Mapped[str]
    changed_at: Mapped[datetime]
    changed_by: Mapped[str]


class ModelKeyRow(GrantColumns, Row):
    """A service's key, sealed. ``hosts``: where it may be sent, which is its address."""

    __tablename__ = "model_keys"
    __table_args__ = (Index(None, "key_version"),)

    service_id: Mapped[str] = mapped_column(ForeignKey("model_services.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    hosts: Mapped[list[str]] = mapped_column(Json)
    key_version: Mapped[int]
    sealed: Mapped[bytes] = mapped_column(LargeBinary)
    updated_at: Mapped[datetime]


class ModelPurposeRow(Row):
    """Which service is asked for a purpose."""

    __tablename__ = "model_purposes"

    purpose: Mapped[str] = mapped_column(primary_key=True)
    service_id: Mapped[str] = mapped_column(ForeignKey("model_services.id", ondelete="CASCADE"), index=True)
