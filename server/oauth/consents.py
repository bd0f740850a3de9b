"""Obtaining a key: by the user's consent at the authorization server, or by the client's own credentials."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from agent.execution.json_client import JsonHttpClient
from domain.errors import GrantRefusedError, UsageError
from server.oauth.pkce import challenge_of, new_verifier
from server.oauth.renewal import client_credentials_form
from server.oauth.tokens import ask_for_tokens, shown
from server.storage.key_grants import ConsentRequest, GrantTerms, KeyConsents, KeyGrant, KeyGrants, PendingConsent
from server.storage.vault import ShelfName, ToolKey
from server.watching.secrecy import conceal


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """Which key: of whom, on which shelf."""

    shelf: ShelfName
    owner_id: str
    name: str


@dataclass(frozen=True, slots=True)
class Returned:
    """What somebody came back with from an authorization server."""

    state: str
    code: str = ""
    error: str = ""
    issuer: str = ""


class Consents:
    """``grants``: where keys are kept, by shelf."""

    def __init__(self, kept: KeyConsents, grants: Mapping[ShelfName, KeyGrants], exchange: JsonHttpClient) -> None:
        self._kept = kept
        self._grants = grants
        self._exchange = exchange

    async def begin(
        self, user_id: str, key: KeyPlace, terms: GrantTerms, hosts: Sequence[str], redirect_uri: str
    ) -> str:
        """The address to open. The key stays what it is until its user has come back."""
        verifier = new_verifier()
        asked = ConsentRequest(terms=terms, hosts=tuple(hosts), redirect_uri=redirect_uri, verifier=verifier)
        consent = PendingConsent(user_id=user_id, shelf=key.shelf, owner_id=key.owner_id, name=key.name, asked=asked)
        state = await self._kept.add(consent)
        query = {
            "response_type": "code",
            "client_id": terms.client_id,
            "redirect_uri": redirect_uri,
            "state": state,
            "code_challenge": challenge_of(verifier),
            "code_challenge_method": "S256",
        }
        if terms.scopes:
            query["scope"] = " ".join(terms.scopes)
        if terms.resource:
            query["resource"] = terms.resource
        return f"{terms.authorize_url}{'&' if '?' in terms.authorize_url else '?'}{urlencode(query)}"

    async def obtain(self, key: KeyPlace, terms: GrantTerms, hosts: Sequence[str]) -> ToolKey:
        """By the client's own credentials, at once. Raises as :func:`ask_for_tokens`; nothing is kept then."""
        return await self._exchanged(key, terms, hosts, client_credentials_form(terms))

    async def take(self, returned: Returned) -> PendingConsent:
        """What somebody was sent for. It counts once, whatever comes of it.

        Raises ``UsageError`` where it is unknown, used or too old.
        """
        consent = await self._kept.take(returned.state)
        if consent is None:
            raise UsageError(
                "this consent is unknown, was used already or is older than ten minutes; begin again where the key is kept"
            )
        return consent

    async def complete(self, consent: PendingConsent, returned: Returned) -> ToolKey:
        """Keep the key. Raises ``GrantRefusedError``, ``UsageError``, ``NoAnswerError``, ``ForbiddenAddressError``."""
        terms = consent.asked.terms
        if terms.issuer and (returned.issuer or terms.issuer_told) and returned.issuer != terms.issuer:
            raise GrantRefusedError(
                "another authorization server has answered than the one that was asked; begin again"
            )
        if returned.error:
            raise GrantRefusedError(
                f"the authorization server gave no consent: {shown(returned.error)}", returned.error
            )
        if not returned.code:
            raise UsageError("the authorization server sent no code; begin again")
        conceal(returned.code)
        form = {
            "grant_type": "authorization_code",
            "code": returned.code,
            "redirect_uri": consent.asked.redirect_uri,
            "code_verifier": consent.asked.verifier,
        }
        key = KeyPlace(consent.shelf, consent.owner_id, consent.name)
        return await self._exchanged(key, terms, consent.asked.hosts, form)

    async def _exchanged(
        self, key: KeyPlace, terms: GrantTerms, hosts: Sequence[str], form: Mapping[str, str]
    ) -> ToolKey:
        grants = self._grants[key.shelf]
        tokens = await ask_for_tokens(self._exchange, terms, form, grants.clock())
        conceal(tokens.access)
        conceal(tokens.refresh)
        return await grants.put(key.owner_id, key.name, KeyGrant(terms=terms, tokens=tokens), hosts)
