"""The vault: keys for tools, sealed, each with the hosts it may be sent to. Some are given as they are, some obtained by a grant."""

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field
from sqlalchemy import delete, select, update

from domain.model import Model
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.encryption import Keys
from server.storage.key_shelves import OF_USERS, KeyRow, Shelf

GrantKind = Literal["authorization_code", "client_credentials"]


class ToolKey(Model):
    """What may be shown of a key: everything but its value."""

    name: str
    hosts: tuple[str, ...]
    updated_at: datetime
    grant: GrantKind | None = Field(default=None, description="How it is obtained by OAuth; null: it was given.")
    fresh_until: datetime | None = Field(default=None, description="When its access token is renewed; null: never.")
    lapsed: str = Field(default="", description="Why it needs consent again; empty where it does not.")


class ToolKeys:
    """The vault of a database; ``shelf``: whose keys."""

    def __init__(self, database: Database, clock: Clock, keys: Keys, shelf: Shelf = OF_USERS) -> None:
        self._database = database
        self._clock = clock
        self._keys = keys
        self._shelf = shelf

    async def put(self, owner: str, name: str, value: str, hosts: Sequence[str]) -> ToolKey:
        """Keep a key as it is given, in place of one of the same name."""
        async with self._database.writing() as session:
            row = await session.merge(self.sealed(owner, name, value, hosts))
        return shown(row)

    def sealed(self, owner: str, name: str, value: str, hosts: Sequence[str]) -> KeyRow:
        """A row for a key as it is given, for a transaction that writes more."""
        version, sealed = self._shelf.seal(self._keys, owner, name, hosts, value)
        row = self._shelf.new(owner, name)
        row.hosts, row.key_version, row.sealed, row.updated_at = list(hosts), version, sealed, self._clock()
        row.grant, row.fresh_until, row.lapsed, row.turn, row.turn_until = None, None, "", secrets.token_hex(8), None
        return row

    async def all(self, owner: str) -> list[ToolKey]:
        """An owner's keys by name, without their values."""
        rows = self._shelf.rows
        statement = select(rows).where(self._shelf.owner == owner).order_by(rows.name)
        async with self._database.reading() as session:
            return [shown(row) for row in await session.scalars(statement)]

    async def names(self, owner: str) -> dict[str, tuple[str, ...]]:
        """Names and hosts."""
        return {key.name: key.hosts for key in await self.all(owner)}

    async def value(self, owner: str, name: str) -> str | None:
        """The value of one that was given; None where there is none. ``SecretError`` where it cannot be opened."""
        async with self._database.reading() as session:
            row = await session.get(self._shelf.rows, (owner, name))
        if row is None or row.grant is not None:
            return None
        return self._shelf.open(self._keys, row)

    async def remove(self, owner: str, name: str) -> bool:
        """Whether there was one."""
        rows = self._shelf.rows
        gone = delete(rows).where(self._shelf.chosen(owner, name)).returning(rows.name)
        async with self._database.writing(single=True) as session:
            return await session.scalar(gone) is not None

    async def clear(self, owner: str) -> None:
        """Forget all that this owner has."""
        async with self._database.writing(single=True) as session:
            await session.execute(delete(self._shelf.rows).where(self._shelf.owner == owner))

    async def reseal(self) -> int:
        """Seal with the newest key whatever was sealed with an older one; how many. Servers may go on meanwhile."""
        rows = self._shelf.rows
        async with self._database.reading() as session:
            old = list(await session.scalars(select(rows).where(rows.key_version != self._keys.newest)))
        return await self._seal_anew(old)

    async def bind_hosts(self) -> int:
        """Seal for its hosts whatever was sealed before hosts were a part of it; how many."""
        async with self._database.reading() as session:
            every = list(await session.scalars(select(self._shelf.rows)))
        return await self._seal_anew([row for row in every if not self._shelf.is_bound(self._keys, row)])

    async def _seal_anew(self, found: Sequence[KeyRow]) -> int:
        done, rows = 0, self._shelf.rows
        for row in found:
            value, granted = self._shelf.open(self._keys, row), row.grant is not None
            owner = self._shelf.owner_of(row)
            version, sealed = self._shelf.seal(self._keys, owner, row.name, row.hosts, value, granted=granted)
            # Only where it is still what was read: its owner, or a renewal, may have changed it meanwhile.
            same = self._shelf.chosen(owner, row.name) & (rows.sealed == row.sealed)
            change = update(rows).where(same).values(key_version=version, sealed=sealed)
            async with self._database.writing() as session:
                done += await session.scalar(change.returning(rows.key_version)) is not None
        return done

    async def versions(self) -> set[int]:
        """The versions that something is sealed with."""
        async with self._database.reading() as session:
            return set(await session.scalars(select(self._shelf.rows.key_version).distinct()))


def shown(row: KeyRow) -> ToolKey:
    """What may be shown of a row."""
    found = {name: getattr(row, name) for name in ToolKey.model_fields}
    return ToolKey.model_validate(found | {"hosts": tuple(row.hosts)})
