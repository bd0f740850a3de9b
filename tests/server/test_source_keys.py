"""Keys that are kept with a source: by who keeps it, given or obtained, and sent by its own tools' calls only."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from agent.execution.executor import CallResult
from domain.errors import SecretError
from domain.tool import Credential, ToolDoc, make_tool_id
from domain.tool_source import make_source_mark
from tests.server.test_oauth import back, by_consent, by_itself, consented
from tests.support.fake_authorization_server import FakeAuthorizationServer, fake_authorization_server
from tests.support.server_world import World, copied, serving, with_store
from tests.support.source_samples import Asking, source_of


@pytest.fixture
async def fake() -> AsyncIterator[FakeAuthorizationServer]:
    async with fake_authorization_server() as opened:
        yield opened


@pytest.fixture
async def world(home: Path, tmp_path: Path, fake: FakeAuthorizationServer) -> AsyncIterator[World]:
    folder = await asyncio.to_thread(copied, home, tmp_path / "home")
    async with serving(folder, allow_hosts=urlsplit(fake.url).netloc) as opened:
        yield opened


async def asking(world: World, who: str) -> Asking:
    return Asking(world, await world.headers_of(who))


def of_source(fake: FakeAuthorizationServer, mark: str) -> ToolDoc:
    """Its tools want a key called ``things``."""
    key = Credential(secret="things", prefix="Bearer ")
    return ToolDoc(
        id=make_tool_id("c", mark, "things"), category="c", toolset="t", api="things", function="things",
        url=f"{fake.url}/things", credentials=(key,), source=mark,
    )  # fmt: skip


async def called(world: World, who: str, tool: ToolDoc) -> CallResult:
    agents = world.services.agents
    executor = (await agents._create_user_executor(world.people[who].id)).executor  # pyright: ignore[reportPrivateUsage]  # as a run has it
    try:
        return await executor.call(tool, {})
    finally:
        await executor.close()


async def test_a_sources_key_is_sent_for_whoever_asks_by_its_own_tools_only(
    world: World, fake: FakeAuthorizationServer
) -> None:
    await with_store(world)
    author = await asking(world, "author")
    lends = (await source_of("author", world, keys_of="source"))["source_id"]
    takes = (await source_of("author", world, name="Another", keys_of="source"))["source_id"]
    asks = (await source_of("author", world, name="A third", keys_of="caller"))["source_id"]
    begun = await author("POST", f"/sources/{lends}/keys/things/oauth", by_itself(fake))
    assert begun["key"]["grant"] == "client_credentials"
    assert (await called(world, "user", of_source(fake, make_source_mark(lends)))).outcome == "ok"
    for other in (takes, asks):  # what is named alike is not another source's to send
        result = await called(world, "user", of_source(fake, make_source_mark(other)))
        assert (result.outcome, result.attempts) == ("caller_fault", 0)
        assert f"PUT /api/v1/{'sources/' + takes + '/keys' if other == takes else 'me/tool-keys'}/things" in result.note
    assert len(fake.calls) == 1


async def test_a_token_that_was_revoked_is_obtained_anew_while_a_run_calls(
    world: World, fake: FakeAuthorizationServer
) -> None:
    await with_store(world)
    source = (await source_of("author", world, keys_of="source"))["source_id"]
    await (await asking(world, "author"))("POST", f"/sources/{source}/keys/things/oauth", by_itself(fake))
    fake.revoke()
    result = await called(world, "user", of_source(fake, make_source_mark(source)))
    assert (result.outcome, result.attempts) == ("ok", 2)
    assert "obtained anew" in result.note
    assert fake.kinds() == ["client_credentials"] * 2


async def test_an_author_consents_for_a_source(world: World, fake: FakeAuthorizationServer) -> None:
    author, source = await asking(world, "author"), (await source_of("author", world))["source_id"]
    begun = await author("POST", f"/sources/{source}/keys/things/oauth", by_consent(fake))
    page = await back(world, await consented(begun["authorize"]))
    assert page.status_code == 200
    (key,) = await author("GET", f"/sources/{source}/keys")
    assert (key["name"], key["grant"]) == ("things", "authorization_code")
    assert await author("GET", "/me/tool-keys") == []


async def test_who_may_not_keep_the_keys_any_more_comes_back_in_vain(
    world: World, fake: FakeAuthorizationServer
) -> None:
    author, source = await asking(world, "author"), (await source_of("author", world))["source_id"]
    returned = await consented(
        (await author("POST", f"/sources/{source}/keys/things/oauth", by_consent(fake)))["authorize"]
    )
    await author("DELETE", f"/sources/{source}")
    page = await back(world, returned)
    assert page.status_code == 400
    assert "no such source" in page.text
    assert fake.asked == []


async def test_keys_go_with_their_source(world: World) -> None:
    author, source = await asking(world, "author"), (await source_of("author", world))["source_id"]
    body = {"value": "plain", "hosts": ["harbour.example"]}
    kept = await author("PUT", f"/sources/{source}/keys/harbour", body)
    assert "value" not in kept
    assert [key["name"] for key in await author("GET", f"/sources/{source}/keys")] == ["harbour"]
    assert await world.services.storage.source_keys.get_value(source, "harbour") == "plain"
    await author("DELETE", f"/sources/{source}")
    assert await world.services.storage.source_keys.list_all(source) == []


FLOW: dict[str, Any] = {
    "authorizationUrl": "https://id.example.com/a",
    "tokenUrl": "https://id.example.com/t",
    "scopes": {},
}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Harbour", "description": "Ships and berths."},
    "servers": [{"url": "https://harbour.example"}],
    "components": {"securitySchemes": {"flow": {"type": "oauth2", "flows": {"authorizationCode": FLOW}}}},
    "paths": {
        path: {"get": {"operationId": path[1:], "summary": f"The {path[1:]}.", "security": [{"flow": [path[1:]]}]}}
        for path in ("/ships", "/berths")
    },
}
WANTED = "harbour_flow"


async def admitted(world: World, **values: object) -> str:
    """A source whose tools want a key and are offered."""
    given: dict[str, Any] = {"kind": "openapi", "document": json.dumps(DOCUMENT), "tools": list[str](), **values}
    source = (await source_of("author", world, tested=True, **given))["source_id"]
    await (await asking(world, "author"))("POST", f"/sources/{source}/admit", {})
    return source


async def needed(world: World, who: str) -> list[dict[str, Any]]:
    return await (await asking(world, who))("GET", "/me/needed-keys")


async def test_who_lacks_a_key_is_told_which_and_how_it_is_obtained(world: World) -> None:
    await with_store(world)
    await admitted(world)
    (found,) = await needed(world, "user")
    assert (found["name"], found["source_id"], found["hosts"]) == (WANTED, None, ["harbour.example"])
    assert (len(found["tools"]), found["required"], found["lapsed"]) == (2, True, "")
    (flow,) = found["flows"]
    assert (flow["grant"], sorted(flow["scopes"])) == ("authorization_code", ["berths", "ships"])
    user = await asking(world, "user")
    await user("PUT", f"/me/tool-keys/{WANTED}", {"value": "k", "hosts": ["harbour.example"]})
    assert await needed(world, "user") == []
    assert len(await needed(world, "other")) == 1


async def test_a_key_that_lapsed_is_needed_again(world: World, fake: FakeAuthorizationServer) -> None:
    await with_store(world)
    await admitted(world)
    user = await asking(world, "user")
    fake.lifetime, fake.refreshes = 1, False
    begun = await user("POST", f"/me/tool-keys/{WANTED}/oauth", by_consent(fake, hosts=["harbour.example"]))
    await back(world, await consented(begun["authorize"]))
    assert await needed(world, "user") == []
    await asyncio.sleep(1)
    secrets = await world.services.agents.get_user_secrets(world.people["user"].id)
    with pytest.raises(SecretError, match="needs consent again"):
        await secrets.get_value(WANTED, "harbour.example", 443, encrypted=True)
    (found,) = await needed(world, "user")
    assert "without a refresh token" in found["lapsed"]


async def test_keys_of_a_source_are_its_authors_to_keep(world: World) -> None:
    await with_store(world)
    source = await admitted(world, keys_of="source")
    assert await needed(world, "user") == []
    (found,) = await needed(world, "author")
    assert (found["name"], found["source_id"]) == (WANTED, source)
    author = await asking(world, "author")
    await author("PUT", f"/sources/{source}/keys/{WANTED}", {"value": "k", "hosts": ["harbour.example"]})
    assert await needed(world, "author") == []


async def test_who_may_not_see_a_source_is_not_told_of_its_keys(world: World) -> None:
    await with_store(world)
    await admitted(world, visibility="users", users=[world.people["user"].id])
    assert len(await needed(world, "user")) == 1
    assert await needed(world, "other") == []
