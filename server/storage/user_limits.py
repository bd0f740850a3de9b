"""What single users may use in a day, where that is other than for everybody."""

from domain.errors import NotFoundError
from domain.model import Model
from server.storage.database import Database
from server.storage.rows.accounts import UserRow
from server.storage.rows.days import LimitRow


class OwnLimits(Model):
    """Of one user and day. None: as for everybody; 0: no limit."""

    runs: int | None = None
    tokens: int | None = None
    cost: float | None = None


AS_EVERYBODY = OwnLimits()


class UserLimits:
    """Those of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, user_id: str) -> OwnLimits:
        """A user's own."""
        row = await self._database.read(lambda session: session.get(LimitRow, user_id))
        return limits_of(row)

    async def put(self, user_id: str, limits: OwnLimits) -> None:
        """They count from the next run on, and for the tokens of one that is begun. ``NotFoundError``: there is no such user."""
        async with self._database.writing() as session:
            if await session.get(UserRow, user_id) is None:
                raise NotFoundError("there is no such user")
            await session.merge(LimitRow(user_id=user_id, **limits.model_dump()))


def limits_of(row: LimitRow | None) -> OwnLimits:
    """What a user's row says."""
    return AS_EVERYBODY if row is None else OwnLimits(runs=row.runs, tokens=row.tokens, cost=row.cost)
