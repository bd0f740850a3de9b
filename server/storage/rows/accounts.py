"""Users, how they come in, what they keep secret, what they allow."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, LargeBinary, false
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.columns import Json, Row
from server.storage.rows.grants import GrantColumns


class UserRow(Row):
    """``name_key`` is the name as names are compared."""

    __tablename__ = "users"

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    name_key: Mapped[str] = mapped_column(unique=True)
    password_hash: Mapped[str]
    role: Mapped[str]
    created_at: Mapped[datetime]
    disabled_at: Mapped[datetime | None]
    language: Mapped[str | None]


class InvitationRow(Row):
    """``secret_hash``: SHA-256 of what the invited person is given. Good for one account."""

    __tablename__ = "invitations"

    id: Mapped[str] = mapped_column(primary_key=True)
    secret_hash: Mapped[str] = mapped_column(unique=True)
    role: Mapped[str]
    note: Mapped[str]
    created_by: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    used_by: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)


class PasswordResetRow(Row):
    """``secret_hash``: SHA-256 of what a user is given to set a new password with. It goes when it is used."""

    __tablename__ = "password_resets"

    secret_hash: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class SessionRow(Row):
    """One log-in. All its tokens end with it. ``expires_at`` is absolute: refreshing does not move it. ``program``: its token cannot be renewed, and does
    what its ``scopes`` say.
    """

    __tablename__ = "sessions"

    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    label: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    revoked_at: Mapped[datetime | None]
    revoked_why: Mapped[str | None]
    program: Mapped[bool] = mapped_column(default=False, server_default=false())
    scopes: Mapped[list[str]] = mapped_column(Json, default=list, server_default="[]")


class TokenRow(Row):
    """``hash``: SHA-256 of the token, in hex; ``kind``: access or refresh; ``used_at``: when a refresh token was traded in."""

    __tablename__ = "tokens"

    hash: Mapped[str] = mapped_column(primary_key=True)
    session_id: Mapped[str] = mapped_column(ForeignKey("sessions.id", ondelete="CASCADE"), index=True)
    kind: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    used_at: Mapped[datetime | None]


class AttemptRow(Row):
    """Failed log-ins of an account or from an address, whose names are hashed: people type passwords for names."""

    __tablename__ = "login_attempts"

    key: Mapped[str] = mapped_column(primary_key=True)
    failures: Mapped[int]
    last_at: Mapped[datetime] = mapped_column(index=True)
    locked_until: Mapped[datetime | None]


class LoginPlaceRow(Row):
    """Where a user has logged in from, hashed: who fails at their name elsewhere does not lock them out there."""

    __tablename__ = "login_places"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    place: Mapped[str] = mapped_column(primary_key=True)
    last_at: Mapped[datetime]


class ToolKeyRow(GrantColumns, Row):
    """A user's key for a tool, sealed. ``name`` as the tool's document says, ``hosts``: where it may be sent."""

    __tablename__ = "tool_keys"
    __table_args__ = (Index(None, "key_version"),)

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    hosts: Mapped[list[str]] = mapped_column(Json)
    key_version: Mapped[int]
    sealed: Mapped[bytes] = mapped_column(LargeBinary)
    updated_at: Mapped[datetime]


class VaultKeyRow(Row):
    """A key that the vault is, or was, sealed with. ``fingerprint``: by which it is known, and which tells nothing of it."""

    __tablename__ = "vault_keys"

    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    fingerprint: Mapped[str]
    noted_at: Mapped[datetime]


class AllowedToolRow(Row):
    """A tool that changes something and may be called without asking this user each time.

    ``address``, ``method``, ``source``: of the tool when leave was given, which holds for no other; ``origins``: kinds of origins of its values
    that it was given for.
    """

    __tablename__ = "allowed_tools"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    tool: Mapped[str] = mapped_column(primary_key=True)
    address: Mapped[str]
    method: Mapped[str]
    source: Mapped[str]
    origins: Mapped[list[str]] = mapped_column(Json)
    created_at: Mapped[datetime]


class FlowRow(Row):
    """What a user has said of values of one host's answers that go to another. ``allowed`` False: they do not."""

    __tablename__ = "flows"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    source: Mapped[str] = mapped_column(primary_key=True)
    target: Mapped[str] = mapped_column(primary_key=True)
    allowed: Mapped[bool]
    decided_at: Mapped[datetime]
