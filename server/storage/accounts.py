"""Accounts, and how they come to be: invitations, and links that set a new password."""

from datetime import datetime, timedelta
from typing import Literal, cast

from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from domain.errors import ConflictError, NotFoundError, RegistrationError
from server.storage.identifiers import generate_id, generate_secret, hash_secret, normalize_name
from server.storage.repository import Repository, StoredModel, to_model
from server.storage.rows.accounts import InvitationRow, PasswordResetRow, SessionRow, UserRow
from server.storage.rows.runs import RunRow
from server.storage.runs import end_runs, end_runs_of_shared_templates

Role = Literal["user", "author", "admin"]
ROLES: tuple[Role, ...] = ("user", "author", "admin")
"""In ascending order: each may do what those before it may."""
SHARING_ROLES: tuple[Role, ...] = ("author", "admin")
"""Roles whose shared templates others may run, as long as the account is not disabled."""


ACCOUNT_DISABLED = "the account was disabled"
_ROLE_LOWERED = "the account's role was lowered; ask once more"
_NO_LONGER_SHARED = "its template is not shared any more"


class User(StoredModel):
    """An account, without its credentials."""

    id: str
    name: str
    role: Role
    created_at: datetime
    disabled_at: datetime | None = None
    """Since when it may not log in; None while it may."""
    language: str | None = None
    """The language in which its user reads the pages; None where none was chosen."""


def _rank(role: str) -> int:
    return ROLES.index(cast("Role", role))


def _may_share(row: UserRow) -> bool:
    """Return whether templates of this account may be shared now."""
    return row.role in SHARING_ROLES and row.disabled_at is None


async def add_user(session: AsyncSession, name: str, password_hash: str, role: str, at: datetime) -> UserRow:
    """Add an account within the caller's transaction.

    Raises:
        ConflictError: the name is taken.
    """
    key = normalize_name(name)
    if await session.scalar(select(UserRow.id).where(UserRow.name_key == key)):
        raise ConflictError(f"the name {name} is taken; choose another")
    row = UserRow(id=generate_id(), name=name, name_key=key, password_hash=password_hash, role=role, created_at=at)
    session.add(row)
    await session.flush()
    return row


class Users(Repository):
    """Stores the accounts. Names are compared case-insensitively in Unicode form NFKC; each is used once."""

    async def add(self, name: str, password_hash: str, role: Role = "user") -> User:
        """Add an account.

        Raises:
            ConflictError: the name is taken.
        """
        async with self._database.write_session() as session:
            return to_model(User, await add_user(session, name, password_hash, role, self._clock()))

    async def get(self, user_id: str) -> User | None:
        """Return an account by its id."""
        async with self._database.read_session() as session:
            row = await session.get(UserRow, user_id)
            return to_model(User, row) if row else None

    async def find_by_name(self, name: str) -> tuple[User, str] | None:
        """Return an account and the hash of its password."""
        async with self._database.read_session() as session:
            row = await session.scalar(select(UserRow).where(UserRow.name_key == normalize_name(name)))
            return (to_model(User, row), row.password_hash) if row else None

    async def list_page(self, after: str = "", limit: int = 50) -> list[User]:
        """List accounts in the order in which they were added, starting after the id ``after``."""
        async with self._database.read_session() as session:
            rows = await session.scalars(select(UserRow).where(UserRow.id > after).order_by(UserRow.id).limit(limit))
            return [to_model(User, row) for row in rows]

    async def has_admin(self) -> bool:
        """Return whether there is an administrator who may log in."""
        active_admin = (UserRow.role == "admin") & UserRow.disabled_at.is_(None)
        async with self._database.read_session() as session:
            return await session.scalar(select(UserRow.id).where(active_admin).limit(1)) is not None

    async def search_by_prefix(self, prefix: str, limit: int = 20) -> list[User]:
        """List the accounts that may log in and whose names start with ``prefix``, by name."""
        matches = UserRow.name_key.startswith(normalize_name(prefix), autoescape=True) & UserRow.disabled_at.is_(None)
        async with self._database.read_session() as session:
            rows = await session.scalars(select(UserRow).where(matches).order_by(UserRow.name_key).limit(limit))
            return [to_model(User, row) for row in rows]

    async def change(self, user_id: str, *, role: Role | None = None, disabled: bool | None = None) -> User:
        """Change the role of an account, disable it, or enable it again.

        A disabled account's sessions end at once. Where it is disabled or its role is lowered, its runs end before
        their next call; where it may no longer share, so do the runs that others started from its templates.

        Raises:
            NotFoundError: there is no such account.
            ConflictError: no administrator would remain.
        """
        async with self._database.write_session() as session:
            row = await self._lock_row(session, user_id)
            previous_role, could_share = row.role, _may_share(row)
            if role is not None:
                row.role = role
            if disabled is not None:
                row.disabled_at = (row.disabled_at or self._clock()) if disabled else None
            await session.flush()
            await self._check_admin_remains(session)
            if disabled:
                revocation = {"revoked_at": self._clock(), "revoked_why": ACCOUNT_DISABLED}
                open_sessions = (SessionRow.user_id == user_id) & SessionRow.revoked_at.is_(None)
                await session.execute(update(SessionRow).where(open_sessions).values(revocation))
            if disabled or _rank(row.role) < _rank(previous_role):
                reason = ACCOUNT_DISABLED if disabled else _ROLE_LOWERED
                await end_runs(session, RunRow.user_id == user_id, reason, self._clock())
            if could_share and not _may_share(row):
                await end_runs_of_shared_templates(session, user_id, _NO_LONGER_SHARED, self._clock())
            return to_model(User, row)

    async def delete(self, user_id: str) -> None:
        """Delete an account and everything it owns.

        Raises:
            NotFoundError: there is no such account.
            ConflictError: no administrator would remain.
        """
        async with self._database.write_session() as session:
            await self._lock_row(session, user_id)
            await session.execute(delete(UserRow).where(UserRow.id == user_id))
            await self._check_admin_remains(session)

    async def set_language(self, user_id: str, language: str | None) -> User:
        """Set the language of its pages.

        Raises:
            NotFoundError: there is no such account.
        """
        async with self._database.write_session() as session:
            row = await self._lock_row(session, user_id)
            row.language = language
            return to_model(User, row)

    async def get_password_hash(self, user_id: str) -> str | None:
        """Return the hash of an account's password."""
        async with self._database.read_session() as session:
            return await session.scalar(select(UserRow.password_hash).where(UserRow.id == user_id))

    async def set_password(self, user_id: str, password_hash: str, *, replaces: str | None = None) -> bool:
        """Set the hash of a password and return whether it was set.

        With ``replaces`` it is set only where the current hash is still that one, so that a concurrent change is
        not overwritten.
        """
        condition = UserRow.id == user_id
        if replaces is not None:
            condition &= UserRow.password_hash == replaces
        statement = update(UserRow).where(condition).values(password_hash=password_hash).returning(UserRow.id)
        async with self._database.write_session(single=True) as session:
            return await session.scalar(statement) is not None

    async def _lock_row(self, session: AsyncSession, user_id: str) -> UserRow:
        """Lock and return an account's row.

        The rows of all administrators are locked as well, so that two of them cannot remove each other.
        """
        locked = (UserRow.id == user_id) | (UserRow.role == "admin")
        rows = await session.scalars(select(UserRow).where(locked).order_by(UserRow.id).with_for_update())
        for row in rows:
            if row.id == user_id:
                return row
        raise NotFoundError("there is no such user")

    async def _check_admin_remains(self, session: AsyncSession) -> None:
        active_admin = (UserRow.role == "admin") & UserRow.disabled_at.is_(None)
        user_count = await session.scalar(select(func.count()).select_from(UserRow))
        if user_count and not await session.scalar(select(func.count()).select_from(UserRow).where(active_admin)):
            raise ConflictError("this is the last administrator; make another one first")


class Invitation(StoredModel):
    """An invitation, without its secret."""

    id: str
    role: Role
    note: str
    created_by: str | None
    """Id of the user who invited; None where that account was deleted."""
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None = None
    used_by: str | None = None
    """Id of the account that was made with it; None while unused or where that account was deleted."""


class Invitations(Repository):
    """Stores invitations: secrets that each create one account."""

    async def add(self, created_by: str | None, role: Role, note: str, days: float) -> tuple[Invitation, str]:
        """Add an invitation and return it with its secret, of which only the hash is stored."""
        secret, at = generate_secret("fpi"), self._clock()
        row = InvitationRow(
            id=generate_id(),
            secret_hash=hash_secret(secret),
            role=role,
            note=note,
            created_by=created_by,
            created_at=at,
            expires_at=at + timedelta(days=days),
        )
        async with self._database.write_session() as session:
            session.add(row)
        return to_model(Invitation, row), secret

    async def redeem(self, secret: str, name: str, password_hash: str) -> User:
        """Create the account that an invitation is for, and mark the invitation as used; both or neither.

        Raises:
            RegistrationError: the invitation is unknown, used or expired.
            ConflictError: the name is taken, and the invitation stays valid.
        """
        at = self._clock()
        async with self._database.write_session() as session:
            valid = (InvitationRow.secret_hash == hash_secret(secret)) & InvitationRow.used_at.is_(None)
            used = update(InvitationRow).where(valid, InvitationRow.expires_at > at).values(used_at=at)
            invitation = (await session.execute(used.returning(InvitationRow.id, InvitationRow.role))).one_or_none()
            if invitation is None:
                raise RegistrationError("this invitation is unknown, was used already or is too old; ask for a new one")
            row = await add_user(session, name, password_hash, invitation.role, at)
            await session.execute(update(InvitationRow).where(InvitationRow.id == invitation.id).values(used_by=row.id))
            return to_model(User, row)

    async def list_all(self) -> list[Invitation]:
        """List all invitations, the newest first."""
        async with self._database.read_session() as session:
            rows = await session.scalars(select(InvitationRow).order_by(InvitationRow.id.desc()))
            return [to_model(Invitation, row) for row in rows]

    async def remove(self, invitation_id: str) -> bool:
        """Revoke an invitation and return whether there was one."""
        removal = delete(InvitationRow).where(InvitationRow.id == invitation_id).returning(InvitationRow.id)
        async with self._database.write_session() as session:
            return await session.scalar(removal) is not None


RESET_LIFETIME = timedelta(days=1)
"""How long a link for a new password is valid."""
_RESET_REFUSED = (
    "this link for a new password is unknown, was used already or is too old; ask an administrator for another"
)


class PasswordResets(Repository):
    """Stores secrets that let users set a new password. Each is valid once, for a day, and only a user's newest."""

    async def add(self, user_id: str) -> tuple[str, datetime]:
        """Create a secret and return it with the time of its expiry; earlier ones of the user become invalid.

        Only its hash is stored.

        Raises:
            NotFoundError: there is no such user.
        """
        secret, at = generate_secret("fpw"), self._clock()
        row = PasswordResetRow(
            secret_hash=hash_secret(secret), user_id=user_id, created_at=at, expires_at=at + RESET_LIFETIME
        )
        async with self._database.write_session() as session:
            if await session.get(UserRow, user_id) is None:
                raise NotFoundError("there is no such user")
            await session.execute(delete(PasswordResetRow).where(PasswordResetRow.user_id == user_id))
            session.add(row)
        return secret, row.expires_at

    async def find_user(self, secret: str) -> User:
        """Return the user whose password a secret may set.

        Raises:
            RegistrationError: the secret is not valid.
        """
        valid = (PasswordResetRow.secret_hash == hash_secret(secret)) & (PasswordResetRow.expires_at > self._clock())
        users = select(UserRow).join(PasswordResetRow, PasswordResetRow.user_id == UserRow.id)
        row = await self._database.read(
            lambda session: session.scalar(users.where(valid, UserRow.disabled_at.is_(None)))
        )
        if row is None:
            raise RegistrationError(_RESET_REFUSED)
        return to_model(User, row)

    async def redeem(self, secret: str, password_hash: str) -> None:
        """Set the password and end all sessions of the user; all or nothing.

        Raises:
            RegistrationError: the secret is not valid.
        """
        at = self._clock()
        valid = (PasswordResetRow.secret_hash == hash_secret(secret)) & (PasswordResetRow.expires_at > at)
        revocation = {"revoked_at": at, "revoked_why": "a new password was set by a link"}
        async with self._database.write_session() as session:
            user_id = await session.scalar(delete(PasswordResetRow).where(valid).returning(PasswordResetRow.user_id))
            if user_id is None:
                raise RegistrationError(_RESET_REFUSED)
            await session.execute(update(UserRow).where(UserRow.id == user_id).values(password_hash=password_hash))
            open_sessions = (SessionRow.user_id == user_id) & SessionRow.revoked_at.is_(None)
            await session.execute(update(SessionRow).where(open_sessions).values(revocation))
