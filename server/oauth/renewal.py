"""Fresh access tokens: renewed once at a time, in this process and over all that share the rows, and kept before they are used."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta

from agent.execution.json_client import JsonHttpClient
from domain.errors import ForbiddenAddressError, GrantRefusedError, NoAnswerError, SecretError
from server.oauth.tokens import ask_for_tokens
from server.storage.key_grants import GrantTerms, GrantTokens, KeyGrant, KeyGrants, StoredGrant

_TURN = timedelta(seconds=30)
"""How long one asker may take to renew; longer than a question to a token address lasts."""
_LOOKS = 160
"""How often another's turn is looked at before it is given up, each after ``_PAUSE`` seconds."""
_PAUSE = 0.2
_REFUSALS_APART = 60.0
"""Seconds within which a host's refusals of one key cause one renewal: it may refuse whatever it is sent."""


class Renewals:
    """Of the keys of a shelf. ``consent``: how the owner of a key gives consent again, in words."""

    def __init__(
        self,
        grants: KeyGrants,
        exchange: JsonHttpClient,
        consent: Callable[[str, str], str],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._grants = grants
        self._exchange = exchange
        self._consent = consent
        self._sleep = sleep
        self._under_way: dict[tuple[str, str], asyncio.Task[GrantTokens]] = {}
        self._refused_at: dict[tuple[str, str], float] = {}

    async def token(self, owner: str, name: str) -> str | None:
        """An access token that counts; None where the key is none that is obtained. ``SecretError`` says what to do where there is none."""
        kept = await self._grants.get(owner, name)
        if kept is None:
            return None
        self._check(owner, name, kept)
        fresh_until = kept.grant.tokens.fresh_until
        if fresh_until is None or self._grants.clock() < fresh_until:
            return kept.grant.tokens.access
        return (await self._once(owner, name, kept.grant.tokens.access)).access

    async def refused(self, owner: str, name: str, value: str) -> bool:
        """A host did not take this token: whether there is another one now. ``SecretError`` where there was to be one, and is none."""
        kept = await self._grants.get(owner, name)
        if kept is None or kept.lapsed:
            return False
        if kept.grant.tokens.access != value:
            return True
        if not _renewable(kept.grant):
            return False
        if (owner, name) not in self._under_way:
            last = self._refused_at.get((owner, name))
            if last is not None and time.monotonic() - last < _REFUSALS_APART:
                kept = await self._grants.get(owner, name)  # it may have been renewed while the rows were read
                return kept is not None and not kept.lapsed and kept.grant.tokens.access != value
            self._refused_at[owner, name] = time.monotonic()
        return (await self._once(owner, name, value)).access != value

    def _check(self, owner: str, name: str, kept: StoredGrant) -> None:
        if kept.lapsed:
            raise SecretError(f"the key {name} needs consent again ({kept.lapsed}): {self._consent(owner, name)}")

    async def _once(self, owner: str, name: str, stale: str) -> GrantTokens:
        """One renewal for all who ask meanwhile. It goes on when who asked is cancelled: a used refresh token would be lost."""
        task = self._under_way.get((owner, name))
        if task is None:
            task = asyncio.create_task(self._renew(owner, name, stale))
            self._under_way[owner, name] = task
            task.add_done_callback(lambda _: self._under_way.pop((owner, name), None))
        return await asyncio.shield(task)

    async def _renew(self, owner: str, name: str, stale: str) -> GrantTokens:
        for _ in range(_LOOKS):
            kept = await self._grants.get(owner, name)
            if kept is None:
                raise SecretError(f"the key {name} was removed or replaced meanwhile; try again")
            self._check(owner, name, kept)
            if kept.grant.tokens.access != stale:
                return kept.grant.tokens
            turn = await self._grants.claim_renewal(owner, name, kept, _TURN)
            if turn and (tokens := await self._in_turn(owner, name, turn, kept.grant)):
                return tokens
            if not turn:
                await self._sleep(_PAUSE)
        raise SecretError(f"the key {name} is being renewed elsewhere and does not come; try again in a moment")

    async def _in_turn(self, owner: str, name: str, turn: str, grant: KeyGrant) -> GrantTokens | None:
        """What is obtained, once it is kept; None where the key was put anew meanwhile."""
        if not _renewable(grant):
            why = "its access token has ended, and it came without a refresh token"
            raise await self._lapsed(owner, name, turn, why)
        try:
            tokens = await ask_for_tokens(self._exchange, grant.terms, _form(grant), self._grants.clock())
        except GrantRefusedError as error:
            if error.reason == "invalid_grant" and grant.terms.kind == "authorization_code":
                raise await self._lapsed(owner, name, turn, str(error)) from error
            await self._grants.end_renewal(owner, name, turn)
            raise SecretError(f"the key {name} was not renewed: {error}; {self._consent(owner, name)}") from error
        except (NoAnswerError, ForbiddenAddressError) as error:
            await self._grants.end_renewal(owner, name, turn)
            ends_at = grant.tokens.ends_at
            if ends_at is not None and self._grants.clock() < ends_at:
                return grant.tokens
            raise SecretError(f"the key {name} was not renewed: {error}; try again later") from error
        tokens = tokens.model_copy(update={"refresh": tokens.refresh or grant.tokens.refresh})
        kept = await self._grants.store_renewed(owner, name, turn, KeyGrant(terms=grant.terms, tokens=tokens))
        return tokens if kept else None

    async def _lapsed(self, owner: str, name: str, turn: str, why: str) -> SecretError:
        await self._grants.end_renewal(owner, name, turn, lapsed=why)
        return SecretError(f"the key {name} needs consent again ({why}): {self._consent(owner, name)}")


def _renewable(grant: KeyGrant) -> bool:
    return bool(grant.tokens.refresh) or grant.terms.kind == "client_credentials"


def _form(grant: KeyGrant) -> dict[str, str]:
    if grant.terms.kind == "client_credentials":
        return client_credentials_form(grant.terms)
    return {"grant_type": "refresh_token", "refresh_token": grant.tokens.refresh}


def client_credentials_form(terms: GrantTerms) -> dict[str, str]:
    """What a client asks for in its own name."""
    scope = {"scope": " ".join(terms.scopes)} if terms.scopes else {}
    return {"grant_type": "client_credentials"} | scope
