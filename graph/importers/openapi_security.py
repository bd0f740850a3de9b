"""Security schemes of OpenAPI operations as credentials with the names of their secrets."""

import re
from typing import Any, Literal

from domain.tool import Credential, OAuthFlow
from graph.importers.openapi_nodes import Schema, to_list, to_mapping
from graph.importers.openapi_schema import DanglingReferenceError, SchemaResolver, UnsupportedError

_PLACES: dict[object, Literal["header", "query", "cookie"]] = {"header": "header", "query": "query", "cookie": "cookie"}
_GRANTS: dict[str, Literal["authorization_code", "client_credentials"]] = {
    "authorizationCode": "authorization_code",
    "clientCredentials": "client_credentials",
}
_SCOPE = re.compile(r"[!#-\[\]-~]{1,200}")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def build_secret_name(toolset: str, scheme: str) -> str:
    """Return the name of a security scheme's secret: ``Rates Pro`` and ``apiKey`` give ``rates_pro_apikey``."""
    return "_".join(re.sub(r"[^a-z0-9]+", "_", part.lower()).strip("_") for part in (toolset, scheme))


def collect_credentials(
    schemas: SchemaResolver, document: Schema, operation: Schema, toolset: str
) -> tuple[Credential, ...]:
    """Return the credentials of the first authentication alternative that can be sent.

    An operation's ``security`` replaces the document's. All schemes of one alternative are sent together. The
    credentials are optional if anonymous calls are allowed, too.

    Raises:
        UnsupportedError: no alternative can be sent, and anonymous calls are not allowed.
    """
    security = operation["security"] if "security" in operation else document.get("security")
    alternatives = [to_mapping(way) for way in to_list(security)]
    if not alternatives:
        return ()
    anonymous = {} in alternatives
    problems: list[str] = []
    for way in (way for way in alternatives if way):
        try:
            credentials = _merge_by_place(
                [_build_credential(schemas, document, name, toolset, to_list(way[name]), not anonymous) for name in way]
            )
        except UnsupportedError as problem:
            problems.append(str(problem))
        else:
            return credentials
    if anonymous:
        return ()
    raise UnsupportedError("it cannot be authenticated: " + "; ".join(dict.fromkeys(problems)))


def build_authorization(toolset: str, *, required: bool) -> Credential:
    """Return a declared header parameter ``Authorization``, which belongs in ``security``, as a credential."""
    return Credential(secret=build_secret_name(toolset, "authorization"), required=required)


def _build_credential(
    schemas: SchemaResolver, document: Schema, name: str, toolset: str, scopes: list[Any], required: bool
) -> Credential:
    schemes = to_mapping(to_mapping(document.get("components")).get("securitySchemes"))
    if name not in schemes:
        raise UnsupportedError(f"the security scheme {name[:100]} is not declared; declare it, or take it out")
    try:
        scheme = schemas.follow(schemes[name])
    except DanglingReferenceError as error:
        raise UnsupportedError(f"the security scheme {name[:100]}: {error}") from error
    secret = build_secret_name(toolset, name)
    kind, http_scheme = scheme.get("type"), str(scheme.get("scheme")).lower()
    if kind == "apiKey":
        place, field = _PLACES.get(str(scheme.get("in"))), scheme.get("name")
        if place is None or not isinstance(field, str) or not field or not _is_sendable(place, field):
            raise UnsupportedError(f"{name[:100]} is a key in {str(scheme.get('in'))[:40]} called {str(field)[:40]!r}")
        return Credential(secret=secret, place=place, name=field, required=required)
    if kind in ("oauth2", "openIdConnect") or (kind == "http" and http_scheme == "bearer"):
        flows = _build_flows(to_mapping(scheme.get("flows")), scopes) if kind == "oauth2" else ()
        return Credential(secret=secret, prefix="Bearer ", required=required, flows=flows)
    if kind == "http" and http_scheme == "basic":
        return Credential(secret=secret, basic=True, required=required)
    raise UnsupportedError(
        f"{name[:100]} is of type {str(kind)[:40]}{f' {http_scheme[:40]}' if kind == 'http' else ''}, which cannot be sent; declare apiKey, bearer, basic or oauth2 instead"
    )


def _build_flows(flows: Schema, scopes: list[Any]) -> tuple[OAuthFlow, ...]:
    """Return the OAuth flows that can be used.

    The scopes are those that the operation needs; if it names none, all that the flow has.
    """
    usable: list[OAuthFlow] = []
    for name, grant in _GRANTS.items():
        flow = to_mapping(flows.get(name))
        flow_scopes = tuple(one for one in scopes or list(to_mapping(flow.get("scopes"))) if _is_scope(one))
        token, authorize = _validate_url(flow.get("tokenUrl")), _validate_url(flow.get("authorizationUrl"))
        if token and (authorize or grant == "client_credentials"):
            usable.append(OAuthFlow(grant=grant, token_url=token, authorize_url=authorize, scopes=flow_scopes[:100]))
    return tuple(usable)


def _is_scope(value: object) -> bool:
    return isinstance(value, str) and _SCOPE.fullmatch(value) is not None


def _validate_url(value: object) -> str:
    return value if isinstance(value, str) and re.fullmatch(r"https?://[!-~]{1,1990}", value) else ""


def _is_sendable(place: str, field: str) -> bool:
    return place == "query" or _HEADER_NAME.fullmatch(field) is not None


def _merge_by_place(credentials: list[Credential]) -> tuple[Credential, ...]:
    """Return one credential for each place, with all the ways to obtain it.

    Documents describe one token by several schemes: one for each OAuth flow, or a key called ``Authorization`` beside
    ``bearer``. Of two such schemes, the one that says how its value is written is kept.

    Raises:
        UnsupportedError: two schemes write different values into one place.
    """
    merged: dict[tuple[str, str], Credential] = {}
    for one in credentials:
        place = (one.place, one.name.lower() if one.place == "header" else one.name)
        merged[place] = _merge_credentials(merged[place], one) if place in merged else one
    return tuple(merged.values())


def _merge_credentials(first: Credential, second: Credential) -> Credential:
    candidates = [one for one in (first, second) if one.prefix or one.basic] or [first]
    if any((one.prefix, one.basic) != (candidates[0].prefix, candidates[0].basic) for one in candidates):
        raise UnsupportedError(
            f"{first.secret} and {second.secret} are both sent as {first.name}; name them as alternatives in 'security'"
        )
    flows = tuple(dict.fromkeys((*first.flows, *second.flows)))
    return candidates[0].model_copy(update={"flows": flows})
