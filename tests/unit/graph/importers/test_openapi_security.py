"""Security schemes to credentials: names of secrets, the way that is chosen, what is reported."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent.execution.secret_store import to_variable_name
from domain.errors import BrokenInputError
from domain.tool import Credential, OAuthFlow, ToolDoc
from graph.importers.openapi import read_openapi
from graph.importers.openapi_security import build_secret_name

SCHEMES: dict[str, Any] = {
    "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "sid": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "login": {"type": "http", "scheme": "Basic"},
    "token": {"type": "http", "scheme": "BEARER"},
    "flow": {"type": "oauth2", "flows": {}},
    "tls": {"type": "mutualTLS"},
    "alias": {"$ref": "#/components/securitySchemes/key"},
}


def only(folder: Path, operation: dict[str, Any], **more: Any) -> ToolDoc:
    path = folder / "api.json"
    told = {"openapi": "3.1.0", "info": {"title": "Rates Pro!"}, "components": {"securitySchemes": SCHEMES}, **more}
    path.write_text(json.dumps({**told, "paths": {"/x": {"get": operation}}}))
    (doc,) = read_openapi(path)
    return doc


@pytest.mark.parametrize(
    ("toolset", "scheme", "name"),
    [
        ("Rates Pro", "APIKeyHeader", "rates_pro_apikeyheader"),
        ("Spotify Web API", "oauth_2_0", "spotify_web_api_oauth_2_0"),
        ("a/b (c)", "x-y", "a_b_c_x_y"),
    ],
)
def test_names_of_secrets(toolset: str, scheme: str, name: str) -> None:
    assert build_secret_name(toolset, scheme) == name
    assert to_variable_name(name) == f"FOOTPATH_SECRET_{name.upper()}"


WAYS: list[tuple[list[dict[str, list[str]]], list[Credential]]] = [
        ([{"key": []}], [Credential(secret="rates_pro_key", name="X-Key")]),
        ([{"alias": []}], [Credential(secret="rates_pro_alias", name="X-Key")]),
        ([{"sid": []}], [Credential(secret="rates_pro_sid", place="cookie", name="sid")]),
        ([{"login": []}], [Credential(secret="rates_pro_login", basic=True)]),
        ([{"token": []}], [Credential(secret="rates_pro_token", prefix="Bearer ")]),
        ([{"flow": ["read"]}], [Credential(secret="rates_pro_flow", prefix="Bearer ")]),
        ([{"tls": []}, {"key": [], "sid": []}], [Credential(secret="rates_pro_key", name="X-Key"),
                                                 Credential(secret="rates_pro_sid", place="cookie", name="sid")]),
        ([{"key": []}, {}], [Credential(secret="rates_pro_key", name="X-Key", required=False)]),
        ([{"tls": []}, {}], []),
        ([], []),
]  # fmt: skip


@pytest.mark.parametrize(("security", "expected"), WAYS)
def test_the_first_way_that_can_be_sent(tmp_path: Path, security: Any, expected: list[Credential]) -> None:
    assert list(only(tmp_path, {"security": security}).credentials) == expected


URL = "https://id.example.com/"
CODE = {"authorizationUrl": URL + "a", "tokenUrl": URL + "t", "scopes": {"read": "", "write": ""}}
BY_CODE = OAuthFlow(grant="authorization_code", token_url=URL + "t", authorize_url=URL + "a", scopes=("read", "write"))
BY_CLIENT = OAuthFlow(grant="client_credentials", token_url=URL + "t", scopes=("read",))


@pytest.mark.parametrize(
    ("flows", "scopes", "expected"),
    [
        ({"authorizationCode": CODE}, [], (BY_CODE,)),
        ({"authorizationCode": CODE}, ["write", "two words", 3], (BY_CODE.model_copy(update={"scopes": ("write",)}),)),
        ({"clientCredentials": {"tokenUrl": URL + "t"}, "implicit": CODE}, ["read"], (BY_CLIENT,)),
        ({"authorizationCode": {**CODE, "tokenUrl": "/t"}}, [], ()),
        ({"authorizationCode": {"tokenUrl": URL}}, [], ()),
        ({"authorizationCode": 7}, [], ()),
    ],
)
def test_ways_to_obtain_a_token(tmp_path: Path, flows: Any, scopes: Any, expected: Any) -> None:
    schemes = {"flow": {"type": "oauth2", "flows": flows}}
    doc = only(tmp_path, {"security": [{"flow": scopes}]}, components={"securitySchemes": schemes})
    assert doc.credentials[0].flows == expected


def test_ways_to_obtain_a_token_as_swagger_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "api.json"
    scheme = {"type": "oauth2", "flow": "accessCode", **CODE}
    told = {
        "swagger": "2.0",
        "info": {"title": "Rates"},
        "host": "api.example.com",
        "securityDefinitions": {"flow": scheme},
    }
    path.write_text(json.dumps({**told, "paths": {"/x": {"get": {"security": [{"flow": []}]}}}}))
    (doc,) = read_openapi(path)
    assert doc.credentials[0].flows == (BY_CODE,)


def test_the_documents_security_holds_where_the_operation_has_none(tmp_path: Path) -> None:
    assert [one.secret for one in only(tmp_path, {}, security=[{"token": []}]).credentials] == ["rates_pro_token"]
    assert only(tmp_path, {"security": []}, security=[{"token": []}]).credentials == ()


def test_a_key_is_no_parameter_besides(tmp_path: Path) -> None:
    """A policy is never asked for a key, and can put nothing in its place."""
    given = [
        {"name": name, "in": "header", "required": True, "schema": {"type": "string"}}
        for name in ("x-key", "Authorization", "X-Other")
    ]
    doc = only(tmp_path, {"security": [{"key": []}], "parameters": given})
    assert [one.name for one in doc.parameters] == ["X-Other"]
    assert [(one.secret, one.name) for one in doc.credentials] == [
        ("rates_pro_key", "X-Key"), ("rates_pro_authorization", "Authorization"),
    ]  # fmt: skip


IMPLICIT: dict[str, Any] = {"type": "oauth2", "flows": {"implicit": {"authorizationUrl": URL + "a", "scopes": {}}}}
BEARER = {"type": "http", "scheme": "bearer"}
IN_QUERY = {"type": "apiKey", "in": "query", "name": "key"}
IN_HEADER = {"type": "apiKey", "in": "header", "name": "authorization"}


@pytest.mark.parametrize(
    ("first", "second", "prefix", "flows"),
    [
        (IMPLICIT, {"type": "oauth2", "flows": {"authorizationCode": CODE}}, "Bearer ", (BY_CODE,)),
        (BEARER, {"type": "oauth2", "flows": {"authorizationCode": CODE}}, "Bearer ", (BY_CODE,)),
        (IN_HEADER, BEARER, "Bearer ", ()),
        (BEARER, IN_HEADER, "Bearer ", ()),
        (IN_QUERY, IN_QUERY, "", ()),
    ],
)
def test_one_token_described_by_two_schemes_is_one_credential(
    tmp_path: Path, first: Any, second: Any, prefix: str, flows: Any
) -> None:
    schemes = {"first": first, "second": second}
    doc = only(tmp_path, {"security": [{"first": [], "second": []}]}, components={"securitySchemes": schemes})
    (credential,) = doc.credentials
    assert credential.prefix == prefix
    assert credential.flows == flows


def test_two_secrets_of_one_place_are_refused_with_what_to_do(tmp_path: Path) -> None:
    schemes = {"basic": {"type": "http", "scheme": "basic"}, "bearer": BEARER}
    path = tmp_path / "api.json"
    operation: dict[str, Any] = {"security": [{"basic": [], "bearer": []}], "responses": {}}
    document: dict[str, Any] = {"openapi": "3.0.3", "info": {"title": "Rates"}, "paths": {"/x": {"get": operation}}}
    path.write_text(json.dumps({**document, "components": {"securitySchemes": schemes}}))
    with pytest.raises(BrokenInputError, match="both sent as Authorization; name them as alternatives"):
        list(read_openapi(path))
