"""A server over a store without a tool: it says so, and what a source brings is asked for at once. The steps of the example in docs/sources.md."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.server_world import World, copied, serving, with_store
from tests.support.small_api import document, operation, small_api
from tests.support.source_samples import Asking

_QUESTION = "Which ships are in the harbour?"


@pytest.fixture
async def empty(home: Path, tmp_path: Path) -> AsyncIterator[World]:
    home = await asyncio.to_thread(copied, home, tmp_path / "home")
    async with serving(home, store=tmp_path / "store", allow_hosts="127.0.0.1") as world:
        await with_store(world)
        yield world


async def ended(world: World, who: Asking) -> dict[str, Any]:
    """A run of the question, once it has ended."""
    talk = await who("POST", "/conversations", {"title": ""})
    run = await who("POST", f"/conversations/{talk['id']}/runs", {"request": _QUESTION})
    assert (await who("GET", f"/runs/{run['id']}"))["answer"] == ""
    await world.client.get(f"/api/v1/runs/{run['id']}/events", headers=await world.headers_of("author"))
    return await who("GET", f"/runs/{run['id']}")


async def test_it_is_told_that_there_are_no_tools_and_how_they_come(empty: World) -> None:
    author = Asking(empty, await empty.headers_of("author"))
    assert (await author("GET", "/tools"))["tools"] == []
    assert (await author("GET", "/tools?query=ships"))["tools"] == []
    run = await ended(empty, author)
    assert run["outcome"] == "gave_up"
    assert run["answer"].startswith("There are no tools yet")
    assert "under Sources" in run["answer"]


async def test_an_api_that_is_added_answers_the_next_question(empty: World) -> None:
    author = Asking(empty, await empty.headers_of("author"))
    async with small_api(ships={"ships": [{"id": 7, "name": "Zeemeeuw"}]}) as api:
        api.answers["/openapi.json"] = document(api.url, operation("ships"))
        body = {"name": "Harbour", "kind": "openapi", "category": "sea", "address": f"{api.url}/openapi.json"}
        source = await author("POST", "/sources", body)
        await author("POST", f"/sources/{source['id']}/check", {})
        await empty.services.checker.settled()
        tools = await author("POST", f"/sources/{source['id']}/admit", {"tools": ["sea/Harbour/ships"]})
        assert [one["state"] for one in tools] == ["admitted"], tools
        run = await ended(empty, author)
    assert (run["outcome"], "Zeemeeuw" in run["answer"]) == ("answered", True), run
