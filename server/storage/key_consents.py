"""Consents that are waited for: each is known by the hash of its state, counts once, for a short time, and for one key."""

from datetime import timedelta

from pydantic import Field
from sqlalchemy import delete

from domain.model import Model
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.encryption import Keys
from server.storage.key_grants import Terms
from server.storage.key_shelves import ShelfName
from server.storage.rows.grants import KeyConsentRow
from server.storage.secret_tokens import hash_of, new_secret

LASTS = timedelta(minutes=10)


class Asked(Model):
    """What a consent is asked for, and what proves that who comes back is who went. ``verifier``: of PKCE."""

    terms: Terms
    hosts: tuple[str, ...]
    redirect_uri: str
    verifier: str = Field(repr=False)


class Consent(Model):
    """One that came back in time. ``user_id``: who began it."""

    user_id: str
    shelf: ShelfName
    owner_id: str
    name: str
    asked: Asked


class KeyConsents:
    """Those of a database."""

    def __init__(self, database: Database, clock: Clock, keys: Keys) -> None:
        self._database = database
        self._clock = clock
        self._keys = keys

    async def add(self, consent: Consent) -> str:
        """The state to go with; it is not kept. One that was asked for the same key before counts no more."""
        state, at = new_secret("fpo"), self._clock()
        version, sealed = self._keys.seal(
            consent.asked.model_dump_json(),
            _place(hash_of(state), consent.user_id, consent.shelf, consent.owner_id, consent.name),
        )
        row = KeyConsentRow(state_hash=hash_of(state), key_version=version, sealed=sealed, expires_at=at + LASTS)
        row.user_id, row.shelf, row.owner_id, row.name = (
            consent.user_id, consent.shelf, consent.owner_id, consent.name,
        )  # fmt: skip
        same = (
            (KeyConsentRow.shelf == row.shelf)
            & (KeyConsentRow.owner_id == row.owner_id)
            & (KeyConsentRow.name == row.name)
        )
        async with self._database.writing() as session:
            await session.execute(delete(KeyConsentRow).where(same | (KeyConsentRow.expires_at <= at)))
            session.add(row)
        return state

    async def take(self, state: str) -> Consent | None:
        """What it stands for, once; None where it is unknown, was taken before or is too old. ``SecretError`` where it cannot be opened."""
        rows = KeyConsentRow
        gone = delete(rows).where(rows.state_hash == hash_of(state)).returning(rows)
        async with self._database.writing() as session:
            row = await session.scalar(gone)
        if row is None or row.expires_at <= self._clock():
            return None
        asked = Asked.model_validate_json(self._keys.open(row.key_version, row.sealed, _place_of(row)))
        return Consent.model_validate(
            {"user_id": row.user_id, "shelf": row.shelf, "owner_id": row.owner_id, "name": row.name, "asked": asked}
        )


def _place(state_hash: str, user_id: str, shelf: str, owner_id: str, name: str) -> str:
    """What a consent is sealed for: whose it is and for which key, so that nobody makes it another's in the rows."""
    return "\n".join(("key consent", state_hash, user_id, shelf, owner_id, name))


def _place_of(row: KeyConsentRow) -> str:
    return _place(row.state_hash, row.user_id, row.shelf, row.owner_id, row.name)
