"""Where users have logged in from, so that who fails at their names elsewhere does not keep them out there."""

from datetime import timedelta
from hashlib import sha256

from sqlalchemy import delete, select

from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.rows.accounts import LoginPlaceRow, UserRow
from server.storage.users import name_key

_KEPT = 20
_DAYS = timedelta(days=90)


class LoginPlaces:
    """Those of a database. A place is what attempts are counted by; rows hold a hash of it, another for each user."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def known(self, name: str, place: str) -> bool:
        """Whether somebody of this name has logged in there in the last 90 days."""
        user = select(UserRow.id).where(UserRow.name_key == name_key(name))
        async with self._database.reading() as session:
            user_id = await session.scalar(user)
            row = await session.get(LoginPlaceRow, (user_id, _hashed(user_id, place))) if user_id else None
            return row is not None and row.last_at > self._clock() - _DAYS

    async def remember(self, user_id: str, place: str) -> None:
        """A user has logged in there. Only the latest places are kept."""
        row = LoginPlaceRow(user_id=user_id, place=_hashed(user_id, place), last_at=self._clock())
        mine = LoginPlaceRow.user_id == user_id
        latest = select(LoginPlaceRow.place).where(mine).order_by(LoginPlaceRow.last_at.desc()).limit(_KEPT)
        async with self._database.writing() as session:
            await session.merge(row)
            await session.flush()
            await session.execute(delete(LoginPlaceRow).where(mine, LoginPlaceRow.place.not_in(latest)))


def _hashed(user_id: str, place: str) -> str:
    return sha256(f"{user_id} {place}".encode("utf-8", "replace")).hexdigest()
