"""Keys by OAuth, from what is asked for to the call that is made with one: over HTTP, against an authorization server on loopback."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi import Response
from fastapi.responses import RedirectResponse
from sqlalchemy import text

from agent.execution.secret_store import EnvironmentSecrets
from domain.errors import SecretError
from server.user_secrets import UserSecrets
from tests.support.fake_authorization_server import (
    CLIENT,
    SECRET,
    FakeAuthorizationServer,
    fake_authorization_server,
    refused,
)
from tests.support.server_world import World, copied, serving

KEYS = "/api/v1/me/tool-keys"


@pytest.fixture
async def fake() -> AsyncIterator[FakeAuthorizationServer]:
    async with fake_authorization_server() as opened:
        yield opened


@pytest.fixture
async def world(home: Path, tmp_path: Path, fake: FakeAuthorizationServer) -> AsyncIterator[World]:
    """One whose guard lets it ask that server."""
    folder = await asyncio.to_thread(copied, home, tmp_path / "home")
    async with serving(folder, allow_hosts=urlsplit(fake.url).netloc) as opened:
        yield opened


def by_consent(fake: FakeAuthorizationServer, **changed: Any) -> dict[str, Any]:
    return {
        "grant": "authorization_code",
        "authorize_url": f"{fake.url}/authorize",
        "token_url": f"{fake.url}/token",
        "client_id": CLIENT,
        "client_secret": SECRET,
        "scopes": ["things"],
        "hosts": ["127.0.0.1"],
    } | changed


def by_itself(fake: FakeAuthorizationServer, **changed: Any) -> dict[str, Any]:
    return by_consent(fake, grant="client_credentials", authorize_url="") | changed


async def begun(world: World, body: dict[str, Any], who: str = "user", name: str = "things") -> str:
    """The address to open."""
    answer = await world.client.post(f"{KEYS}/{name}/oauth", json=body, headers=await world.headers_of(who))
    assert answer.status_code == 200, answer.text
    assert answer.json()["key"] is None
    return answer.json()["authorize"]


async def consented(address: str) -> dict[str, str]:
    """What the browser comes back with."""
    async with httpx.AsyncClient() as browser:
        answer = await browser.get(address)
    assert answer.status_code == 302, answer.text
    return {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}


async def back(world: World, returned: dict[str, str]) -> httpx.Response:
    return await world.client.get("/api/v1/oauth/callback", params=returned, headers={"Accept": "text/html"})


async def kept(world: World, who: str = "user") -> list[dict[str, Any]]:
    return (await world.client.get(KEYS, headers=await world.headers_of(who))).json()


def secrets_of(world: World, who: str = "user") -> UserSecrets:
    services = world.services
    return UserSecrets(
        services.storage.tool_keys, services.oauth.of_users, world.people[who].id, EnvironmentSecrets({})
    )


async def value(world: World, who: str = "user") -> str | None:
    return await secrets_of(world, who).get_value("things", "127.0.0.1", 80, encrypted=False)


async def test_a_user_consents_and_the_key_is_theirs(world: World, fake: FakeAuthorizationServer) -> None:
    address = await begun(world, by_consent(fake, resource="https://things.example.com/", issuer=fake.url))
    asked = parse_qs(urlsplit(address).query)
    assert asked["redirect_uri"] == ["http://server/api/v1/oauth/callback"]
    assert (asked["scope"], asked["resource"]) == (["things"], ["https://things.example.com/"])
    assert await kept(world) == []
    page = await back(world, await consented(address))
    assert page.status_code == 200
    assert "The key things is kept" in page.text
    assert "<b>user</b>" in page.text
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert "<script" not in page.text
    (key,) = await kept(world)
    assert (key["name"], key["grant"], key["hosts"], key["lapsed"]) == (
        "things",
        "authorization_code",
        ["127.0.0.1"],
        "",
    )
    assert key["fresh_until"]
    assert await value(world) in fake.access_tokens
    assert await value(world, "other") is None
    assert fake.asked[0]["resource"] == "https://things.example.com/"
    with pytest.raises(SecretError, match="not allowed for elsewhere"):
        await secrets_of(world).get_value("things", "elsewhere.example.com", 443, encrypted=True)


async def test_a_client_gets_one_by_itself_and_another_when_it_ends(
    world: World, fake: FakeAuthorizationServer
) -> None:
    fake.lifetime = 1
    answer = await world.client.post(
        f"{KEYS}/things/oauth", json=by_itself(fake), headers=await world.headers_of("user")
    )
    assert answer.json()["authorize"] is None
    assert answer.json()["key"]["grant"] == "client_credentials"
    first = await value(world)
    await asyncio.sleep(1)
    assert await value(world) != first
    assert fake.kinds() == ["client_credentials"] * 2
    assert fake.asked[0]["scope"] == "things"


async def test_a_state_counts_once(world: World, fake: FakeAuthorizationServer) -> None:
    returned = await consented(await begun(world, by_consent(fake)))
    assert (await back(world, returned)).status_code == 200
    again = await back(world, returned)
    assert again.status_code == 400
    assert "used already" in again.text
    unknown = await back(world, {"state": "<b>x</b>", "code": "c"})
    assert unknown.status_code == 400
    assert len(fake.asked) == 1


async def test_a_code_that_was_used_gives_no_key(world: World, fake: FakeAuthorizationServer) -> None:
    """As by somebody who saw it go by: with a state of their own it is not their challenge, and it is used up besides."""
    theirs = await consented(await begun(world, by_consent(fake)))
    own = await consented(await begun(world, by_consent(fake), "other"))
    page = await back(world, {"state": own["state"], "code": theirs["code"]})
    assert page.status_code == 400
    assert "invalid_grant" in page.text
    assert await kept(world, "other") == []
    assert (await back(world, theirs)).status_code == 400  # it was used up
    assert await kept(world) == []


async def test_a_state_makes_a_key_for_who_began_and_for_that_key_only(
    world: World, fake: FakeAuthorizationServer
) -> None:
    returned = await consented(await begun(world, by_consent(fake)))
    headers = await world.headers_of("other")
    page = await world.client.get("/api/v1/oauth/callback", params=returned, headers=headers)
    assert page.status_code == 200
    assert await kept(world, "other") == []
    assert [key["name"] for key in await kept(world)] == ["things"]


async def test_who_begins_anew_has_only_the_last_state(world: World, fake: FakeAuthorizationServer) -> None:
    first = await consented(await begun(world, by_consent(fake)))
    second = await consented(await begun(world, by_consent(fake)))
    assert (await back(world, first)).status_code == 400
    assert (await back(world, second)).status_code == 200


async def test_a_disabled_account_gets_none(world: World, fake: FakeAuthorizationServer) -> None:
    returned = await consented(await begun(world, by_consent(fake)))
    await world.services.storage.users.change(world.people["user"].id, disabled=True)
    page = await back(world, returned)
    assert (page.status_code, fake.asked) == (400, [])


async def test_another_server_than_the_one_that_was_asked_is_told(world: World, fake: FakeAuthorizationServer) -> None:
    body = by_consent(fake, issuer=fake.url, issuer_told=True)
    for changed in ({"iss": "https://evil.example.com"}, {"iss": ""}):
        returned = await consented(await begun(world, body))
        page = await back(world, returned | changed)
        assert page.status_code == 400
        assert "another authorization server" in page.text
    assert fake.asked == []


async def test_a_refusal_is_told_as_text(world: World, fake: FakeAuthorizationServer) -> None:
    returned = await consented(await begun(world, by_consent(fake)))
    page = await back(world, {"state": returned["state"], "error": "<script>access_denied</script>"})
    assert page.status_code == 400
    assert "&lt;script&gt;access_denied" in page.text


async def test_the_plain_key_stays_until_the_other_is_there(world: World, fake: FakeAuthorizationServer) -> None:
    headers = await world.headers_of("user")
    await world.client.put(f"{KEYS}/things", json={"value": "plain", "hosts": ["127.0.0.1"]}, headers=headers)
    address = await begun(world, by_consent(fake))
    assert await value(world) == "plain"
    await back(world, await consented(address))
    assert await value(world) in fake.access_tokens
    await world.client.put(f"{KEYS}/things", json={"value": "plain again", "hosts": ["127.0.0.1"]}, headers=headers)
    assert await value(world) == "plain again"
    assert [key["grant"] for key in await kept(world)] == [None]


async def huge() -> Response:
    return Response(b" " * 2_000_000, media_type="application/json")


async def elsewhere() -> Response:
    return RedirectResponse("http://169.254.169.254/token", 307)


async def broken() -> Response:
    return Response("<html>", 500)


async def no_token() -> Response:
    return Response('{"access_token": "a\\nb"}', media_type="application/json")


async def another_kind() -> Response:
    return Response('{"access_token": "a", "token_type": "mac"}', media_type="application/json")


async def not_allowed() -> Response:
    return refused("unauthorized_client")


@pytest.mark.parametrize(
    ("does", "status", "code", "said"),
    [
        (huge, 502, "no_answer", "longer than 262,144 bytes"),
        (elsewhere, 502, "no_answer", "redirects, which is not followed"),
        (broken, 502, "no_answer", "HTTP 500 in place of a token"),
        (no_token, 502, "no_answer", "without an access token"),
        (another_kind, 502, "no_answer", "only bearer tokens"),
        (not_allowed, 422, "grant_refused", "unauthorized_client: it is unauthorized_client"),
    ],
)
async def test_what_a_token_address_does_is_told(
    world: World, fake: FakeAuthorizationServer, does: Any, status: int, code: str, said: str
) -> None:
    fake.answers_token = does
    answer = await world.client.post(
        f"{KEYS}/things/oauth", json=by_itself(fake), headers=await world.headers_of("user")
    )
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert said in answer.json()["detail"]
    assert await kept(world) == []


@pytest.mark.parametrize(
    ("changed", "status", "said"),
    [
        ({"token_url": "http://id.example.com/token"}, 422, "must begin with https://"),
        ({"token_url": "ftp://id.example.com/token"}, 422, "expected https://host/path"),
        ({"token_url": "https://user@id.example.com/token"}, 422, "user name or a fragment"),
        ({"token_url": "https://10.0.0.7/token"}, 422, "not a public address"),
        ({"token_url": "https://169.254.169.254/latest"}, 422, "not a public address"),
        ({"token_url": "http://127.0.0.1:9/token"}, 422, "not a public address"),
        ({"client_secret": None}, 422, "client_secret is missing"),
        ({"client_id": ""}, 422, "client_id is missing"),
        ({"grant": "authorization_code"}, 422, "authorize_url is missing"),
        ({"grant": "password"}, 422, "authorization_code"),
        ({"scopes": ["two words"]}, 422, "pattern"),
        ({"hosts": []}, 422, "at least 1"),
    ],
)
async def test_what_cannot_be_asked_for_is_refused(
    world: World, fake: FakeAuthorizationServer, changed: dict[str, Any], status: int, said: str
) -> None:
    body = by_itself(fake) | changed
    answer = await world.client.post(f"{KEYS}/things/oauth", json=body, headers=await world.headers_of("user"))
    assert answer.status_code == status, answer.text
    assert said in answer.json()["detail"]
    assert SECRET not in answer.text
    assert fake.asked == []


async def test_no_row_and_no_log_holds_a_secret(
    world: World, fake: FakeAuthorizationServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("aiosqlite").setLevel(logging.INFO)
    returned = await consented(await begun(world, by_consent(fake)))
    caplog.clear()  # the browser's own lines
    async with world.services.storage.database.read_session() as session:
        waiting = str((await session.execute(text("SELECT * FROM key_consents"))).all())
    assert returned["state"] not in waiting
    assert SECRET not in waiting
    await back(world, returned)
    await value(world)
    async with world.services.storage.database.read_session() as session:
        assert (await session.execute(text("SELECT * FROM key_consents"))).all() == []
        rows = str((await session.execute(text("SELECT * FROM tool_keys"))).all())
    written = [record.getMessage() for record in caplog.records if not record.name.startswith("uvicorn")]
    ours = "\n".join(line for line in written if "http://server/" not in line)  # those are the browser's
    assert "POST" in ours
    for secret in (*fake.issued, SECRET, CLIENT):
        assert secret not in rows
        assert secret == CLIENT or secret not in ours
