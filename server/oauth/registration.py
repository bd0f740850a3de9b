"""A client that registers itself (RFC 7591), where an authorization server lets strangers in."""

from urllib.parse import urlsplit

from pydantic import JsonValue

from agent.execution.json_client import JsonHttpClient
from domain.errors import GrantRefusedError, NoAnswerError
from server.oauth.tokens import shown
from server.storage.key_grants import ClientAuth, GrantTerms

_METHODS: dict[JsonValue, ClientAuth] = {
    "client_secret_basic": "basic",
    "client_secret_post": "post",
    "none": "none",
}


async def registered(exchange: JsonHttpClient, url: str, redirect_uri: str, terms: GrantTerms) -> GrantTerms:
    """The terms with the client that came of it. Without a secret where there is a consent: PKCE is enough for it.

    Raises ``GrantRefusedError``, ``NoAnswerError``, ``ForbiddenAddressError``.
    """
    by_consent = terms.kind == "authorization_code"
    grants: list[JsonValue] = ["authorization_code", "refresh_token"] if by_consent else ["client_credentials"]
    body: dict[str, JsonValue] = {
        "client_name": "Footpath",
        "grant_types": grants,
        "token_endpoint_auth_method": "none" if by_consent else "client_secret_basic",
    }
    if by_consent:
        body |= {"redirect_uris": [redirect_uri], "response_types": ["code"]}
    if terms.scopes:
        body["scope"] = " ".join(terms.scopes)
    answer = await exchange.post_json(url, body)
    host, given = urlsplit(url).hostname or "", answer.body or {}
    client_id, secret = given.get("client_id"), given.get("client_secret", "")
    if answer.status not in (200, 201) or not isinstance(client_id, str) or not client_id:
        error = given.get("error")
        if isinstance(error, str) and answer.status < 500:
            raise GrantRefusedError(f"{host} registers no client: {shown(error)}; register one there by hand", error)
        raise NoAnswerError(f"{host} answered HTTP {answer.status} in place of a client; register one there by hand")
    if not isinstance(secret, str) or len(client_id) > 2000 or len(secret) > 10_000:
        raise NoAnswerError(f"{host} answered a client that cannot be used; register one there by hand")
    method = _METHODS.get(given.get("token_endpoint_auth_method"), "basic" if secret else "none")
    return terms.model_copy(update={"client_id": client_id, "client_secret": secret, "client_auth": method})
