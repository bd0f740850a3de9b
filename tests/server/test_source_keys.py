"""Keys that are kept with a source: by who keeps it, given or obtained, and sent by its own tools' calls only."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from agent.execution.executor import CallResult
from domain.source import source_mark
from domain.tool import Credential, ToolDoc, tool_id
from tests.server.fake_authorization_server import FakeAuthorizationServer, fake_authorization_server
from tests.server.sources import Asking, source_of
from tests.server.test_oauth import back, by_consent, by_itself, consented
from tests.server.world import World, copied, serving, with_store


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
        id=tool_id("c", mark, "things"), category="c", toolset="t", api="things", function="things",
        url=f"{fake.url}/things", credentials=(key,), source=mark,
    )  # fmt: skip


async def called(world: World, who: str, tool: ToolDoc) -> CallResult:
    agents = world.services.agents
    executor = (await agents._user_executor(world.people[who].id)).executor  # pyright: ignore[reportPrivateUsage]  # as a run has it
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
    assert (await called(world, "user", of_source(fake, source_mark(lends)))).outcome == "ok"
    for other in (takes, asks):  # what is named alike is not another source's to send
        result = await called(world, "user", of_source(fake, source_mark(other)))
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
    result = await called(world, "user", of_source(fake, source_mark(source)))
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
    assert await world.services.storage.source_keys.value(source, "harbour") == "plain"
    await author("DELETE", f"/sources/{source}")
    assert await world.services.storage.source_keys.all(source) == []
