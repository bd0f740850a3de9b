"""A fake authorization server on loopback, with an API behind it: it speaks OAuth 2 as the documents have it, and consents by itself.

Authorization code with PKCE (RFC 6749, 7636), refresh tokens that count once, client credentials, metadata (RFC 8414, 9728),
registration (RFC 7591), its own name in its answers (RFC 9207).
"""

import asyncio
import base64
import hashlib
import secrets
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_plus, urlencode

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

CLIENT, SECRET = "the-client", "s3cret/of+the client"


@dataclass
class FakeAuthorizationServer:
    """``answers_token``: what the token address does in place of what it should. ``lifetime``: seconds of an access token.

    ``get_status``: what an MCP endpoint that is spoken to by POST only answers to GET.
    """

    url: str = ""
    lifetime: int | None = 3600
    get_status: int = 405
    refreshes: bool = True
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    resource: dict[str, Any] = field(default_factory=dict[str, Any])
    answers_token: Callable[[], Awaitable[Response]] | None = None
    clients: dict[str, str] = field(default_factory=lambda: {CLIENT: SECRET})
    asked: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    codes: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    refresh_tokens: dict[str, bool] = field(default_factory=dict[str, bool])
    access_tokens: set[str] = field(default_factory=set[str])
    issued: list[str] = field(default_factory=list[str])
    calls: list[str] = field(default_factory=list[str])

    def revoke(self, *, refresh: bool = False) -> None:
        """No access token that was given counts any more; nor a refresh token, where it is said."""
        self.access_tokens.clear()
        if refresh:
            self.refresh_tokens.clear()

    def kinds(self) -> list[str]:
        """What tokens were asked for by."""
        return [one["grant_type"] for one in self.asked]

    def tokens(self, *, refresh: bool) -> JSONResponse:
        access = "at-" + secrets.token_urlsafe(24)
        self.access_tokens.add(access)
        self.issued.append(access)
        body: dict[str, Any] = {"access_token": access, "token_type": "Bearer"}
        if self.lifetime is not None:
            body["expires_in"] = self.lifetime
        if refresh and self.refreshes:
            body["refresh_token"] = "rt-" + secrets.token_urlsafe(24)
            self.refresh_tokens[body["refresh_token"]] = True
            self.issued.append(body["refresh_token"])
        return JSONResponse(body, headers={"Cache-Control": "no-store"})


def refused(error: str, status: int = 400) -> JSONResponse:
    return JSONResponse({"error": error, "error_description": f"it is {error}"}, status)


def application(fake: FakeAuthorizationServer) -> FastAPI:
    app = FastAPI(openapi_url=None)

    @app.get("/authorize")
    async def authorize(request: Request) -> Response:
        asked = dict(request.query_params)
        known = asked.get("client_id") in fake.clients and asked.get("response_type") == "code"
        if not known or asked.get("code_challenge_method") != "S256" or not asked.get("code_challenge"):
            return refused("invalid_request")
        code = secrets.token_urlsafe(16)
        fake.codes[code] = asked
        fake.issued.append(code)
        back = {"code": code, "state": asked["state"], "iss": fake.url}
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(back)}", 302)

    @app.post("/token")
    async def token(request: Request) -> Response:
        form = {name: str(value) for name, value in (await request.form()).items()}
        fake.asked.append(form)
        if fake.answers_token is not None:
            return await fake.answers_token()
        client = _client(request, form)
        if fake.clients.get(client[0]) != client[1]:
            return refused("invalid_client", 401)
        return _granted(fake, form, client[0])

    @app.post("/register")
    async def register(request: Request) -> Response:
        given = await request.json()
        client = f"client-{len(fake.clients)}"
        method = given["token_endpoint_auth_method"]
        secret = "" if method == "none" else secrets.token_urlsafe(16)
        fake.clients[client] = secret
        return JSONResponse(given | {"client_id": client} | ({"client_secret": secret} if secret else {}), 201)

    @app.get("/.well-known/oauth-authorization-server")
    async def metadata() -> Response:
        return JSONResponse(_metadata(fake.url) | fake.metadata)

    @app.get("/.well-known/oauth-protected-resource/things")
    async def resource() -> Response:
        found = {"resource": f"{fake.url}/things", "authorization_servers": [fake.url], "scopes_supported": ["things"]}
        return JSONResponse(found | fake.resource)

    @app.api_route("/things", methods=["GET", "POST"])
    async def things(request: Request) -> Response:
        fake.calls.append(request.method)
        given = request.headers.get("authorization", "")
        if given.removeprefix("Bearer ") in fake.access_tokens:
            return JSONResponse({"things": ["a lamp"]})
        place = f"{fake.url}/.well-known/oauth-protected-resource/things"
        return JSONResponse({"error": "no"}, 401, {"WWW-Authenticate": f'Bearer resource_metadata="{place}"'})

    _add_mcp_endpoint(app, fake)
    return app


def _add_mcp_endpoint(app: FastAPI, fake: FakeAuthorizationServer) -> None:
    """An endpoint that is spoken to by POST only, with its metadata where only its refusal says."""

    @app.get("/meta/hdr.json")
    async def resource_named_by_header() -> Response:
        return JSONResponse({"resource": f"{fake.url}/hdr/mcp", "authorization_servers": [fake.url]} | fake.resource)

    @app.api_route("/hdr/mcp", methods=["GET", "POST", "HEAD", "DELETE"])
    async def mcp_endpoint(request: Request) -> Response:
        fake.calls.append(f"{request.method} {(await request.body()).decode()[:60]}")
        if request.method != "POST":
            return Response(None, fake.get_status, {"Allow": "POST"})
        challenge = f'Basic realm="a, \\"b\\" resource_metadata=no", Bearer error="invalid_token", resource_metadata="{fake.url}/meta/hdr.json"'
        return JSONResponse({"error": "no"}, 401, {"WWW-Authenticate": challenge})


def _metadata(url: str) -> dict[str, Any]:
    return {
        "issuer": url,
        "authorization_endpoint": f"{url}/authorize",
        "token_endpoint": f"{url}/token",
        "registration_endpoint": f"{url}/register",
        "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
        "authorization_response_iss_parameter_supported": True,
        "scopes_supported": ["things", "others"],
    }


def _client(request: Request, form: dict[str, str]) -> tuple[str, str]:
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    if kind == "Basic":
        name, _, secret = base64.b64decode(given).decode().partition(":")
        return unquote_plus(name), unquote_plus(secret)
    return form.get("client_id", ""), form.get("client_secret", "")


def _granted(fake: FakeAuthorizationServer, form: dict[str, str], client: str) -> Response:
    match form["grant_type"]:
        case "client_credentials":
            return fake.tokens(refresh=False)
        case "refresh_token":
            if not fake.refresh_tokens.pop(form["refresh_token"], False):
                fake.revoke(refresh=True)  # one that comes back was stolen
                return refused("invalid_grant")
            return fake.tokens(refresh=True)
        case "authorization_code":
            asked = fake.codes.pop(form["code"], None)
            if asked is None or asked["client_id"] != client or asked["redirect_uri"] != form["redirect_uri"]:
                return refused("invalid_grant")
            digest = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest())
            if digest.rstrip(b"=").decode() != asked["code_challenge"]:
                return refused("invalid_grant")
            return fake.tokens(refresh=True)
        case _:
            return refused("unsupported_grant_type")


@asynccontextmanager
async def fake_authorization_server() -> AsyncGenerator[FakeAuthorizationServer]:
    """One that listens on loopback until the end."""
    fake = FakeAuthorizationServer()
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    fake.url = f"http://127.0.0.1:{bound.getsockname()[1]}"
    server = uvicorn.Server(
        uvicorn.Config(application(fake), log_config=None, lifespan="off", timeout_graceful_shutdown=0)
    )
    serving = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        while not server.started:  # noqa: ASYNC110  # it has no event for it
            await asyncio.sleep(0.01)
        yield fake
    finally:
        server.should_exit = True
        await serving
