"""Invitations: a secret that makes one account."""

from datetime import datetime, timedelta

from sqlalchemy import delete, select, update

from domain.errors import RegistrationError
from domain.model import Model
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.row_ids import new_id
from server.storage.rows.accounts import InvitationRow
from server.storage.secret_tokens import hash_of, new_secret
from server.storage.users import Role, User, add_user, user_of


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


class Invitations:
    """The invitations of a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, created_by: str | None, role: Role, note: str, days: float) -> tuple[Invitation, str]:
        """A new one, and its secret, which is not kept."""
        secret, at = new_secret("fpi"), self._clock()
        row = InvitationRow(
            id=new_id(),
            secret_hash=hash_of(secret),
            role=role,
            note=note,
            created_by=created_by,
            created_at=at,
            expires_at=at + timedelta(days=days),
        )
        async with self._database.writing() as session:
            session.add(row)
        return _invitation(row), secret

    async def redeem(self, secret: str, name: str, password_hash: str) -> User:
        """Make the account that it is for; both or neither.

        Raises:
            RegistrationError: it is unknown, used or too old. ConflictError: the name is taken; the invitation stays good.
        """
        at = self._clock()
        async with self._database.writing() as session:
            good = (InvitationRow.secret_hash == hash_of(secret)) & InvitationRow.used_at.is_(None)
            used = update(InvitationRow).where(good, InvitationRow.expires_at > at).values(used_at=at)
            found = (await session.execute(used.returning(InvitationRow.id, InvitationRow.role))).one_or_none()
            if found is None:
                raise RegistrationError("this invitation is unknown, was used already or is too old; ask for a new one")
            row = await add_user(session, name, password_hash, found.role, at)
            await session.execute(update(InvitationRow).where(InvitationRow.id == found.id).values(used_by=row.id))
            return user_of(row)

    async def all(self) -> list[Invitation]:
        """The newest first."""
        async with self._database.reading() as session:
            rows = await session.scalars(select(InvitationRow).order_by(InvitationRow.id.desc()))
            return [_invitation(row) for row in rows]

    async def remove(self, invitation_id: str) -> bool:
        """Take it back. Whether there was one."""
        gone = delete(InvitationRow).where(InvitationRow.id == invitation_id).returning(InvitationRow.id)
        async with self._database.writing() as session:
            return await session.scalar(gone) is not None


def _invitation(row: InvitationRow) -> Invitation:
    return Invitation.model_validate({name: getattr(row, name) for name in Invitation.model_fields})
