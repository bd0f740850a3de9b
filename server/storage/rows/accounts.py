"""Tables of users: how they log in, what they permit, and what they use."""

from datetime import date, datetime

from sqlalchemy import BigInteger, Double, ForeignKey, false
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.table_base import JsonText, TableRow


class UserRow(TableRow):
    """An account."""

    __tablename__ = "users"

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    name_key: Mapped[str] = mapped_column(unique=True)
    """The name as names are compared."""
    password_hash: Mapped[str]
    role: Mapped[str]
    created_at: Mapped[datetime]
    disabled_at: Mapped[datetime | None]
    """Since when it may not log in."""
    language: Mapped[str | None]
    """The language of its pages; None where none was chosen."""


class InvitationRow(TableRow):
    """An invitation, valid for one account."""

    __tablename__ = "invitations"

    id: Mapped[str] = mapped_column(primary_key=True)
    secret_hash: Mapped[str] = mapped_column(unique=True)
    """SHA-256 of the secret that the invited person got."""
    role: Mapped[str]
    note: Mapped[str]
    created_by: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    used_by: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)


class PasswordResetRow(TableRow):
    """A link for a new password. It is deleted when it is used."""

    __tablename__ = "password_resets"

    secret_hash: Mapped[str] = mapped_column(primary_key=True)
    """SHA-256 of the secret in the link."""
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class SessionRow(TableRow):
    """A log-in. All its tokens end with it."""

    __tablename__ = "sessions"

    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    label: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    """Absolute: renewing tokens does not move it."""
    revoked_at: Mapped[datetime | None]
    revoked_why: Mapped[str | None]
    program: Mapped[bool] = mapped_column(default=False, server_default=false())
    """It belongs to a program's token, which cannot be renewed."""
    scopes: Mapped[list[str]] = mapped_column(JsonText, default=list, server_default="[]")
    """The scopes of a program's token."""


class TokenRow(TableRow):
    """A token of a session."""

    __tablename__ = "tokens"

    hash: Mapped[str] = mapped_column(primary_key=True)
    """SHA-256 of the token in hex."""
    session_id: Mapped[str] = mapped_column(ForeignKey("sessions.id", ondelete="CASCADE"), index=True)
    kind: Mapped[str]
    """access or refresh."""
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    used_at: Mapped[datetime | None]
    """When a refresh token was exchanged."""


class LoginAttemptRow(TableRow):
    """Failed log-ins of an account or from an address."""

    __tablename__ = "login_attempts"

    key: Mapped[str] = mapped_column(primary_key=True)
    """Hashed, since people type passwords in place of names."""
    failures: Mapped[int]
    last_at: Mapped[datetime] = mapped_column(index=True)
    locked_until: Mapped[datetime | None]


class LoginPlaceRow(TableRow):
    """Where a user has logged in from.

    Somebody who fails with the user's name elsewhere does not lock the user out there.
    """

    __tablename__ = "login_places"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    place: Mapped[str] = mapped_column(primary_key=True)
    """A hash, different for each user."""
    last_at: Mapped[datetime]


class AllowedToolRow(TableRow):
    """A tool that changes data and may be called without asking this user each time."""

    __tablename__ = "allowed_tools"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    tool: Mapped[str] = mapped_column(primary_key=True)
    address: Mapped[str]
    """Where the tool's calls went when it was allowed; the permission covers no other address."""
    method: Mapped[str]
    """The HTTP method of its calls at that time."""
    source: Mapped[str]
    """The source that had brought the tool in at that time."""
    origins: Mapped[list[str]] = mapped_column(JsonText)
    """Kinds of values that the permission was given for."""
    created_at: Mapped[datetime]


class HostTransferRow(TableRow):
    """A user's decision on sending values of one host's responses to another."""

    __tablename__ = "flows"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    source: Mapped[str] = mapped_column(primary_key=True)
    """The host whose responses the values come from."""
    target: Mapped[str] = mapped_column(primary_key=True)
    """The host that they are sent to."""
    allowed: Mapped[bool]
    decided_at: Mapped[datetime]


class DailyUsageRow(TableRow):
    """The use of one user in one day (UTC). It stays when runs and conversations are deleted."""

    __tablename__ = "user_days"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True, index=True)
    runs: Mapped[int]
    """Runs asked for."""
    prompt_tokens: Mapped[int] = mapped_column(BigInteger)
    completion_tokens: Mapped[int] = mapped_column(BigInteger)
    model_calls: Mapped[int] = mapped_column(default=0, server_default="0")
    """Calls of language models."""
    cost: Mapped[float | None] = mapped_column(Double[float]())
    """The cost of the tokens at the time; None where no model had a price."""


class UserLimitRow(TableRow):
    """A user's own daily limits. None: the general limit applies; 0: no limit."""

    __tablename__ = "user_limits"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    runs: Mapped[int | None]
    tokens: Mapped[int | None] = mapped_column(BigInteger)
    cost: Mapped[float | None] = mapped_column(Double[float]())
