"""MCP servers that do not answer when they are added, and are read later."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.support.everything_mcp_server import everything
from tests.support.indexed_store import indexed_store
from tests.support.mcp_servers import served
from tests.support.server_world import World, copied, serving
from tests.support.small_world import TOOLS
from tests.support.source_samples import Asking


@pytest.fixture
async def stocked(home: Path, tmp_path: Path) -> AsyncGenerator[World]:
    store = await indexed_store(tmp_path / "store", TOOLS)
    home = await asyncio.to_thread(copied, home, tmp_path / "home")
    async with serving(home, store=store, allow_hosts="127.0.0.1") as opened:
        yield opened


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
        wrong = await author.answer("POST", "/sources", body | {"address": f"{other}/elsewhere"})
    assert (read["trouble"], read["counts"]["draft"] > 3) == ("", True)
    assert (wrong.status_code, "often /mcp" in wrong.json()["detail"]) == (422, True), wrong.text
    assert [one["id"] for one in await author("GET", "/sources")] == [made["id"]]
    refused = await author.answer("POST", "/sources", body | {"address": "", "command": "nobody-allowed-this"})
    assert (refused.status_code, "nobody-allowed-this" in refused.json()["detail"]) == (422, True)
