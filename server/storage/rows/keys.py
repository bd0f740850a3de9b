"""Tables of keys: sealed in the vault, given by users or obtained by OAuth."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.columns import JsonText, TableRow


class GrantColumns:
    """Of a key that is obtained from an authorization server; a plain one has none of it.

    ``grant``: how it is obtained. ``fresh_until``: when its access token is renewed; None: never. ``lapsed``: why nobody but its owner can
    renew it. ``turn``: changes with each renewal, which one asker makes at a time, until ``turn_until`` at most.
    """

    grant: Mapped[str | None]
    fresh_until: Mapped[datetime | None]
    lapsed: Mapped[str] = mapped_column(default="", server_default="")
    turn: Mapped[str] = mapped_column(default="", server_default="")
    turn_until: Mapped[datetime | None]


class KeyConsentRow(TableRow):
    """Somebody was sent to an authorization server, and is to come back with what ``state_hash`` is the SHA-256 of, once.

    ``shelf``: whose key it will be, a user's or a source's; ``owner_id`` and ``name``: which. ``sealed``: what will be asked for it with.
    """

    __tablename__ = "key_consents"

    state_hash: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    shelf: Mapped[str]
    owner_id: Mapped[str] = mapped_column(index=True)
    name: Mapped[str]
    key_version: Mapped[int]
    sealed: Mapped[bytes] = mapped_column(LargeBinary)
    expires_at: Mapped[datetime] = mapped_column(index=True)


class VaultKeyRow(TableRow):
    """A key that the vault is, or was, sealed with. ``fingerprint``: by which it is known, and which tells nothing of it."""

    __tablename__ = "vault_keys"

    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    fingerprint: Mapped[str]
    noted_at: Mapped[datetime]


class ToolKeyRow(GrantColumns, TableRow):
    """A user's key for a tool, sealed. ``name`` as the tool's document says, ``hosts``: where it may be sent."""

    __tablename__ = "tool_keys"
    __table_args__ = (Index(None, "key_version"),)

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    hosts: Mapped[list[str]] = mapped_column(JsonText)
    key_version: Mapped[int]
    sealed: Mapped[bytes] = mapped_column(LargeBinary)
    updated_at: Mapped[datetime]


class SourceKeyRow(GrantColumns, TableRow):
    """A key of a source, sealed: its calls send it, whoever asks, where the source's keys are used."""

    __tablename__ = "source_keys"
    __table_args__ = (Index(None, "key_version"),)

    source_id: Mapped[str] = mapped_column(ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    hosts: Mapped[list[str]] = mapped_column(JsonText)
    key_version: Mapped[int]
    sealed: Mapped[bytes] = mapped_column(LargeBinary)
    updated_at: Mapped[datetime]


class ModelKeyRow(GrantColumns, TableRow):
    """A service's key, sealed. ``hosts``: where it may be sent, which is its address."""

    __tablename__ = "model_keys"
    __table_args__ = (Index(None, "key_version"),)

    service_id: Mapped[str] = mapped_column(ForeignKey("model_services.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    hosts: Mapped[list[str]] = mapped_column(JsonText)
    key_version: Mapped[int]
    sealed: Mapped[bytes] = mapped_column(LargeBinary)
    updated_at: Mapped[datetime]
