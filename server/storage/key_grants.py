"""Keys obtained by OAuth: the terms and tokens of each grant, sealed together, and the consents that are waited for."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, cast

from pydantic import Field
from sqlalchemy import CursorResult, delete, select, update

from domain.model import Model
from server.storage.database import Database
from server.storage.encryption import Keyring
from server.storage.identifiers import generate_secret, hash_secret
from server.storage.repository import Clock, Repository
from server.storage.rows.keys import KeyConsentRow
from server.storage.vault import USER_SHELF, GrantKind, KeyRow, KeyShelf, ShelfName, ToolKey, to_tool_key

ClientAuth = Literal["basic", "post", "none"]


class GrantTerms(Model):
    """How a key is obtained. ``client_auth``: how the client says who it is at the token address. ``resource``: what the token is for
    (RFC 8707). ``issuer_told``: the server names itself in its answer to a consent (RFC 9207).
    """

    kind: GrantKind
    token_url: str
    authorize_url: str = ""
    client_id: str
    client_secret: str = Field(default="", repr=False)
    client_auth: ClientAuth = "none"
    scopes: tuple[str, ...] = ()
    resource: str = ""
    issuer: str = ""
    issuer_told: bool = False


class GrantTokens(Model):
    """``fresh_until``: when the access token is renewed, some time before it ends; None: nobody knows when it ends."""

    access: str = Field(repr=False)
    refresh: str = Field(default="", repr=False)
    fresh_until: datetime | None = None
    ends_at: datetime | None = None


class KeyGrant(Model):
    """All that is sealed of it."""

    terms: GrantTerms
    tokens: GrantTokens


@dataclass(frozen=True, slots=True)
class StoredGrant:
    """A grant as its row holds it. ``lapsed``: why it needs consent again. ``turn``: of the renewal that it stands at."""

    grant: KeyGrant
    lapsed: str
    turn: str
    turn_until: datetime | None


class KeyGrants:
    """The grants among the keys of a shelf."""

    def __init__(self, database: Database, clock: Clock, keys: Keyring, shelf: KeyShelf = USER_SHELF) -> None:
        self._database = database
        self.clock = clock
        self._keys = keys
        self._shelf = shelf

    async def put(self, owner: str, name: str, grant: KeyGrant, hosts: Sequence[str]) -> ToolKey:
        """Keep one, in place of a key of the same name; a renewal of that one that is under way keeps nothing."""
        row = self._shelf.build_row(owner, name)
        row.key_version, row.sealed = self._seal(owner, name, hosts, grant)
        row.hosts, row.updated_at, row.grant = list(hosts), self.clock(), grant.terms.kind
        row.fresh_until, row.lapsed, row.turn, row.turn_until = grant.tokens.fresh_until, "", _generate_turn(), None
        async with self._database.write_session(durable=True) as session:
            row = await session.merge(row)
        return to_tool_key(row)

    async def get(self, owner: str, name: str) -> StoredGrant | None:
        """None where there is no such key, or it was given. ``SecretError`` where it cannot be opened."""
        async with self._database.read_session() as session:
            row = await session.scalar(select(self._shelf.rows).where(self._shelf.is_key(owner, name)))
        return self._open(row) if row is not None and row.grant is not None else None

    async def claim_renewal(self, owner: str, name: str, stored: StoredGrant, lease: timedelta) -> str:
        """The turn in which the asker alone renews what it has read; empty where another has it, or it is renewed already."""
        rows, now, turn = self._shelf.rows, self.clock(), _generate_turn()
        free = rows.turn_until.is_(None) | (rows.turn_until < now)
        same = self._shelf.is_key(owner, name) & (rows.turn == stored.turn) & free
        taken = update(rows).where(same).values(turn=turn, turn_until=now + lease)
        return turn if await self._change_one(taken) else ""

    async def store_renewed(self, owner: str, name: str, turn: str, grant: KeyGrant) -> bool:
        """Keep what was obtained in a turn, on the disk before anyone uses it; False where the key was put anew meanwhile."""
        rows = self._shelf.rows
        async with self._database.read_session() as session:
            mine = select(rows.hosts).where(self._shelf.is_key(owner, name), rows.turn == turn)
            hosts = await session.scalar(mine)  # whoever puts other hosts ends the turn
        if hosts is None:
            return False
        version, sealed = self._seal(owner, name, hosts, grant)
        values = {"key_version": version, "sealed": sealed, "fresh_until": grant.tokens.fresh_until, "lapsed": ""}
        return await self._finish_turn(owner, name, turn, values)

    async def end_renewal(self, owner: str, name: str, turn: str, lapsed: str = "") -> None:
        """End a turn that has brought nothing. ``lapsed``: its owner has to consent again, and why."""
        await self._finish_turn(owner, name, turn, {"lapsed": lapsed} if lapsed else {})

    async def _finish_turn(self, owner: str, name: str, turn: str, values: dict[str, Any]) -> bool:
        mine = self._shelf.is_key(owner, name) & (self._shelf.rows.turn == turn)
        # Another word for the next turn: who has read the row meanwhile has what was before, and must read it again.
        values = {"turn": _generate_turn(), "turn_until": None} | values
        return await self._change_one(update(self._shelf.rows).where(mine).values(**values))

    async def _change_one(self, change: Any) -> bool:
        async with self._database.write_session(durable=True, single=True) as session:
            return cast("CursorResult[Any]", await session.execute(change)).rowcount == 1

    def _seal(self, owner: str, name: str, hosts: Sequence[str], grant: KeyGrant) -> tuple[int, bytes]:
        return self._shelf.seal(self._keys, owner, name, hosts, grant.model_dump_json(), granted=True)

    def _open(self, row: KeyRow) -> StoredGrant:
        opened = self._shelf.open(self._keys, row)
        return StoredGrant(KeyGrant.model_validate_json(opened), row.lapsed, row.turn, row.turn_until)


def _generate_turn() -> str:
    return secrets.token_hex(8)


CONSENT_LIFETIME = timedelta(minutes=10)


class ConsentRequest(Model):
    """What a consent is asked for, and what proves that who comes back is who went. ``verifier``: of PKCE."""

    terms: GrantTerms
    hosts: tuple[str, ...]
    redirect_uri: str
    verifier: str = Field(repr=False)


class PendingConsent(Model):
    """One that came back in time. ``user_id``: who began it."""

    user_id: str
    shelf: ShelfName
    owner_id: str
    name: str
    asked: ConsentRequest


class KeyConsents(Repository):
    """Those of a database."""

    def __init__(self, database: Database, clock: Clock, keys: Keyring) -> None:
        super().__init__(database, clock)
        self._keys = keys

    async def add(self, consent: PendingConsent) -> str:
        """The state to go with; it is not kept. One that was asked for the same key before counts no more."""
        state, at = generate_secret("fpo"), self._clock()
        version, sealed = self._keys.seal(
            consent.asked.model_dump_json(),
            _describe_place(hash_secret(state), consent.user_id, consent.shelf, consent.owner_id, consent.name),
        )
        row = KeyConsentRow(
            state_hash=hash_secret(state), key_version=version, sealed=sealed, expires_at=at + CONSENT_LIFETIME
        )
        row.user_id, row.shelf, row.owner_id, row.name = (
            consent.user_id, consent.shelf, consent.owner_id, consent.name,
        )  # fmt: skip
        same = (
            (KeyConsentRow.shelf == row.shelf)
            & (KeyConsentRow.owner_id == row.owner_id)
            & (KeyConsentRow.name == row.name)
        )
        async with self._database.write_session() as session:
            await session.execute(delete(KeyConsentRow).where(same | (KeyConsentRow.expires_at <= at)))
            session.add(row)
        return state

    async def take(self, state: str) -> PendingConsent | None:
        """What it stands for, once; None where it is unknown, was taken before or is too old. ``SecretError`` where it cannot be opened."""
        rows = KeyConsentRow
        gone = delete(rows).where(rows.state_hash == hash_secret(state)).returning(rows)
        async with self._database.write_session() as session:
            row = await session.scalar(gone)
        if row is None or row.expires_at <= self._clock():
            return None
        asked = ConsentRequest.model_validate_json(
            self._keys.open(row.key_version, row.sealed, _describe_place_of(row))
        )
        return PendingConsent.model_validate(
            {"user_id": row.user_id, "shelf": row.shelf, "owner_id": row.owner_id, "name": row.name, "asked": asked}
        )


def _describe_place(state_hash: str, user_id: str, shelf: str, owner_id: str, name: str) -> str:
    """What a consent is sealed for: whose it is and for which key, so that nobody makes it another's in the rows."""
    return "\n".join(("key consent", state_hash, user_id, shelf, owner_id, name))


def _describe_place_of(row: KeyConsentRow) -> str:
    return _describe_place(row.state_hash, row.user_id, row.shelf, row.owner_id, row.name)
