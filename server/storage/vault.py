"""The vault: keys for tools, sources and models, sealed, each with the hosts it may be sent to.

Some are given as they are, some are obtained by a grant. A sealed key opens only in its own row, for its own hosts,
and as what it was sealed.
"""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import Field
from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from domain.errors import SecretError, UnavailableError
from server.storage.database import Database
from server.storage.encryption import Keyring
from server.storage.repository import Clock, Repository, StoredModel, to_model
from server.storage.rows.keys import ModelKeyRow, SourceKeyRow, ToolKeyRow, VaultKeyRow

KeyRow = ToolKeyRow | SourceKeyRow | ModelKeyRow
ShelfName = Literal["user", "source", "model"]
_SEALED_AS: dict[ShelfName, str] = {"user": "tool key", "source": "source key", "model": "model key"}


@dataclass(frozen=True, slots=True)
class KeyShelf:
    """A table of keys with one kind of owner."""

    name: ShelfName
    rows: type[ToolKeyRow] | type[SourceKeyRow] | type[ModelKeyRow]
    """The table."""
    owner_column: str
    """The column that holds the owner's id."""

    @property
    def owner(self) -> InstrumentedAttribute[str]:
        """Return the column of the owner's id."""
        return getattr(self.rows, self.owner_column)

    def is_key(self, owner: str, name: str) -> ColumnElement[bool]:
        """Return the condition that selects one key."""
        return (self.owner == owner) & (self.rows.name == name)

    def build_row(self, owner: str, name: str) -> KeyRow:
        """Build a row without its sealed content."""
        return self.rows(**{self.owner_column: owner, "name": name})

    def get_owner(self, row: KeyRow) -> str:
        """Return the owner's id of a row."""
        return getattr(row, self.owner_column)

    def seal(
        self, keys: Keyring, owner: str, name: str, hosts: Sequence[str], value: str, *, granted: bool = False
    ) -> tuple[int, bytes]:
        """Seal a key for its row and its hosts; return the key's version and the sealed bytes.

        With other hosts in the row it does not open, so a key cannot be redirected by editing the database.
        """
        return keys.seal(value, _bind_to_hosts(self._describe_place(owner, name, granted=granted), hosts))

    def open(self, keys: Keyring, row: KeyRow) -> str:
        """Open the content of a row.

        Raises:
            SecretError: the encryption key is missing, or row or hosts are not those that it was sealed for.
        """
        place = self._describe_place_of(row)
        try:
            return keys.open(row.key_version, row.sealed, _bind_to_hosts(place, row.hosts))
        except SecretError:
            # Rows of versions before hosts were part of the seal; bind_hosts seals them again when a server starts.
            return keys.open(row.key_version, row.sealed, place)

    def is_bound(self, keys: Keyring, row: KeyRow) -> bool:
        """Return whether a row is sealed for its hosts. True also where it cannot be opened: nothing can be bound."""
        try:
            keys.open(row.key_version, row.sealed, self._describe_place_of(row))
        except SecretError:
            return True
        return False

    def _describe_place(self, owner: str, name: str, *, granted: bool) -> str:
        """Return what identifies a row, and whether its key was given or obtained.

        Raises:
            SecretError: the owner or the name has several lines: what was sealed for one row and its hosts could then read as another row.
        """
        if "\n" in owner or "\n" in name:
            raise SecretError(
                "the name of a key has several lines, which Footpath never writes: store the key again under its own name"
            )
        return f"{_SEALED_AS[self.name]}{' grant' if granted else ''}\n{owner}\n{name}"

    def _describe_place_of(self, row: KeyRow) -> str:
        return self._describe_place(self.get_owner(row), row.name, granted=row.grant is not None)


def _bind_to_hosts(place: str, hosts: Sequence[str]) -> str:
    return f"{place}\n{json.dumps(list(hosts))}"


USER_SHELF = KeyShelf("user", ToolKeyRow, "user_id")
SOURCE_SHELF = KeyShelf("source", SourceKeyRow, "source_id")
MODEL_SHELF = KeyShelf("model", ModelKeyRow, "service_id")
SHELVES = (USER_SHELF, SOURCE_SHELF, MODEL_SHELF)


GrantKind = Literal["authorization_code", "client_credentials"]


class ToolKey(StoredModel):
    """A key as it may be shown: everything but its value."""

    name: str
    hosts: tuple[str, ...]
    updated_at: datetime
    grant: GrantKind | None = Field(default=None, description="How it is obtained by OAuth; null: it was given.")
    fresh_until: datetime | None = Field(default=None, description="When its access token is renewed; null: never.")
    lapsed: str = Field(default="", description="Why it needs consent again; empty where it does not.")


class ToolKeys(Repository):
    """Stores the keys of one shelf."""

    def __init__(self, database: Database, clock: Clock, keys: Keyring, shelf: KeyShelf = USER_SHELF) -> None:
        super().__init__(database, clock)
        self._keys = keys
        self._shelf = shelf

    async def put(self, owner: str, name: str, value: str, hosts: Sequence[str]) -> ToolKey:
        """Store a key in place of one of the same name."""
        async with self._database.write_session() as session:
            row = await session.merge(self.build_sealed_row(owner, name, value, hosts))
        return to_tool_key(row)

    def build_sealed_row(self, owner: str, name: str, value: str, hosts: Sequence[str]) -> KeyRow:
        """Build the row of a key, for a transaction that writes more."""
        version, sealed = self._shelf.seal(self._keys, owner, name, hosts, value)
        row = self._shelf.build_row(owner, name)
        row.hosts, row.key_version, row.sealed, row.updated_at = list(hosts), version, sealed, self._clock()
        row.grant, row.fresh_until, row.lapsed, row.turn, row.turn_until = None, None, "", secrets.token_hex(8), None
        return row

    async def list_all(self, owner: str) -> list[ToolKey]:
        """List an owner's keys by name, without their values."""
        rows = self._shelf.rows
        statement = select(rows).where(self._shelf.owner == owner).order_by(rows.name)
        async with self._database.read_session() as session:
            return [to_tool_key(row) for row in await session.scalars(statement)]

    async def list_hosts(self, owner: str) -> dict[str, tuple[str, ...]]:
        """Return the hosts of each of an owner's keys by name."""
        return {key.name: key.hosts for key in await self.list_all(owner)}

    async def get_value(self, owner: str, name: str) -> str | None:
        """Return the value of a key that was given; None where there is none.

        Raises:
            SecretError: it cannot be opened.
        """
        async with self._database.read_session() as session:
            row = await session.get(self._shelf.rows, (owner, name))
        if row is None or row.grant is not None:
            return None
        return self._shelf.open(self._keys, row)

    async def remove(self, owner: str, name: str) -> bool:
        """Delete a key; return whether there was one."""
        rows = self._shelf.rows
        removal = delete(rows).where(self._shelf.is_key(owner, name)).returning(rows.name)
        async with self._database.write_session(single=True) as session:
            return await session.scalar(removal) is not None

    async def remove_all(self, owner: str) -> None:
        """Delete all keys of an owner."""
        async with self._database.write_session(single=True) as session:
            await session.execute(delete(self._shelf.rows).where(self._shelf.owner == owner))

    async def reseal(self) -> int:
        """Seal with the newest key what was sealed with an older one; return how many. Servers may keep running."""
        rows = self._shelf.rows
        async with self._database.read_session() as session:
            outdated = list(await session.scalars(select(rows).where(rows.key_version != self._keys.newest)))
        return await self._reseal_rows(outdated)

    async def bind_hosts(self) -> int:
        """Seal again what was sealed before hosts were part of the seal; return how many."""
        async with self._database.read_session() as session:
            rows = list(await session.scalars(select(self._shelf.rows)))
        return await self._reseal_rows([row for row in rows if not self._shelf.is_bound(self._keys, row)])

    async def _reseal_rows(self, outdated_rows: Sequence[KeyRow]) -> int:
        count, rows = 0, self._shelf.rows
        for row in outdated_rows:
            value, is_granted = self._shelf.open(self._keys, row), row.grant is not None
            owner = self._shelf.get_owner(row)
            version, sealed = self._shelf.seal(self._keys, owner, row.name, row.hosts, value, granted=is_granted)
            # Only where the row is unchanged since it was read: its owner or a renewal may have replaced it.
            unchanged = self._shelf.is_key(owner, row.name) & (rows.sealed == row.sealed)
            change = update(rows).where(unchanged).values(key_version=version, sealed=sealed)
            async with self._database.write_session() as session:
                count += await session.scalar(change.returning(rows.key_version)) is not None
        return count

    async def list_versions(self) -> set[int]:
        """Return the versions that something is sealed with."""
        async with self._database.read_session() as session:
            return set(await session.scalars(select(self._shelf.rows.key_version).distinct()))


def to_tool_key(row: KeyRow) -> ToolKey:
    """Build what may be shown of a row."""
    return to_model(ToolKey, row)


_ADVICE = (
    "Give this server the keys of the others: FOOTPATH_VAULT_KEYS, or their file vault.keys in its FOOTPATH_SERVER_HOME. "
    "Where they are lost for good: scripts/rotate_keys.py --lost removes what nobody can open"
)


class VaultFingerprints(Repository):
    """Stores fingerprints of the keys that rows are sealed with, since servers sharing a database need the same keys."""

    def __init__(self, database: Database, clock: Clock, keys: Keyring) -> None:
        super().__init__(database, clock)
        self._keys = keys

    async def check_and_note(self) -> None:
        """Check this server's keys against the stored fingerprints, and note a newer one.

        Raises:
            UnavailableError: this server's keys are not those of the rows.
        """
        await self._database.write(self._check_and_note)

    def _check_and_note(self, session: Session) -> None:
        own, noted = self._keys.compute_fingerprints(), _load_fingerprints(session)
        used_versions = {
            version for shelf in SHELVES for version in session.scalars(select(shelf.rows.key_version).distinct())
        }
        for version in sorted(noted.keys() | used_versions):
            if version not in own and version in used_versions:
                raise UnavailableError(f"the vault was sealed with key {version}, which this server lacks. {_ADVICE}")
            if version in own and version in noted and own[version] != noted[version]:
                raise UnavailableError(f"this server's vault key {version} is not the one of its database. {_ADVICE}")
        if not noted:
            self._check_by_opening(session)
        newest = self._keys.newest
        if newest > max(noted, default=0):
            session.add(VaultKeyRow(version=newest, fingerprint=own[newest], noted_at=self._clock()))

    def _check_by_opening(self, session: Session) -> None:
        """Check the keys by opening a row of each version, for rows of versions before fingerprints were stored."""
        for shelf in SHELVES:
            rows = shelf.rows
            for version in session.scalars(select(rows.key_version).distinct()).all():
                row = session.scalars(select(rows).where(rows.key_version == version).limit(1)).one()
                try:
                    shelf.open(self._keys, row)
                except SecretError as error:
                    raise UnavailableError(
                        f"this server's keys do not open the vault of its database. {_ADVICE}"
                    ) from error

    async def forget_older(self) -> None:
        """Delete the fingerprints of all keys but the newest, once nothing is sealed with them."""
        older = delete(VaultKeyRow).where(VaultKeyRow.version != self._keys.newest)
        await self._database.write(lambda session: session.execute(older))

    async def remove_lost(self) -> int:
        """Delete what was sealed with keys that this server does not have; return how many."""
        return await self._database.write(self._remove_lost)

    def _remove_lost(self, session: Session) -> int:
        own, removed = self._keys.compute_fingerprints(), 0
        for version, fingerprint in _load_fingerprints(session).items():
            if own.get(version) != fingerprint:
                session.execute(delete(VaultKeyRow).where(VaultKeyRow.version == version))
        for shelf in SHELVES:
            for row in session.scalars(select(shelf.rows)).all():
                try:
                    shelf.open(self._keys, row)
                except SecretError:
                    session.delete(row)
                    removed += 1
        return removed


def _load_fingerprints(session: Session) -> dict[int, str]:
    return {row.version: row.fingerprint for row in session.scalars(select(VaultKeyRow))}
