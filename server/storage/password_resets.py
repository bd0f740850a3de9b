"""Secrets by which users set a new password: each counts once, for a day, and the newest of a user only."""

from datetime import datetime, timedelta

from sqlalchemy import delete, select, update

from domain.errors import NotFoundError, RegistrationError
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.rows.accounts import PasswordResetRow, SessionRow, UserRow
from server.storage.secret_tokens import hash_of, new_secret
from server.storage.users import User, user_of

COUNTS = timedelta(days=1)
_REFUSED = "this link for a new password is unknown, was used already or is too old; ask an administrator for another"


class PasswordResets:
    """Those of a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, user_id: str) -> tuple[str, datetime]:
        """A new secret, which is not kept, and until when it counts; earlier ones count no more. ``NotFoundError``: there is no such user."""
        secret, at = new_secret("fpw"), self._clock()
        row = PasswordResetRow(secret_hash=hash_of(secret), user_id=user_id, created_at=at, expires_at=at + COUNTS)
        async with self._database.writing() as session:
            if await session.get(UserRow, user_id) is None:
                raise NotFoundError("there is no such user")
            await session.execute(delete(PasswordResetRow).where(PasswordResetRow.user_id == user_id))
            session.add(row)
        return secret, row.expires_at

    async def whose(self, secret: str) -> User:
        """Whose password it is for. ``RegistrationError``: it does not count."""
        good = (PasswordResetRow.secret_hash == hash_of(secret)) & (PasswordResetRow.expires_at > self._clock())
        chosen = select(UserRow).join(PasswordResetRow, PasswordResetRow.user_id == UserRow.id)
        found = await self._database.read(
            lambda session: session.scalar(chosen.where(good, UserRow.disabled_at.is_(None)))
        )
        if found is None:
            raise RegistrationError(_REFUSED)
        return user_of(found)

    async def redeem(self, secret: str, password_hash: str) -> None:
        """Set the password and end the user's sessions; all or nothing. Raises as :meth:`whose`."""
        at = self._clock()
        good = (PasswordResetRow.secret_hash == hash_of(secret)) & (PasswordResetRow.expires_at > at)
        ended = {"revoked_at": at, "revoked_why": "a new password was set by a link"}
        async with self._database.writing() as session:
            user_id = await session.scalar(delete(PasswordResetRow).where(good).returning(PasswordResetRow.user_id))
            if user_id is None:
                raise RegistrationError(_REFUSED)
            await session.execute(update(UserRow).where(UserRow.id == user_id).values(password_hash=password_hash))
            open_ones = (SessionRow.user_id == user_id) & SessionRow.revoked_at.is_(None)
            await session.execute(update(SessionRow).where(open_ones).values(ended))
