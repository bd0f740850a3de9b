"""Where users have logged in from, so that who fails at their names elsewhere does not keep them out there."""

from datetime import timedelta
from hashlib import sha256

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.rows.accounts import LoginPlaceRow, UserRow
from server.storage.statement_chain import StatementChain
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
        row = LoginPlaceRow
        joined = select(row.user_id, row.place).join(UserRow, UserRow.id == row.user_id)
        latest = joined.where(UserRow.name_key == name_key(name), row.last_at > self._clock() - _DAYS)
        async with self._database.reading() as session:
            return any(one == _hashed(user_id, place) for user_id, one in await session.execute(latest))

    async def remember(self, user_id: str, place: str) -> None:
        """A user has logged in there. Only the latest places are kept."""
        row, at, hashed = LoginPlaceRow, self._clock(), _hashed(user_id, place)
        insert = postgresql.insert if self._database.dialect == "postgresql" else sqlite.insert
        kept = (
            insert(row)
            .values(user_id=user_id, place=hashed, last_at=at)
            .on_conflict_do_update(index_elements=[row.user_id, row.place], set_={"last_at": at})
        )
        others = (row.user_id == user_id) & (row.place != hashed)
        latest = select(row.place).where(others).order_by(row.last_at.desc()).limit(_KEPT - 1)

        def remember(session: Session) -> None:
            chain = StatementChain(session)
            chain.add(kept)
            chain.add(delete(row).where(others, row.place.not_in(latest)))
            chain.run()

        await self._database.write(remember, single=True)


def _hashed(user_id: str, place: str) -> str:
    return sha256(f"{user_id} {place}".encode("utf-8", "replace")).hexdigest()
