"""Tools of sources that are admitted while the server runs: the next run uses them, and nobody does whom they are not for."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from domain.tool import ToolId
from tests.support.indexed_store import indexed_store
from tests.support.server_world import World, serving
from tests.support.small_world import BOOKS, OLD_WEATHER
from tests.support.source_samples import check_all
from tests.support.stream_server import serve_connections

TOOL = ToolId("geo/Atlas/search_places")
ASKED = "How many inhabitants does Paris have?"
ANSWER = {"results": [{"city": "Paris", "inhabitants": 2100000}]}


@asynccontextmanager
async def atlas() -> AsyncGenerator[tuple[str, list[str]]]:
    """A service of one operation at this machine, and what it was asked."""
    asked: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        asked.append(head.split(" ")[1])
        body = json.dumps(ANSWER).encode()
        told = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(told.encode() + body)

    async with serve_connections(answer) as port:
        yield f"127.0.0.1:{port}", asked


class Caller:
    """One of the people."""

    def __init__(self, world: World, headers: dict[str, str]) -> None:
        self._world = world
        self._headers = headers

    async def __call__(self, method: str, path: str, body: Any = None) -> Any:
        answer = await self._world.client.request(method, f"/api/v1{path}", json=body, headers=self._headers)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    async def status(self, method: str, path: str, body: Any = None) -> int:
        return (
            await self._world.client.request(method, f"/api/v1{path}", json=body, headers=self._headers)
        ).status_code

    async def asks(self, **choices: object) -> dict[str, Any]:
        """The export of a run, once it has ended."""
        run = await self.begins(**choices)
        await self.waits(run)
        return (await self("GET", f"/conversations/{run['conversation_id']}/export"))["runs"][0] | {"id": run["id"]}

    async def begins(self, **choices: object) -> dict[str, Any]:
        """A run in a conversation of its own."""
        conversation = (await self("POST", "/conversations", {}))["id"]
        return await self("POST", f"/conversations/{conversation}/runs", {"request": ASKED, **choices})

    async def waits(self, run: dict[str, Any], status: str = "finished") -> None:
        """Until the run has come to this."""
        for _ in range(1_000):
            if (await self("GET", f"/runs/{run['id']}"))["status"] == status:
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"the run never came to be {status}")

    async def has_source(self, host: str, **values: object) -> str:
        """A source of the atlas, admitted."""
        tool = {
            "name": "search_places", "url": "/places",
            "description": "Find a city by its name: its number of inhabitants.",
            "parameters": [{"name": "city", "required": True, "description": "Name of the city.", "example": "Rome"}],
            "example_response": json.dumps(ANSWER),
        }  # fmt: skip
        body = {"name": "Atlas", "kind": "form", "category": "geo", "base_url": f"http://{host}", "tools": [tool]}
        source = (await self("POST", "/sources", body | values))["id"]
        await check_all(self._world, source)
        await self("POST", f"/sources/{source}/admit", {})
        return source


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[tuple[World, str, list[str]]]:
    """A server over a store of two tools, and the atlas, which it may call."""
    store = await indexed_store(tmp_path / "store", [BOOKS, OLD_WEATHER])
    async with atlas() as (host, asked), serving(tmp_path / "home", store=store, allow_hosts=host) as opened:
        yield opened, host, asked


async def people(world: World) -> tuple[Caller, Caller, Caller]:
    author, user, other = [Caller(world, await world.headers_of(who)) for who in ("author", "user", "other")]
    return author, user, other


async def test_the_next_run_uses_what_was_admitted_and_none_what_was_withdrawn(
    world: tuple[World, str, list[str]],
) -> None:
    opened, host, asked = world
    author, user, _ = await people(opened)
    before = await user.asks()
    assert TOOL not in json.dumps(before)
    source = await author.has_source(host)
    during = await user.asks()
    assert asked == ["/places?city=Paris"], during
    assert "2100000" in json.dumps(during["events"][-1]).replace(",", "")
    await author("POST", f"/sources/{source}/quarantine", {"tools": [TOOL], "reason": "stale"})
    after = await user.asks()
    assert len(asked) == 1
    assert TOOL not in json.dumps(after)
    await author("POST", f"/sources/{source}/undo")
    await user.asks()
    assert len(asked) == 2


async def test_what_is_for_one_user_is_nothing_to_another(world: tuple[World, str, list[str]]) -> None:
    opened, host, asked = world
    author, user, other = await people(opened)
    await author.has_source(host, visibility="users", users=[opened.people["user"].id])
    assert len(asked) == 0
    mine = await user.asks()
    assert len(asked) == 1, mine
    for asking, there in ((user, True), (other, False)):
        assert (await asking.status("GET", f"/tools/{TOOL}/about") == 200) is there
        assert (TOOL in json.dumps(await asking("GET", "/tools?query=inhabitants+of+a+city"))) is there
        assert (TOOL in json.dumps(await asking("GET", "/tools"))) is there
    plan = {"steps": [{"tool": TOOL, "arguments": {"city": "Paris"}}]}
    await user.waits(await user.begins(document=plan))
    assert len(asked) == 2
    conversation = (await other("POST", "/conversations", {}))["id"]
    body = {"request": ASKED, "document": plan}
    assert await other.status("POST", f"/conversations/{conversation}/runs", body) == 400
    theirs = await other.asks()
    assert TOOL not in json.dumps(theirs)
    assert len(asked) == 2


async def test_a_solution_is_there_for_whom_its_tools_are(world: tuple[World, str, list[str]]) -> None:
    opened, host, _ = world
    author, user, other = await people(opened)
    source = await author.has_source(host)
    run = await user.asks()
    kept = (await user("POST", "/solutions", {"run_id": run["id"], "parameters": {}}))["id"]
    library = await (await opened.services.agents.get_full_container()).solutions(opened.people["user"].id)
    shared = await library.share(kept)
    for asking in (user, other):
        assert shared in {one["id"] for one in await asking("GET", "/solutions")}
    body = {"visibility": "users", "users": [opened.people["user"].id]}
    await author("PATCH", f"/sources/{source}", body)
    assert shared in {one["id"] for one in await user("GET", "/solutions")}
    assert await other("GET", "/solutions") == []
    assert await other.status("GET", f"/solutions/{shared}") == 404
    taken: dict[str, Any] = {"conversation_id": (await other("POST", "/conversations", {}))["id"], "values": {}}
    assert await other.status("POST", f"/solutions/{shared}/runs", taken) == 404
    await author("DELETE", f"/sources/{source}")
    assert await user("GET", "/solutions") == []


async def test_a_shared_template_is_there_for_whom_its_tools_are(world: tuple[World, str, list[str]]) -> None:
    opened, host, _ = world
    author, user, _ = await people(opened)
    source = await author.has_source(host)
    run = await author.asks()
    made = (await author("POST", "/templates", {"name": "Inhabitants", "run_id": run["id"], "parameters": {}}))["id"]
    await author("PATCH", f"/templates/{made}", {"shared": True})
    assert await user.status("GET", f"/templates/{made}") == 200
    await author("PATCH", f"/sources/{source}", {"visibility": "users", "users": []})
    assert await user.status("GET", f"/templates/{made}") == 404
    assert await author.status("GET", f"/templates/{made}") == 200


async def test_a_plan_whose_tool_is_hidden_meanwhile_is_not_approved(world: tuple[World, str, list[str]]) -> None:
    opened, host, asked = world
    author, user, _ = await people(opened)
    source = await author.has_source(host)
    run = await user.begins(stop_at_plan=True)
    await user.waits(run, "waiting")
    await author("PATCH", f"/sources/{source}", {"visibility": "users", "users": []})
    assert await user.status("POST", f"/runs/{run['id']}/inputs/plan-1", {"decision": "allow"}) == 400
    assert asked == []
