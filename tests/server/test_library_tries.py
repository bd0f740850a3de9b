"""Calls that are tried by hand: checked, guarded, keyed with the caller's own keys, written down before they are made."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from domain.tool import Credential, Parameter, ToolDoc, make_tool_id
from server.library.trying import LONGEST
from tests.server.shelves import asks, library, place
from tests.support.scripted_http_server import Answer, Served, reply, serving, silence
from tests.support.server_world import World, with_store

SECRET = "k-of-the-caller-6d143e2e"


@pytest.fixture
async def shelf(home: Path, tmp_path: Path) -> AsyncIterator[World]:
    """A server with an empty store, which may call loopback."""
    async with library(home, tmp_path, tmp_path / "store") as world:
        await with_store(world)
        yield world


async def holds(world: World, served: Served, method: str = "GET", **more: Any) -> str:
    """A tool that is called at this address; its id."""
    parameters = (Parameter(name="count", type="integer", required=True, maximum=10),)
    doc = ToolDoc(
        id=make_tool_id("a", "b", method), category="a", toolset="b", api=method, function=method, method=method, url=f"{served.url}/things",
        parameters=parameters, **more,
    )  # fmt: skip
    await (await world.services.agents.get_container()).graph.put_tools([doc])
    return doc.id


async def tries(world: World, tool: str, who: str = "user", **body: Any) -> Any:
    return await asks(world, place(tool, "try"), who, "POST", json=body)


async def test_a_call_is_made_and_kept_for_who_made_it(shelf: World) -> None:
    async with serving(reply(body=b'{"things": [1, 2]}')) as served:
        tool = await holds(shelf, served)
        told = (await tries(shelf, tool, arguments={"count": "2"})).json()
    assert (told["outcome"], told["http_status"], told["response"]) == ("ok", 200, '{"things": [1, 2]}')
    assert (told["arguments"], told["changes"], told["short"]) == ({"count": 2}, False, "")
    assert served.requests[0].startswith(b"GET /things?count=2 ")
    (kept,) = (await asks(shelf, place(tool, "tried"))).json()
    assert (kept["id"], kept["finished_at"] is not None) == (told["id"], True)
    assert (await asks(shelf, place(tool, "tried"), "other")).json() == []


async def test_what_does_not_fit_is_told_by_parameter_and_not_sent(shelf: World) -> None:
    async with serving(reply()) as served:
        tool = await holds(shelf, served)
        refused = await tries(shelf, tool, arguments={"count": 11, "colour": "red"})
    assert refused.status_code == 400
    assert any(one["place"] == "arguments.count" for one in refused.json()["errors"])
    assert (served.requests, (await asks(shelf, place(tool, "tried"))).json()) == ([], [])


async def test_a_change_needs_leave_and_is_written_down_before_it_is_made(shelf: World) -> None:
    seen: list[Any] = []

    async def looked(writer: asyncio.StreamWriter) -> None:
        seen.append(await shelf.services.storage.tool_tries.list_latest(shelf.people["user"].id, tool, 1))
        await reply(body=b"{}")(writer)

    script: Answer = looked
    async with serving(script) as served:
        tool = await holds(shelf, served, "DELETE")
        refused = await tries(shelf, tool, arguments={"count": 1})
        assert (refused.status_code, refused.json()["code"], served.requests) == (403, "not_allowed", [])
        assert "it is called by DELETE" in refused.json()["detail"]
        done = (await tries(shelf, tool, arguments={"count": 1}, leave=True)).json()
    assert (done["outcome"], done["changes"], len(served.requests)) == ("ok", True, 1)
    ((before,),) = seen
    assert (before.finished_at, before.arguments) == (None, {"count": 1})


async def test_a_change_that_is_sent_again_under_its_key_is_not_made_again(shelf: World) -> None:
    async with serving(reply(body=b'{"gone": true}'), reply(body=b"{}")) as served:
        tool = await holds(shelf, served, "DELETE")
        body: Any = {"arguments": {"count": 1}, "leave": True, "key": "of-this-very-call"}
        first, again = [(await tries(shelf, tool, **body)).json() for _ in range(2)]
        assert (again, len(served.requests)) == (first, 1)
        other = await tries(shelf, tool, **body | {"arguments": {"count": 2}})
        assert (other.status_code, other.json()["code"], len(served.requests)) == (409, "conflict", 1)
        await tries(shelf, tool, **body | {"key": "of-the-next-one"})
        assert len(served.requests) == 2


async def test_of_a_change_that_is_cut_off_nobody_knows_how_it_ended(shelf: World) -> None:
    async with serving(silence) as served:
        tool = await holds(shelf, served, "DELETE")
        trying = asyncio.create_task(tries(shelf, tool, arguments={"count": 1}, leave=True))
        while not served.requests:  # noqa: ASYNC110  # the server has no event to wait for
            await asyncio.sleep(0.01)
        trying.cancel()
        await asyncio.gather(trying, return_exceptions=True)
    (kept,) = (await asks(shelf, place(tool, "tried"))).json()
    assert (kept["finished_at"], kept["outcome"], kept["changes"]) == (None, None, True)


async def test_the_callers_own_key_is_sent_and_shown_to_nobody(shelf: World) -> None:
    user = shelf.people["user"].id
    async with serving(reply(body=f'{{"you sent": "{SECRET}"}}'.encode())) as served:
        host = served.url.removeprefix("http://")
        await shelf.services.storage.tool_keys.put(user, "things", SECRET, [host])
        tool = await holds(shelf, served, credentials=(Credential(secret="things", name="X-Key"),))
        told = await tries(shelf, tool, arguments={"count": 1})
        without = (await tries(shelf, tool, "other", arguments={"count": 1})).json()
    assert f"x-key: {SECRET}".encode() in served.requests[0].lower()
    assert SECRET not in told.text
    assert SECRET not in (await asks(shelf, place(tool, "tried"))).text
    assert (without["outcome"], len(served.requests)) == ("caller_fault", 1)
    assert "/me/tool-keys/things" in without["note"]


async def test_an_address_that_is_not_public_is_not_called(home: Path, tmp_path: Path) -> None:
    async with library(home, tmp_path, tmp_path / "store", allow_hosts="") as world:
        await with_store(world)
        async with serving(reply()) as served:
            tool = await holds(world, served)
            told = (await tries(world, tool, arguments={"count": 1})).json()
        assert (told["outcome"], told["http_status"], served.requests) == ("caller_fault", None, [])
        assert told["note"]


async def test_a_long_answer_is_cut_and_told_as_a_model_would_see_it(shelf: World) -> None:
    long = '{"things": [' + ", ".join('{"name": "a thing"}' for _ in range(4_000)) + "]}"
    async with serving(reply(body=long.encode())) as served:
        tool = await holds(shelf, served)
        told = (await tries(shelf, tool, arguments={"count": 1})).json()
    assert (len(told["response"]), told["whole"]) == (LONGEST, len(long))
    assert 0 < len(told["short"]) <= 1_024
