"""Tables of keys: sealed in the vault, given by users or obtained by OAuth."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.table_base import JsonText, TableRow


class GrantColumns:
    """Columns of a key that is obtained from an authorization server; empty for one that was given."""

    grant: Mapped[str | None]
    """How it is obtained."""
    fresh_until: Mapped[datetime | None]
    """When its access token is renewed; None: never."""
    lapsed: Mapped[str] = mapped_column(default="", server_default="")
    """Why nobody but its owner can renew it."""
    turn: Mapped[str] = mapped_column(default="", server_default="")
    """Changes with each renewal. Whoever holds the turn is alone in renewing."""
    turn_until: Mapped[datetime | None]
    """When an unfinished renewal is given up."""


class SealedKeyColumns(GrantColumns):
    """Columns of a key, whoever's it is."""

    hosts: Mapped[list[str]] = mapped_column(JsonText)
    """Where it may be sent."""
    key_version: Mapped[int]
    sealed: Mapped[bytes] = mapped_column(LargeBinary)
    updated_at: Mapped[datetime]


class KeyConsentRow(TableRow):
    """A pending consent: a user was sent to an authorization server and is expected back, once."""

    __tablename__ = "key_consents"

    state_hash: Mapped[str] = mapped_column(primary_key=True)
    """SHA-256 of the state that the user comes back with."""
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    shelf: Mapped[str]
    """The kind of the key's owner: a user, a source or a model service."""
    owner_id: Mapped[str] = mapped_column(index=True)
    """The owner of the key."""
    name: Mapped[str]
    """The name of the key."""
    key_version: Mapped[int]
    sealed: Mapped[bytes] = mapped_column(LargeBinary)
    """The request that will be sent to obtain the key."""
    expires_at: Mapped[datetime] = mapped_column(index=True)


class VaultKeyRow(TableRow):
    """A key that the vault is or was sealed with, without the key itself."""

    __tablename__ = "vault_keys"

    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    fingerprint: Mapped[str]
    """Identifies the key and reveals nothing about it."""
    noted_at: Mapped[datetime]


class ToolKeyRow(SealedKeyColumns, TableRow):
    """A user's key for a tool, sealed."""

    __tablename__ = "tool_keys"
    __table_args__ = (Index(None, "key_version"),)

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    """The name that the tool's document gives it."""


class SourceKeyRow(SealedKeyColumns, TableRow):
    """A key of a source, sealed. Where the source's keys are used, its calls send it for every user."""

    __tablename__ = "source_keys"
    __table_args__ = (Index(None, "key_version"),)

    source_id: Mapped[str] = mapped_column(ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)


class ModelKeyRow(SealedKeyColumns, TableRow):
    """A key of a model service, sealed; it may be sent to the service's address."""

    __tablename__ = "model_keys"
    __table_args__ = (Index(None, "key_version"),)

    service_id: Mapped[str] = mapped_column(ForeignKey("model_services.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
