"""Which keys the vault is sealed with, by fingerprint: servers that share rows must have the same ones."""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from domain.errors import SecretError, UnavailableError
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.encryption import Keys
from server.storage.key_shelves import SHELVES
from server.storage.rows.accounts import VaultKeyRow

_ADVICE = (
    "Give this server the keys of the others: FOOTPATH_VAULT_KEYS, or their file vault.keys in its FOOTPATH_SERVER_HOME. "
    "Where they are lost for good: scripts/rotate_keys.py --lost removes what nobody can open"
)


class VaultKeys:
    """Those that a database's rows were sealed with. Rows never hold a key."""

    def __init__(self, database: Database, clock: Clock, keys: Keys) -> None:
        self._database = database
        self._clock = clock
        self._keys = keys

    async def agree(self) -> None:
        """Note the key that seals, where nobody has. ``UnavailableError`` where this server's keys are not those of the rows."""
        await self._database.write(self._agree)

    def _agree(self, session: Session) -> None:
        mine, noted = self._keys.fingerprints(), _noted(session)
        used = {version for shelf in SHELVES for version in session.scalars(select(shelf.rows.key_version).distinct())}
        for version in sorted(noted.keys() | used):
            if version not in mine and version in used:
                raise UnavailableError(f"the vault was sealed with key {version}, which this server lacks. {_ADVICE}")
            if version in mine and version in noted and mine[version] != noted[version]:
                raise UnavailableError(f"this server's vault key {version} is not the one of its database. {_ADVICE}")
        if not noted:
            self._try(session)
        newest = self._keys.newest
        if newest > max(noted, default=0):
            session.add(VaultKeyRow(version=newest, fingerprint=mine[newest], noted_at=self._clock()))

    def _try(self, session: Session) -> None:
        """Rows of before keys were noted tell by themselves."""
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
        """Only the newest key counts from now on: nothing is sealed with another."""
        older = delete(VaultKeyRow).where(VaultKeyRow.version != self._keys.newest)
        await self._database.write(lambda session: session.execute(older))

    async def give_up_lost(self) -> int:
        """Remove what was sealed with keys that are not among this server's; how many."""
        return await self._database.write(self._give_up_lost)

    def _give_up_lost(self, session: Session) -> int:
        mine, gone = self._keys.fingerprints(), 0
        for version, fingerprint in _noted(session).items():
            if mine.get(version) != fingerprint:
                session.execute(delete(VaultKeyRow).where(VaultKeyRow.version == version))
        for shelf in SHELVES:
            for row in session.scalars(select(shelf.rows)).all():
                try:
                    shelf.open(self._keys, row)
                except SecretError:
                    session.delete(row)
                    gone += 1
        return gone


def _noted(session: Session) -> dict[int, str]:
    return {row.version: row.fingerprint for row in session.scalars(select(VaultKeyRow))}
