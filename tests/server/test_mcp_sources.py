"""MCP servers as sources: read, looked at, admitted, and read again."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.flows.indexed_store import indexed_store
from tests.flows.small_world import TOOLS
from tests.server.sources import Asking
from tests.server.world import World, copied, serving
from tests.unit.agent.execution.mcp.everything import everything
from tests.unit.agent.execution.mcp.serving import served, tool
from wiring.executors import live_executor

BERTH = "sea/Harbour/berth_of"


@pytest.fixture
async def stocked(home: Path, tmp_path: Path) -> AsyncGenerator[World]:
    store = await indexed_store(tmp_path / "store", TOOLS)
    home = await asyncio.to_thread(copied, home, tmp_path / "home")
    async with serving(home, store=store, allow_hosts="127.0.0.1") as opened:
        yield opened


async def test_a_server_is_read_and_its_tools_admitted(stocked: World) -> None:
    author = Asking(stocked, await stocked.headers_of("author"))
    async with served(everything().streamable_http_app()) as address:
        body = {"name": "Harbour", "kind": "mcp", "category": "sea", "address": f"{address}/mcp"}
        made = await author("POST", "/sources", body)
        assert (made["trouble"], made["counts"]["draft"] > 3) == ("", True)
        berth = await author("GET", f"/sources/{made['id']}/tools/{BERTH}")
        # Its own hint confirms nothing; its author's word does.
        assert (berth["document"]["method"], berth["document"]["marked"], berth["document"]["hints"]) == (
            "MCP",
            "",
            ["reads"],
        )
        await author("PATCH", f"/sources/{made['id']}/tools/{BERTH}", {"side_effect": "reads"})
        await author("POST", f"/sources/{made['id']}/check", {"tools": [BERTH], "arguments": {BERTH: {"ship": "Argo"}}})
        await stocked.services.checker.settled()
        checked = await author("GET", f"/sources/{made['id']}/tools/{BERTH}")
        (probe,) = [one for one in checked["findings"] if one["check"] == "probe"]
        assert probe["verdict"] == "passed", probe
        await author("POST", f"/sources/{made['id']}/admit", {"tools": [BERTH]})
        read = await author("POST", f"/sources/{made['id']}/refresh", {})
        assert (read["version"], read["changes"], read["counts"]["admitted"]) == (1, [], 1)


async def test_a_server_that_does_not_answer_is_kept_to_be_read_again(stocked: World) -> None:
    author = Asking(stocked, await stocked.headers_of("author"))
    async with served(everything().streamable_http_app()) as address:
        pass
    body = {"name": "Harbour", "kind": "mcp", "category": "sea", "address": f"{address}/mcp"}
    made = await author("POST", "/sources", body)
    assert (bool(made["trouble"]), sum(made["counts"].values()), made["read_at"]) == (True, 0, None)
    again = await author.answer("POST", f"/sources/{made['id']}/refresh", {})
    assert (again.status_code, bool(again.json()["detail"])) == (503, True)
    async with served(everything().streamable_http_app()) as other:
        await author("PATCH", f"/sources/{made['id']}", {"address": f"{other}/mcp"})
        read = await author("POST", f"/sources/{made['id']}/refresh", {})
    assert (read["trouble"], read["counts"]["draft"] > 3) == ("", True)
    refused = await author.answer("POST", "/sources", body | {"address": "", "command": "nobody-allowed-this"})
    assert (refused.status_code, "nobody-allowed-this" in refused.json()["detail"]) == (422, True)


async def test_a_server_that_says_that_its_tools_are_others_is_read_again_soon(stocked: World) -> None:
    author = Asking(stocked, await stocked.headers_of("author"))
    async with served(everything().streamable_http_app()) as address:
        url = f"{address}/mcp"
        body = {"name": "Harbour", "kind": "mcp", "category": "sea", "address": url, "watch_minutes": 600}
        made = await author("POST", "/sources", body)
        assert await stocked.services.watch.due() == 0
        container = await stocked.services.agents.whole()
        executor = live_executor(container, await container.secrets(), "somebody")
        try:
            assert (await executor.call(tool(url, "learns"), {"name": "sails"})).outcome == "ok"
        finally:
            await executor.close()
        async with asyncio.timeout(20):
            while not await stocked.services.watch.due():  # noqa: ASYNC110  the server's word is on its way
                await asyncio.sleep(0.05)
        changes = (await author("GET", f"/sources/{made['id']}"))["changes"]
    assert [(one["tool"], one["kind"]) for one in changes] == [("sea/Harbour/sails", "added")]
