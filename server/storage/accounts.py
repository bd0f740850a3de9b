"""Accounts, and how they come to be: invitations, and links that set a new password."""

from datetime import datetime, timedelta
from typing import Literal, cast

from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from domain.errors import ConflictError, NotFoundError, RegistrationError
from domain.model import Model
from server.storage.identifiers import generate_id, generate_secret, hash_secret, normalize_name
from server.storage.repository import Repository, to_model
from server.storage.rows.accounts import InvitationRow, PasswordResetRow, SessionRow, UserRow
from server.storage.rows.runs import RunRow
from server.storage.runs import end_runs, end_runs_of_shared_templates

Role = Literal["user", "author", "admin"]
ROLES: tuple[Role, ...] = ("user", "author", "admin")
"""Each may do what those before it may."""
SHARING_ROLES: tuple[Role, ...] = ("author", "admin")
"""What others share counts while they have one of these roles, and are not disabled."""


ACCOUNT_DISABLED = "the account was disabled"
_ROLE_LOWERED = "the account's role was lowered; ask once more"
_NO_LONGER_SHARED = "its template is not shared any more"


class User(Model):
    """An account, without what proves who one is. ``disabled_at``: since when it may not log in; ``language``: in which it reads pages, None: unsaid."""

    id: str
    name: str
    role: Role
    created_at: datetime
    disabled_at: datetime | None = None
    language: str | None = None


def _rank(role: str) -> int:
    return ROLES.index(cast("Role", role))


def _may_share(row: UserRow) -> bool:
    return row.role in SHARING_ROLES and row.disabled_at is None


async def add_user(session: AsyncSession, name: str, password_hash: str, role: str, at: datetime) -> UserRow:
    """A new row, in the caller's transaction. ``ConflictError``: the name is taken."""
    key = normalize_name(name)
    if await session.scalar(select(UserRow.id).where(UserRow.name_key == key)):
        raise ConflictError(f"the name {name} is taken; choose another")
    row = UserRow(id=generate_id(), name=name, name_key=key, password_hash=password_hash, role=role, created_at=at)
    session.add(row)
    await session.flush()
    return row


class Users(Repository):
    """The accounts of a database."""

    async def add(self, name: str, password_hash: str, role: Role = "user") -> User:
        """A new account. ``ConflictError``: the name is taken."""
        async with self._database.write_session() as session:
            return to_model(User, await add_user(session, name, password_hash, role, self._clock()))

    async def get(self, user_id: str) -> User | None:
        async with self._database.read_session() as session:
            row = await session.get(UserRow, user_id)
            return to_model(User, row) if row else None

    async def find_by_name(self, name: str) -> tuple[User, str] | None:
        """The account and its password's hash."""
        async with self._database.read_session() as session:
            row = await session.scalar(select(UserRow).where(UserRow.name_key == normalize_name(name)))
            return (to_model(User, row), row.password_hash) if row else None

    async def list_page(self, after: str = "", limit: int = 50) -> list[User]:
        """Accounts in the order they came, those after an id."""
        async with self._database.read_session() as session:
            rows = await session.scalars(select(UserRow).where(UserRow.id > after).order_by(UserRow.id).limit(limit))
            return [to_model(User, row) for row in rows]

    async def has_admin(self) -> bool:
        """Whether somebody may administer: an account with that role that is not disabled."""
        working = (UserRow.role == "admin") & UserRow.disabled_at.is_(None)
        async with self._database.read_session() as session:
            return await session.scalar(select(UserRow.id).where(working).limit(1)) is not None

    async def search_by_prefix(self, prefix: str, limit: int = 20) -> list[User]:
        """Accounts that may log in and whose names begin so, by name."""
        begins = UserRow.name_key.startswith(normalize_name(prefix), autoescape=True) & UserRow.disabled_at.is_(None)
        async with self._database.read_session() as session:
            rows = await session.scalars(select(UserRow).where(begins).order_by(UserRow.name_key).limit(limit))
            return [to_model(User, row) for row in rows]

    async def change(self, user_id: str, *, role: Role | None = None, disabled: bool | None = None) -> User:
        """Give it another role, lock it out (its tokens end at once) or let it in again.

        Where it is locked out or its role falls, its runs end before their next call, and with its right to share those that others
        have made from its templates.

        Raises:
            NotFoundError: there is none. ConflictError: nobody would be left who may administer.
        """
        async with self._database.write_session() as session:
            row = await self._lock_row(session, user_id)
            before, shared = row.role, _may_share(row)
            if role is not None:
                row.role = role
            if disabled is not None:
                row.disabled_at = (row.disabled_at or self._clock()) if disabled else None
            await session.flush()
            await self._check_admin_remains(session)
            if disabled:
                ended = {"revoked_at": self._clock(), "revoked_why": ACCOUNT_DISABLED}
                open_ones = (SessionRow.user_id == user_id) & SessionRow.revoked_at.is_(None)
                await session.execute(update(SessionRow).where(open_ones).values(ended))
            if disabled or _rank(row.role) < _rank(before):
                why = ACCOUNT_DISABLED if disabled else _ROLE_LOWERED
                await end_runs(session, RunRow.user_id == user_id, why, self._clock())
            if shared and not _may_share(row):
                await end_runs_of_shared_templates(session, user_id, _NO_LONGER_SHARED, self._clock())
            return to_model(User, row)

    async def delete(self, user_id: str) -> None:
        """Remove it with all that is its own. Raises as :meth:`change`."""
        async with self._database.write_session() as session:
            await self._lock_row(session, user_id)
            await session.execute(delete(UserRow).where(UserRow.id == user_id))
            await self._check_admin_remains(session)

    async def set_language(self, user_id: str, language: str | None) -> User:
        """Keep in which language it reads pages. ``NotFoundError``: there is none."""
        async with self._database.write_session() as session:
            row = await self._lock_row(session, user_id)
            row.language = language
            return to_model(User, row)

    async def get_password_hash(self, user_id: str) -> str | None:
        async with self._database.read_session() as session:
            return await session.scalar(select(UserRow.password_hash).where(UserRow.id == user_id))

    async def set_password(self, user_id: str, password_hash: str, *, replaces: str | None = None) -> bool:
        """``instead_of``: only where the hash is still this one. Whether it was set."""
        chosen = UserRow.id == user_id
        if replaces is not None:
            chosen &= UserRow.password_hash == replaces
        statement = update(UserRow).where(chosen).values(password_hash=password_hash).returning(UserRow.id)
        async with self._database.write_session(single=True) as session:
            return await session.scalar(statement) is not None

    async def _lock_row(self, session: AsyncSession, user_id: str) -> UserRow:
        """The row; the administrators' rows are held as well, so that two cannot remove each other."""
        held = (UserRow.id == user_id) | (UserRow.role == "admin")
        rows = await session.scalars(select(UserRow).where(held).order_by(UserRow.id).with_for_update())
        for row in rows:
            if row.id == user_id:
                return row
        raise NotFoundError("there is no such user")

    async def _check_admin_remains(self, session: AsyncSession) -> None:
        working = (UserRow.role == "admin") & UserRow.disabled_at.is_(None)
        everyone = await session.scalar(select(func.count()).select_from(UserRow))
        if everyone and not await session.scalar(select(func.count()).select_from(UserRow).where(working)):
            raise ConflictError("this is the last administrator; make another one first")


class Invitation(Model):
    """``created_by`` and ``used_by``: ids of users, None where they are gone."""

    id: str
    role: Role
    note: str
    created_by: str | None
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None = None
    used_by: str | None = None


class Invitations(Repository):
    """The invitations of a database."""

    async def add(self, created_by: str | None, role: Role, note: str, days: float) -> tuple[Invitation, str]:
        """A new one, and its secret, which is not kept."""
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
        """Make the account that it is for; both or neither.

        Raises:
            RegistrationError: it is unknown, used or too old. ConflictError: the name is taken; the invitation stays good.
        """
        at = self._clock()
        async with self._database.write_session() as session:
            good = (InvitationRow.secret_hash == hash_secret(secret)) & InvitationRow.used_at.is_(None)
            used = update(InvitationRow).where(good, InvitationRow.expires_at > at).values(used_at=at)
            found = (await session.execute(used.returning(InvitationRow.id, InvitationRow.role))).one_or_none()
            if found is None:
                raise RegistrationError("this invitation is unknown, was used already or is too old; ask for a new one")
            row = await add_user(session, name, password_hash, found.role, at)
            await session.execute(update(InvitationRow).where(InvitationRow.id == found.id).values(used_by=row.id))
            return to_model(User, row)

    async def list_all(self) -> list[Invitation]:
        """The newest first."""
        async with self._database.read_session() as session:
            rows = await session.scalars(select(InvitationRow).order_by(InvitationRow.id.desc()))
            return [to_model(Invitation, row) for row in rows]

    async def remove(self, invitation_id: str) -> bool:
        """Take it back. Whether there was one."""
        gone = delete(InvitationRow).where(InvitationRow.id == invitation_id).returning(InvitationRow.id)
        async with self._database.write_session() as session:
            return await session.scalar(gone) is not None


RESET_LIFETIME = timedelta(days=1)
_RESET_REFUSED = (
    "this link for a new password is unknown, was used already or is too old; ask an administrator for another"
)


class PasswordResets(Repository):
    """Those of a database."""

    async def add(self, user_id: str) -> tuple[str, datetime]:
        """A new secret, which is not kept, and until when it counts; earlier ones count no more. ``NotFoundError``: there is no such user."""
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
        """Whose password it is for. ``RegistrationError``: it does not count."""
        good = (PasswordResetRow.secret_hash == hash_secret(secret)) & (PasswordResetRow.expires_at > self._clock())
        chosen = select(UserRow).join(PasswordResetRow, PasswordResetRow.user_id == UserRow.id)
        found = await self._database.read(
            lambda session: session.scalar(chosen.where(good, UserRow.disabled_at.is_(None)))
        )
        if found is None:
            raise RegistrationError(_RESET_REFUSED)
        return to_model(User, found)

    async def redeem(self, secret: str, password_hash: str) -> None:
        """Set the password and end the user's sessions; all or nothing. Raises as :meth:`whose`."""
        at = self._clock()
        good = (PasswordResetRow.secret_hash == hash_secret(secret)) & (PasswordResetRow.expires_at > at)
        ended = {"revoked_at": at, "revoked_why": "a new password was set by a link"}
        async with self._database.write_session() as session:
            user_id = await session.scalar(delete(PasswordResetRow).where(good).returning(PasswordResetRow.user_id))
            if user_id is None:
                raise RegistrationError(_RESET_REFUSED)
            await session.execute(update(UserRow).where(UserRow.id == user_id).values(password_hash=password_hash))
            open_ones = (SessionRow.user_id == user_id) & SessionRow.revoked_at.is_(None)
            await session.execute(update(SessionRow).where(open_ones).values(ended))
