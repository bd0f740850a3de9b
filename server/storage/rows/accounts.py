"""Tables of users: how they log in, what they allow, and what they use."""

from datetime import date, datetime

from sqlalchemy import BigInteger, Double, ForeignKey, false
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.columns import JsonText, TableRow


class UserRow(TableRow):
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


class InvitationRow(TableRow):
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


class PasswordResetRow(TableRow):
    """``secret_hash``: SHA-256 of what a user is given to set a new password with. It goes when it is used."""

    __tablename__ = "password_resets"

    secret_hash: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class SessionRow(TableRow):
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
    scopes: Mapped[list[str]] = mapped_column(JsonText, default=list, server_default="[]")


class TokenRow(TableRow):
    """``hash``: SHA-256 of the token, in hex; ``kind``: access or refresh; ``used_at``: when a refresh token was traded in."""

    __tablename__ = "tokens"

    hash: Mapped[str] = mapped_column(primary_key=True)
    session_id: Mapped[str] = mapped_column(ForeignKey("sessions.id", ondelete="CASCADE"), index=True)
    kind: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    used_at: Mapped[datetime | None]


class LoginAttemptRow(TableRow):
    """Failed log-ins of an account or from an address, whose names are hashed: people type passwords for names."""

    __tablename__ = "login_attempts"

    key: Mapped[str] = mapped_column(primary_key=True)
    failures: Mapped[int]
    last_at: Mapped[datetime] = mapped_column(index=True)
    locked_until: Mapped[datetime | None]


class LoginPlaceRow(TableRow):
    """Where a user has logged in from, hashed: who fails at their name elsewhere does not lock them out there."""

    __tablename__ = "login_places"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    place: Mapped[str] = mapped_column(primary_key=True)
    last_at: Mapped[datetime]


class AllowedToolRow(TableRow):
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
    origins: Mapped[list[str]] = mapped_column(JsonText)
    created_at: Mapped[datetime]


class HostTransferRow(TableRow):
    """What a user has said of values of one host's answers that go to another. ``allowed`` False: they do not."""

    __tablename__ = "flows"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    source: Mapped[str] = mapped_column(primary_key=True)
    target: Mapped[str] = mapped_column(primary_key=True)
    allowed: Mapped[bool]
    decided_at: Mapped[datetime]


class DailyUsageRow(TableRow):
    """One user's day (UTC): runs asked for, and calls and tokens of language models. It stays when runs and conversations are removed.

    ``cost``: of the tokens, as they were taken; None: no model that was asked had a price.
    """

    __tablename__ = "user_days"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True, index=True)
    runs: Mapped[int]
    prompt_tokens: Mapped[int] = mapped_column(BigInteger)
    completion_tokens: Mapped[int] = mapped_column(BigInteger)
    model_calls: Mapped[int] = mapped_column(default=0, server_default="0")
    cost: Mapped[float | None] = mapped_column(Double[float]())


class UserLimitRow(TableRow):
    """What one user may use in a day. None: as for everybody; 0: no limit."""

    __tablename__ = "user_limits"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    runs: Mapped[int | None]
    tokens: Mapped[int | None] = mapped_column(BigInteger)
    cost: Mapped[float | None] = mapped_column(Double[float]())
