"""Keys obtained by OAuth: terms and tokens of each grant, sealed together, and pending consents."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, cast

from pydantic import Field
from sqlalchemy import CursorResult, delete, select, update

from server.storage.database import Database
from server.storage.encryption import Keyring
from server.storage.identifiers import generate_secret, hash_secret
from server.storage.repository import Clock, Repository, StoredModel
from server.storage.rows.keys import KeyConsentRow
from server.storage.vault import USER_SHELF, GrantKind, KeyRow, KeyShelf, ShelfName, ToolKey, to_tool_key

ClientAuth = Literal["basic", "post", "none"]


class GrantTerms(StoredModel):
    """How a key is obtained from an authorization server."""

    kind: GrantKind
    token_url: str
    authorize_url: str = ""
    client_id: str
    client_secret: str = Field(default="", repr=False)
    client_auth: ClientAuth = "none"
    """How the client authenticates at the token endpoint."""
    scopes: tuple[str, ...] = ()
    resource: str = ""
    """The resource that the token is for (RFC 8707)."""
    issuer: str = ""
    issuer_told: bool = False
    """The server names itself in its authorization response (RFC 9207)."""


class GrantTokens(StoredModel):
    """The tokens of a grant."""

    access: str = Field(repr=False)
    refresh: str = Field(default="", repr=False)
    fresh_until: datetime | None = None
    """When the access token is renewed, some time before it expires; None where its expiry is unknown."""
    ends_at: datetime | None = None


class KeyGrant(StoredModel):
    """Everything about a grant that is sealed."""

    terms: GrantTerms
    tokens: GrantTokens


@dataclass(frozen=True, slots=True)
class StoredGrant:
    """A grant as it is stored in its row."""

    grant: KeyGrant
    lapsed: str
    """Why the grant needs consent again; empty where it does not."""
    turn: str
    """Changes with each renewal; see :meth:`KeyGrants.claim_renewal`."""
    turn_until: datetime | None


class KeyGrants:
    """Stores the grants of a shelf of the vault."""

    def __init__(self, database: Database, clock: Clock, keys: Keyring, shelf: KeyShelf = USER_SHELF) -> None:
        self._database = database
        self.clock = clock
        self._keys = keys
        self._shelf = shelf

    async def put(self, owner: str, name: str, grant: KeyGrant, hosts: Sequence[str]) -> ToolKey:
        """Store a grant in place of a key of the same name.

        A renewal of the old one that is in progress is discarded.
        """
        row = self._shelf.build_row(owner, name)
        row.key_version, row.sealed = self._seal(owner, name, hosts, grant)
        row.hosts, row.updated_at, row.grant = list(hosts), self.clock(), grant.terms.kind
        row.fresh_until, row.lapsed, row.turn, row.turn_until = grant.tokens.fresh_until, "", _generate_turn(), None
        async with self._database.write_session(durable=True) as session:
            row = await session.merge(row)
        return to_tool_key(row)

    async def get(self, owner: str, name: str) -> StoredGrant | None:
        """Return a grant; None where there is no such key or it was not obtained by a grant.

        Raises:
            SecretError: it cannot be opened.
        """
        async with self._database.read_session() as session:
            row = await session.scalar(select(self._shelf.rows).where(self._shelf.is_key(owner, name)))
        return self._open(row) if row is not None and row.grant is not None else None

    async def claim_renewal(self, owner: str, name: str, stored: StoredGrant, lease: timedelta) -> str:
        """Take the exclusive right to renew the grant that was read, for the time of ``lease``.

        Return its turn, or an empty string where another caller renews it or has renewed it since.
        """
        rows, now, turn = self._shelf.rows, self.clock(), _generate_turn()
        free = rows.turn_until.is_(None) | (rows.turn_until < now)
        unchanged = self._shelf.is_key(owner, name) & (rows.turn == stored.turn) & free
        change = update(rows).where(unchanged).values(turn=turn, turn_until=now + lease)
        return turn if await self._change_one(change) else ""

    async def store_renewed(self, owner: str, name: str, turn: str, grant: KeyGrant) -> bool:
        """Store renewed tokens, on disk before anyone uses them. Return False where the key was replaced meanwhile."""
        rows = self._shelf.rows
        async with self._database.read_session() as session:
            statement = select(rows.hosts).where(self._shelf.is_key(owner, name), rows.turn == turn)
            hosts = await session.scalar(
                statement
            )  # replacing the hosts changes the turn, so these are the current ones
        if hosts is None:
            return False
        version, sealed = self._seal(owner, name, hosts, grant)
        values = {"key_version": version, "sealed": sealed, "fresh_until": grant.tokens.fresh_until, "lapsed": ""}
        return await self._finish_turn(owner, name, turn, values)

    async def end_renewal(self, owner: str, name: str, turn: str, lapsed: str = "") -> None:
        """End a renewal without new tokens. ``lapsed`` tells why the owner must consent again."""
        await self._finish_turn(owner, name, turn, {"lapsed": lapsed} if lapsed else {})

    async def _finish_turn(self, owner: str, name: str, turn: str, values: dict[str, Any]) -> bool:
        is_own = self._shelf.is_key(owner, name) & (self._shelf.rows.turn == turn)
        # A new turn: whoever read the row meanwhile has outdated tokens and must read it again.
        values = {"turn": _generate_turn(), "turn_until": None} | values
        return await self._change_one(update(self._shelf.rows).where(is_own).values(**values))

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
"""How long an authorization server may take to send its user back."""


class ConsentRequest(StoredModel):
    """A request for consent, with the proof that the same client returns."""

    terms: GrantTerms
    hosts: tuple[str, ...]
    redirect_uri: str
    verifier: str = Field(repr=False)
    """The code verifier of PKCE."""


class PendingConsent(StoredModel):
    """A consent that was requested."""

    user_id: str
    """The user who started it."""
    shelf: ShelfName
    """The kind of the key's owner: a user, a source or a model service."""
    owner_id: str
    name: str
    asked: ConsentRequest


class KeyConsents(Repository):
    """Stores pending consents.

    Each is found by the hash of its state, once, for ten minutes, and belongs to one key.
    """

    def __init__(self, database: Database, clock: Clock, keys: Keyring) -> None:
        super().__init__(database, clock)
        self._keys = keys

    async def add(self, consent: PendingConsent) -> str:
        """Store a consent and return its state, of which only the hash is stored.

        An earlier consent for the same key becomes invalid.
        """
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
        same_key = (
            (KeyConsentRow.shelf == row.shelf)
            & (KeyConsentRow.owner_id == row.owner_id)
            & (KeyConsentRow.name == row.name)
        )
        async with self._database.write_session() as session:
            await session.execute(delete(KeyConsentRow).where(same_key | (KeyConsentRow.expires_at <= at)))
            session.add(row)
        return state

    async def take(self, state: str) -> PendingConsent | None:
        """Remove and return the consent of a state; None where it is unknown, used or expired.

        Raises:
            SecretError: it cannot be opened.
        """
        rows = KeyConsentRow
        removal = delete(rows).where(rows.state_hash == hash_secret(state)).returning(rows)
        async with self._database.write_session() as session:
            row = await session.scalar(removal)
        if row is None or row.expires_at <= self._clock():
            return None
        request = ConsentRequest.model_validate_json(
            self._keys.open(row.key_version, row.sealed, _describe_place_of(row))
        )
        return PendingConsent.model_validate(
            {"user_id": row.user_id, "shelf": row.shelf, "owner_id": row.owner_id, "name": row.name, "asked": request}
        )


def _describe_place(state_hash: str, user_id: str, shelf: str, owner_id: str, name: str) -> str:
    """Return what a consent is sealed for: its user and its key, so that nobody assigns it to another by changing the
    row.
    """
    return "\n".join(("key consent", state_hash, user_id, shelf, owner_id, name))


def _describe_place_of(row: KeyConsentRow) -> str:
    return _describe_place(row.state_hash, row.user_id, row.shelf, row.owner_id, row.name)
