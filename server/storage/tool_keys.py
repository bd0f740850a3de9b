"""The vault: users' own keys for tools, sealed, each with the hosts it may be sent to."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, select, update

from domain.model import Model
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.encryption import Keys
from server.storage.rows.accounts import ToolKeyRow


class ToolKey(Model):
    """What may be shown of a key: everything but its value."""

    name: str
    hosts: tuple[str, ...]
    updated_at: datetime


class ToolKeys:
    """The vault of a database."""

    def __init__(self, database: Database, clock: Clock, keys: Keys) -> None:
        self._database = database
        self._clock = clock
        self._keys = keys

    async def put(self, user_id: str, name: str, value: str, hosts: Sequence[str]) -> ToolKey:
        """Keep a key, in place of one of the same name."""
        version, sealed = self._keys.seal(value, place(user_id, name))
        row = ToolKeyRow(
            user_id=user_id,
            name=name,
            hosts=list(hosts),
            key_version=version,
            sealed=sealed,
            updated_at=self._clock(),
        )
        async with self._database.writing() as session:
            row = await session.merge(row)
        return _shown(row)

    async def all(self, user_id: str) -> list[ToolKey]:
        """A user's keys by name, without their values."""
        statement = select(ToolKeyRow).where(ToolKeyRow.user_id == user_id).order_by(ToolKeyRow.name)
        async with self._database.reading() as session:
            return [_shown(row) for row in await session.scalars(statement)]

    async def names(self, user_id: str) -> dict[str, tuple[str, ...]]:
        """Names and hosts."""
        return {key.name: key.hosts for key in await self.all(user_id)}

    async def value(self, user_id: str, name: str) -> str | None:
        """The value; None where there is none. ``SecretError`` where it cannot be opened."""
        async with self._database.reading() as session:
            row = await session.get(ToolKeyRow, (user_id, name))
        return self._keys.open(row.key_version, row.sealed, place(user_id, name)) if row else None

    async def remove(self, user_id: str, name: str) -> bool:
        """Whether there was one."""
        chosen = (ToolKeyRow.user_id == user_id) & (ToolKeyRow.name == name)
        async with self._database.writing() as session:
            return await session.scalar(delete(ToolKeyRow).where(chosen).returning(ToolKeyRow.name)) is not None

    async def reseal(self) -> int:
        """Seal with the newest key whatever was sealed with an older one; how many. Servers may go on meanwhile."""
        newest, done = self._keys.newest, 0
        async with self._database.reading() as session:
            rows = list(await session.scalars(select(ToolKeyRow).where(ToolKeyRow.key_version != newest)))
        for row in rows:
            value = self._keys.open(row.key_version, row.sealed, place(row.user_id, row.name))
            version, sealed = self._keys.seal(value, place(row.user_id, row.name))
            # Only where it is still what was read: its owner may have changed it meanwhile.
            same = (
                (ToolKeyRow.user_id == row.user_id) & (ToolKeyRow.name == row.name) & (ToolKeyRow.sealed == row.sealed)
            )
            change = update(ToolKeyRow).where(same).values(key_version=version, sealed=sealed)
            async with self._database.writing() as session:
                done += await session.scalar(change.returning(ToolKeyRow.key_version)) is not None
        return done

    async def versions(self) -> set[int]:
        """The versions that something is sealed with."""
        async with self._database.reading() as session:
            return set(await session.scalars(select(ToolKeyRow.key_version).distinct()))


def place(user_id: str, name: str) -> str:
    """What a key is sealed for: the row that it lies in."""
    return f"tool key\n{user_id}\n{name}"


def _shown(row: ToolKeyRow) -> ToolKey:
    return ToolKey(name=row.name, hosts=tuple(row.hosts), updated_at=row.updated_at)
