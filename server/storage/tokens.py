"""Sessions and their tokens. A refresh token is valid once; a repeated one ends its session (RFC 9700, section 4.14).

Everything that is not clearly valid is refused: unknown, expired, revoked, of the wrong kind, of a disabled
account.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, cast

from pydantic import Field
from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session as RowSession

from domain.errors import UnauthenticatedError
from server.storage.accounts import User
from server.storage.database import Database
from server.storage.identifiers import generate_id, generate_secret, hash_secret
from server.storage.repository import Clock, Repository, StoredModel, to_model
from server.storage.rows.accounts import SessionRow, TokenRow, UserRow
from server.storage.rows.runs import RunRow
from server.storage.runs import end_runs
from server.storage.statement_chain import StatementChain

Scope = Literal["ask", "read", "run_changes", "administer"]
"""What a program's token may do; an operation needs one of them (``server/token_scopes.py``)."""
DEFAULT_SCOPES: tuple[Scope, ...] = ("ask", "read")
_REFUSED = "this token does not count any more; log in again"


class TokenPair(StoredModel):
    """The tokens of a session, given out once. Their values are hidden in ``repr``."""

    access_token: str = Field(repr=False)
    refresh_token: str = Field(repr=False)
    access_expires_at: datetime
    session_expires_at: datetime


class TokenHolder(NamedTuple):
    """The user or program that an access token belongs to."""

    user: User
    session_id: str
    program: str | None
    """The label of a program's token; None for a user who has logged in."""
    scopes: frozenset[Scope] | None
    """The scopes of a program's token; None for a user who has logged in, who may do what the account may."""


class Session(StoredModel):
    """A log-in of a user, or a program's token."""

    id: str
    label: str
    """The client, as it described itself."""
    created_at: datetime
    renewed_at: datetime
    """When its newest token was made; tokens are renewed while the session is used."""
    program: bool = False
    """It belongs to a program's token, which is not renewed."""
    expires_at: datetime
    scopes: tuple[Scope, ...] = Field(default=(), description="Of a program's token: what it may do.")


class SessionTokens(Repository):
    """Stores sessions with the hashes of their tokens.

    ``access`` is the lifetime of an access token, ``session`` the longest time for which a user stays logged in.
    """

    def __init__(self, database: Database, clock: Clock, access: timedelta, session: timedelta) -> None:
        super().__init__(database, clock)
        self._access = access
        self._session = session

    async def open_session(self, user_id: str, label: str = "") -> TokenPair:
        """Open a session with its first tokens; sessions that expired more than a day ago are deleted."""
        at = self._clock()
        row: dict[str, Any] = {
            "id": generate_id(),
            "user_id": user_id,
            "label": label[:200],
            "created_at": at,
            "expires_at": at + self._session,
            "program": False,
            "scopes": list[str](),
        }
        pair, tokens = self._build_pair(row["id"], row["expires_at"])

        def open_session(session: RowSession) -> None:
            chain = StatementChain(session)
            chain.add(delete(SessionRow).where(SessionRow.expires_at < at - timedelta(days=1)))
            chain.add(insert(SessionRow).values(row))
            chain.add(insert(TokenRow).values(tokens))
            chain.run()

        await self._database.write(open_session, single=True)
        return pair

    async def open_program_session(
        self, user_id: str, label: str, lifetime: timedelta, scopes: Sequence[Scope] = DEFAULT_SCOPES
    ) -> tuple[str, datetime]:
        """Open a session for a program. Return its access token and expiry.

        The token cannot be renewed and is valid as long as the session.
        """
        at, access = self._clock(), generate_secret("fpa")
        row = SessionRow(
            id=generate_id(), user_id=user_id, label=label[:200], created_at=at, expires_at=at + lifetime, program=True,
            scopes=sorted(set(scopes)),
        )  # fmt: skip
        token = TokenRow(
            hash=hash_secret(access), session_id=row.id, kind="access", created_at=at, expires_at=row.expires_at
        )
        async with self._database.write_session() as session:
            session.add(row)
            await session.flush()
            session.add(token)
        return access, row.expires_at

    async def authenticate(self, access_token: str) -> TokenHolder:
        """Return the holder of an access token.

        Raises:
            UnauthenticatedError: the token is not valid.
        """
        at = self._clock()
        statement = (
            select(UserRow, SessionRow)
            .join(SessionRow, SessionRow.user_id == UserRow.id)
            .join(TokenRow, TokenRow.session_id == SessionRow.id)
            .where(TokenRow.hash == hash_secret(access_token), TokenRow.kind == "access", TokenRow.expires_at > at)
            .where(SessionRow.revoked_at.is_(None), SessionRow.expires_at > at, UserRow.disabled_at.is_(None))
        )
        row = await self._database.read(lambda session: session.execute(statement).one_or_none())
        if row is None:
            raise UnauthenticatedError(_REFUSED)
        session_row = row[1]
        if not session_row.program:
            return TokenHolder(to_model(User, row[0]), session_row.id, None, None)
        return TokenHolder(
            to_model(User, row[0]), session_row.id, session_row.label, frozenset(_to_scopes(session_row))
        )

    async def refresh(self, refresh_token: str) -> TokenPair:
        """Exchange a refresh token for new tokens.

        Of two clients that exchange the same one, one is a thief or a copy: nobody can tell which, so the session
        ends for both.

        Raises:
            UnauthenticatedError: the token is not valid.
        """
        at, key = self._clock(), hash_secret(refresh_token)
        # One statement decides which of several concurrent exchanges was first.
        unused = (TokenRow.hash == key) & (TokenRow.kind == "refresh") & TokenRow.used_at.is_(None)
        exchange = update(TokenRow).where(unused, TokenRow.expires_at > at).values(used_at=at)
        pair: TokenPair | None = None
        async with self._database.write_session() as session:
            session_id = await session.scalar(exchange.returning(TokenRow.session_id))
            if session_id is None:
                repeated = select(TokenRow.session_id).where(TokenRow.hash == key, TokenRow.used_at.is_not(None))
                if reused_session := await session.scalar(repeated):
                    await self._revoke_where(session, SessionRow.id == reused_session, "a refresh token came back")
            elif (expires := await self._lock_open_session(session, session_id, at)) is not None:
                await session.execute(
                    delete(TokenRow).where(TokenRow.session_id == session_id, TokenRow.expires_at < at)
                )
                pair, tokens = self._build_pair(session_id, expires)
                await session.execute(insert(TokenRow), tokens)
        if pair is None:
            raise UnauthenticatedError(_REFUSED)
        return pair

    async def list_sessions(self, user_id: str) -> list[Session]:
        """List a user's valid sessions, the newest first."""
        is_open = (SessionRow.user_id == user_id) & SessionRow.revoked_at.is_(None)
        newest = select(func.max(TokenRow.created_at)).where(TokenRow.session_id == SessionRow.id).scalar_subquery()
        statement = select(SessionRow, newest).where(is_open, SessionRow.expires_at > self._clock())
        async with self._database.read_session() as session:
            rows = await session.execute(statement.order_by(SessionRow.id.desc()))
            return [_to_session(row, renewed) for row, renewed in rows]

    async def revoke(self, user_id: str, session_id: str, reason: str) -> bool:
        """End one of this user's sessions; return whether it was open."""
        async with self._database.write_session(single=True) as session:
            return (
                await self._revoke_where(
                    session, (SessionRow.user_id == user_id) & (SessionRow.id == session_id), reason
                )
                > 0
            )

    async def revoke_with_runs(self, user_id: str, session_id: str | None, reason: str) -> bool:
        """End one of a user's sessions, or all (None), and the runs started in them; return whether one was open."""
        sessions, runs = SessionRow.user_id == user_id, RunRow.user_id == user_id
        if session_id is not None:
            sessions, runs = sessions & (SessionRow.id == session_id), runs & (RunRow.session_id == session_id)
        async with self._database.write_session() as session:
            # Lock the user's row first, as Runs.add does, so that no run is added in a session that is ending.
            await session.execute(select(UserRow.id).where(UserRow.id == user_id).with_for_update())
            ended = await self._revoke_where(session, sessions, reason)
            if ended or session_id is None:
                await end_runs(session, runs, reason, self._clock())
            return ended > 0

    async def get_roles(self, session_ids: Collection[str]) -> dict[str, str]:
        """Return the roles of the users of those sessions that are still valid, by session id."""
        is_valid = (
            SessionRow.revoked_at.is_(None) & (SessionRow.expires_at > self._clock()) & UserRow.disabled_at.is_(None)
        )
        joined = select(SessionRow.id, UserRow.role).join(UserRow, UserRow.id == SessionRow.user_id)
        statement = joined.where(SessionRow.id.in_(list(session_ids)), is_valid)
        return await self._database.read(lambda session: {row[0]: row[1] for row in session.execute(statement)})

    async def revoke_all(self, user_id: str, reason: str, *, except_session: str = "") -> int:
        """End all of a user's sessions except ``except_session``; return how many."""
        async with self._database.write_session(single=True) as session:
            return await self._revoke_where(
                session, (SessionRow.user_id == user_id) & (SessionRow.id != except_session), reason
            )

    async def _revoke_where(self, session: AsyncSession, condition: "object", why: str) -> int:
        """Revoke the open sessions that match the condition ``condition``; return how many."""
        statement = update(SessionRow).where(condition, SessionRow.revoked_at.is_(None))  # pyright: ignore[reportArgumentType]
        change = statement.values(revoked_at=self._clock(), revoked_why=why).returning(SessionRow.id)
        return len((await session.scalars(change)).all())

    async def _lock_open_session(self, session: AsyncSession, session_id: str, at: datetime) -> datetime | None:
        """Lock a session to the end of the transaction; return when it expires, or None if it is not valid."""
        statement = (
            select(SessionRow.expires_at)
            .join(UserRow, UserRow.id == SessionRow.user_id)
            .where(SessionRow.id == session_id, SessionRow.revoked_at.is_(None), SessionRow.expires_at > at)
            .where(UserRow.disabled_at.is_(None))
            # Serializes with a concurrent revocation.
            .with_for_update(of=SessionRow)
        )
        return await session.scalar(statement)

    def _build_pair(self, session_id: str, expires_at: datetime) -> tuple[TokenPair, list[dict[str, Any]]]:
        """Build new tokens of a session and the rows to insert for them."""
        at = self._clock()
        access_until = min(at + self._access, expires_at)
        access, refresh = generate_secret("fpa"), generate_secret("fpr")
        rows = [
            {
                "hash": hash_secret(secret),
                "session_id": session_id,
                "kind": kind,
                "created_at": at,
                "expires_at": expires,
            }
            for secret, kind, expires in ((access, "access", access_until), (refresh, "refresh", expires_at))
        ]
        pair = TokenPair(
            access_token=access, refresh_token=refresh, access_expires_at=access_until, session_expires_at=expires_at
        )
        return pair, rows


def _to_session(row: SessionRow, renewed: datetime | None) -> Session:
    return Session(
        id=row.id,
        label=row.label,
        created_at=row.created_at,
        renewed_at=renewed or row.created_at,
        program=row.program,
        expires_at=row.expires_at,
        scopes=_to_scopes(row),
    )


def _to_scopes(row: SessionRow) -> tuple[Scope, ...]:
    """Return the scopes of a row; nothing but this module writes them."""
    return tuple(cast("list[Scope]", row.scopes))
