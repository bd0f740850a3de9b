"""What an API says of who gives tokens for it (RFC 9728), and what that authorization server says of itself (RFC 8414, OpenID Connect)."""

import logging
import re
from collections.abc import Sequence
from typing import cast
from urllib.parse import urlsplit

from pydantic import Field, JsonValue

from agent.execution.json_client import JsonHttpClient, JsonHttpResponse
from domain.errors import NoAnswerError
from domain.model import JsonObject, Model
from server.oauth.addresses import checked_endpoint, origin_of
from server.oauth.challenges import parse_challenges
from server.storage.key_grants import ClientAuth
from server.storage.vault import GrantKind

_log = logging.getLogger(__name__)
_SCOPE = re.compile(r"[!#-\[\]-~]{1,200}")
_MOST_SCOPES = 100
_MOST_PLACES = 3
"""Addresses of metadata that are taken from one refusal."""
_INITIALIZE: JsonObject = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "footpath", "version": "1"}},
}
"""What a client of the Model Context Protocol says first, by POST; its server refuses it where it wants a token."""
_MCP_ACCEPT = {"Accept": "application/json, text/event-stream"}
_AUTH: dict[JsonValue, ClientAuth] = {"none": "none", "client_secret_basic": "basic", "client_secret_post": "post"}
_GRANTS: tuple[GrantKind, ...] = ("authorization_code", "client_credentials")


class Discovered(Model):
    """``told``: what its user should know, in sentences."""

    resource: str = Field(description="What tokens are for, to be sent along; empty where the API names nothing.")
    issuer: str
    issuer_told: bool
    authorize_url: str
    token_url: str
    registration_url: str = Field(description="Where clients register themselves; empty where they do not.")
    scopes: tuple[str, ...]
    grants: tuple[GrantKind, ...]
    client_auths: tuple[ClientAuth, ...]
    told: tuple[str, ...]


async def discover(exchange: JsonHttpClient, address: str) -> Discovered:
    """Raises ``NoAnswerError`` where nothing that can be used is found, ``ForbiddenAddressError``."""
    protected = await _protected_resource(exchange, address)
    if protected is None:
        issuers, resource, scopes = [address, origin_of(address)], "", ()
    else:
        issuers, resource, scopes = (
            _texts(protected.get("authorization_servers")),
            str(protected["resource"]),
            _scopes(protected),
        )
    for issuer in dict.fromkeys(issuers[:5]):
        metadata = await _metadata(exchange, _endpoint(issuer))
        if metadata is not None:
            return _discovered(metadata, resource, scopes)
    raise NoAnswerError(
        f"{urlsplit(address).hostname} names no authorization server that says where tokens are given; enter its addresses by hand"
    )


async def _protected_resource(exchange: JsonHttpClient, address: str) -> JsonObject | None:
    """The API's word on itself: where its refusal says, or where such a word stands."""
    places = await _told_by_refusal(exchange, address)
    origin, path = origin_of(address), urlsplit(address).path.rstrip("/")
    known = f"{origin}/.well-known/oauth-protected-resource"
    for place in dict.fromkeys([*places, known + path, known]):
        found = await _looked_up(exchange, place)
        if (
            found is not None
            and _is_about(found.get("resource"), address)
            and _texts(found.get("authorization_servers"))
        ):
            return found
    return None


async def _told_by_refusal(exchange: JsonHttpClient, address: str) -> list[str]:
    """Return where the API's refusal says that its metadata are (RFC 9728, 5.1).

    It is asked by GET. Where that is refused otherwise, it may be an MCP server, which is spoken to by POST: its ``initialize``
    changes nothing, and is sent without a key. An API that answers a GET is not posted to.
    """
    try:
        answer = await exchange.get(address)
        if places := _metadata_places(answer):
            return places
        if not 400 <= answer.status < 500:
            return []
    except (
        NoAnswerError
    ) as error:  # a stream without end, or a redirect: it may serve what it says of itself all the same
        _log.debug("%s", error)
    try:
        return _metadata_places(await exchange.post_json(address, _INITIALIZE, _MCP_ACCEPT))
    except NoAnswerError as error:
        _log.debug("%s", error)
        return []


def _metadata_places(answer: JsonHttpResponse) -> list[str]:
    if answer.status != 401:
        return []
    told = [challenge.parameters.get("resource_metadata", "") for challenge in parse_challenges(answer.challenge)]
    return [_endpoint(place) for place in dict.fromkeys(told) if place][:_MOST_PLACES]


def _is_about(resource: JsonValue, address: str) -> bool:
    """Whether an API's word is about itself: nobody is to get tokens for another's by it."""
    if not isinstance(resource, str) or origin_of(resource) != origin_of(address):
        return False
    inner, outer = urlsplit(address).path.rstrip("/") + "/", urlsplit(resource).path.rstrip("/") + "/"
    return inner.startswith(outer)


async def _metadata(exchange: JsonHttpClient, issuer: str) -> JsonObject | None:
    origin, path = origin_of(issuer), urlsplit(issuer).path.rstrip("/")
    places = (
        f"{origin}/.well-known/oauth-authorization-server{path}",
        f"{origin}/.well-known/openid-configuration{path}",
        f"{origin}{path}/.well-known/openid-configuration",
    )
    for place in dict.fromkeys(places):
        found = await _looked_up(exchange, place)
        if found is None or not isinstance(found.get("token_endpoint"), str):
            continue
        if str(found.get("issuer")).rstrip("/") != issuer.rstrip("/"):
            raise NoAnswerError(f"what stands at {place} is about another authorization server than {issuer}")
        return found
    return None


async def _looked_up(exchange: JsonHttpClient, url: str) -> JsonObject | None:
    """What stands there; None where nothing does. What is not reached may stand at the next place."""
    answer = await exchange.get(url)
    return answer.body if answer.status == 200 else None


def _discovered(metadata: JsonObject, resource: str, scopes: tuple[str, ...]) -> Discovered:
    authorize_url = _optional(metadata.get("authorization_endpoint"))
    supported = _texts(metadata.get("grant_types_supported")) or ["authorization_code"]
    grants: tuple[GrantKind, ...] = tuple(kind for kind in _GRANTS if kind in supported)
    told: list[str] = []
    if authorize_url and "S256" not in _texts(metadata.get("code_challenge_methods_supported")):
        told.append("it does not say that it checks proof keys (PKCE, S256); they are sent all the same")
    if not grants:
        told.append("it names neither authorization_code nor client_credentials among its grants")
    methods = _texts(metadata.get("token_endpoint_auth_methods_supported")) or ["client_secret_basic"]
    return Discovered(
        resource=resource,
        issuer=str(metadata["issuer"]),
        issuer_told=metadata.get("authorization_response_iss_parameter_supported") is True,
        authorize_url=authorize_url,
        token_url=_endpoint(str(metadata["token_endpoint"])),
        registration_url=_optional(metadata.get("registration_endpoint")),
        scopes=scopes or _scopes(metadata),
        grants=grants,
        client_auths=tuple(dict.fromkeys(_AUTH[one] for one in methods if one in _AUTH)),
        told=tuple(told),
    )


def _optional(value: JsonValue) -> str:
    return _endpoint(value) if isinstance(value, str) and value else ""


def _endpoint(url: str) -> str:
    """A stranger's address, as one that tokens may be asked at."""
    try:
        return checked_endpoint(url)
    except ValueError as error:
        raise NoAnswerError(f"an address of the authorization server cannot be used: {url[:200]!r} {error}") from None


def _scopes(found: JsonObject) -> tuple[str, ...]:
    return tuple(one for one in _texts(found.get("scopes_supported"))[:_MOST_SCOPES] if _SCOPE.fullmatch(one))


def _texts(value: JsonValue) -> list[str]:
    return (
        [one for one in cast("Sequence[JsonValue]", value) if isinstance(one, str)] if isinstance(value, list) else []
    )
