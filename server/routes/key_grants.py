"""Keys that are obtained by OAuth: begun by their owner, completed where the authorization server sends people back to."""

from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import HTMLResponse

from domain.errors import FootpathError, UsageError
from server.dependencies import CurrentServices, CurrentUser
from server.oauth.consents import KeyPlace, Returned
from server.oauth.discovery import Discovered, discover
from server.oauth.registration import registered
from server.problems import problems, status_of
from server.routes.consent_page import page
from server.routes.grant_bodies import BegunGrant, DiscoveryBody, GrantBody
from server.routes.router import operations
from server.routes.texts import Plain, ToolKeyName
from server.services import Services
from server.token_scopes import by_token
from server.watching.secrecy import conceal

router = operations("", tag="keys")


@router.post(
    "/me/tool-keys/{name}/oauth",
    summary="Obtain a key by OAuth: at once, or with the address where I consent",
    responses=problems(401, 502),
)
@by_token("run_changes")
async def grant_tool_key(
    name: ToolKeyName, body: GrantBody, user: CurrentUser, services: CurrentServices, request: Request
) -> BegunGrant:
    """A key of the same name stays as it is until another one is obtained."""
    return await begin_grant(services, user.id, KeyPlace("user", user.id, name), body, str(request.base_url))


async def begin_grant(services: Services, user_id: str, key: KeyPlace, body: GrantBody, asked_at: str) -> BegunGrant:
    """The same for users' keys and for those of sources."""
    oauth = services.oauth
    redirect_uri, terms = oauth.redirect_uri(asked_at), body.terms()
    conceal(terms.client_secret)
    if not terms.client_id:
        terms = await registered(oauth.exchange, body.registration_url, redirect_uri, terms)
        conceal(terms.client_secret)
    if terms.kind == "client_credentials":
        kept = await oauth.consents.obtain(key, terms, body.hosts)
        return BegunGrant(authorize=None, key=kept, client_id=terms.client_id)
    address = await oauth.consents.begin(user_id, key, terms, body.hosts, redirect_uri)
    return BegunGrant(authorize=address, key=None, client_id=terms.client_id)


@router.post(
    "/me/oauth-discovery",
    summary="Ask an API or its authorization server where tokens are given",
    responses=problems(401, 502),
)
@by_token("run_changes")
async def oauth_discovery(body: DiscoveryBody, _: CurrentUser, services: CurrentServices) -> Discovered:
    return await discover(services.oauth.exchange, body.address)


def _pages() -> dict[int | str, dict[str, Any]]:
    """A page, or a problem for who asks for none."""
    html = {"text/html": {"schema": {"type": "string"}}}
    found = {status: one | {"content": one["content"] | html} for status, one in problems(400, 502).items()}
    return {200: {"content": html}} | found


Given = Annotated[str, Query(max_length=4000), Plain]


@router.get(
    "/oauth/callback",
    summary="Where an authorization server sends people back to",
    response_class=HTMLResponse,
    responses=_pages(),
)
async def oauth_callback(
    request: Request,
    services: CurrentServices,
    state: Given = "",
    code: Given = "",
    error: Given = "",
    iss: Given = "",
) -> HTMLResponse:
    """A page for people, also where it fails; programs get a problem. Nobody is logged in here: the state says whose key it is, and counts once."""
    returned = Returned(state, code, error, iss)
    account = ""
    try:
        consent = await services.oauth.consents.take(returned)
        owner = await services.storage.users.get(consent.user_id)
        if owner is None or owner.disabled_at is not None:
            raise UsageError("the account that this was for is gone or disabled")
        account = owner.name
        if consent.shelf == "source":
            await services.sources.get(consent.owner_id, owner)  # who may not keep its keys any more is told
        key = await services.oauth.consents.complete(consent, returned)
    except FootpathError as failed:
        if "text/html" not in request.headers.get("accept", ""):
            raise
        status = status_of(type(failed))
        return page(f"No key was kept: {failed}.", account, 400 if status < 500 else 502)
    return page(f"The key {key.name} is kept. You can close this page.", account, 200)
