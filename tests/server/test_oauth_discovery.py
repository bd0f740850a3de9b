"""What an API and its authorization server say of themselves: found, checked, and never a way to somewhere else."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.server.test_oauth import KEYS, back, begun, consented, kept, value
from tests.support.fake_authorization_server import FakeAuthorizationServer, fake_authorization_server
from tests.support.server_world import World, copied, serving


@pytest.fixture
async def fake() -> AsyncIterator[FakeAuthorizationServer]:
    async with fake_authorization_server() as opened:
        yield opened


@pytest.fixture
async def world(home: Path, tmp_path: Path, fake: FakeAuthorizationServer) -> AsyncIterator[World]:
    folder = await asyncio.to_thread(copied, home, tmp_path / "home")
    async with serving(folder, allow_hosts=urlsplit(fake.url).netloc) as opened:
        yield opened


async def asked(world: World, address: str) -> httpx.Response:
    headers = await world.headers_of("user")
    return await world.client.post("/api/v1/me/oauth-discovery", json={"address": address}, headers=headers)


async def test_an_api_says_who_gives_tokens_for_it(world: World, fake: FakeAuthorizationServer) -> None:
    answer = await asked(world, fake.url + "/things")
    assert answer.status_code == 200, answer.text
    assert answer.json() == {
        "resource": f"{fake.url}/things",
        "issuer": fake.url,
        "issuer_told": True,
        "authorize_url": f"{fake.url}/authorize",
        "token_url": f"{fake.url}/token",
        "registration_url": f"{fake.url}/register",
        "scopes": ["things"],
        "grants": ["authorization_code", "client_credentials"],
        "client_auths": ["none", "basic"],
        "told": [],
    }


@pytest.mark.parametrize("status", [405, 406, 404, 400, 401])
async def test_an_mcp_server_that_is_spoken_to_by_post_only_is_discovered(
    world: World, fake: FakeAuthorizationServer, status: int
) -> None:
    fake.get_status = status
    answer = await asked(world, fake.url + "/hdr/mcp")
    assert answer.status_code == 200, answer.text
    assert (answer.json()["resource"], answer.json()["issuer"]) == (f"{fake.url}/hdr/mcp", fake.url)
    assert fake.calls[0].startswith("GET")
    assert fake.calls[1].startswith('POST {"jsonrpc":"2.0","id":1,"method":"initialize"')
    assert len(fake.calls) == 2


async def test_an_api_that_answers_a_read_is_not_posted_to(world: World, fake: FakeAuthorizationServer) -> None:
    fake.get_status = 200
    assert (await asked(world, fake.url + "/hdr/mcp")).status_code == 200
    assert [call.split()[0] for call in fake.calls] == ["GET"]


async def test_an_authorization_server_says_it_itself(world: World, fake: FakeAuthorizationServer) -> None:
    found = (await asked(world, fake.url)).json()
    assert (found["issuer"], found["resource"], found["scopes"]) == (fake.url, "", ["things", "others"])


async def test_what_was_discovered_leads_to_a_key_without_a_client_of_ones_own(
    world: World, fake: FakeAuthorizationServer
) -> None:
    """From an address alone: found, registered, consented to, and the server's name checked when it comes back."""
    found = (await asked(world, fake.url + "/things")).json()
    names = ("authorize_url", "token_url", "registration_url", "resource", "issuer", "issuer_told", "scopes")
    body = {name: found[name] for name in names} | {"grant": "authorization_code", "hosts": ["127.0.0.1"]}
    address = await begun(world, body)
    assert parse_qs(urlsplit(address).query)["client_id"] == ["client-1"]
    assert (await back(world, await consented(address))).status_code == 200
    assert await value(world) in fake.access_tokens
    assert fake.asked[0]["client_id"] == "client-1"  # without a secret: the proof key is enough


async def test_a_client_registers_itself_with_a_secret_that_nobody_sees(
    world: World, fake: FakeAuthorizationServer
) -> None:
    body = {"grant": "client_credentials", "token_url": f"{fake.url}/token", "registration_url": f"{fake.url}/register", "hosts": ["127.0.0.1"]}  # fmt: skip
    answer = await world.client.post(f"{KEYS}/things/oauth", json=body, headers=await world.headers_of("user"))
    assert answer.status_code == 200, answer.text
    assert answer.json()["client_id"] == "client-1"
    assert fake.clients["client-1"]
    assert fake.clients["client-1"] not in answer.text
    assert [key["grant"] for key in await kept(world)] == ["client_credentials"]


PRIVATE = "https://10.0.0.7"


@pytest.mark.parametrize(
    ("metadata", "resource", "status", "said"),
    [
        (
            {"token_endpoint": "https://169.254.169.254/token"},
            {},
            200,
            "",
        ),  # looked at when it is asked, and refused then
        ({"token_endpoint": "http://id.example.com/token"}, {}, 502, "must begin with https://"),
        ({"authorization_endpoint": "javascript:alert(1)"}, {}, 502, "expected https://host/path"),
        ({"issuer": "https://id.example.com"}, {}, 502, "about another authorization server"),
        ({}, {"authorization_servers": [PRIVATE]}, 422, "not a public address"),
        ({}, {"authorization_servers": ["file:///etc/passwd"]}, 502, "expected https://host/path"),
        ({}, {"resource": "https://bank.example.com"}, 200, ""),  # not about itself: it counts for nothing
        ({"token_endpoint": 7}, {}, 502, "names no authorization server"),
        ({"code_challenge_methods_supported": ["plain"]}, {}, 200, "proof keys"),
    ],
)
async def test_what_a_stranger_says_leads_nowhere_else(
    world: World,
    fake: FakeAuthorizationServer,
    metadata: dict[str, Any],
    resource: dict[str, Any],
    status: int,
    said: str,
) -> None:
    fake.metadata, fake.resource = metadata, resource
    answer = await asked(world, fake.url + "/things")
    assert answer.status_code == status, answer.text
    assert said in answer.text
    if status == 200:
        assert answer.json()["resource"] in ("", f"{fake.url}/things")
        assert "bank.example.com" not in answer.text


@pytest.mark.parametrize(
    ("address", "status", "said"),
    [
        ("https://192.168.1.1/", 422, "not a public address"),
        ("http://api.example.com/", 422, "must begin with https://"),
        ("http://localhost:1/", 422, "not a public address"),
        ("https://nowhere.invalid/", 502, "was not reached"),
        ("nonsense", 422, "expected https://host/path"),
    ],
)
async def test_where_nobody_may_be_asked(world: World, address: str, status: int, said: str) -> None:
    answer = await asked(world, address)
    assert (answer.status_code, said in answer.json()["detail"]) == (status, True), answer.text
