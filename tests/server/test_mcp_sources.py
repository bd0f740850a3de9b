"""MCP servers as sources: added, looked at by the gate, admitted, and read again when they say that their tools are others."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp.server.fastmcp import FastMCP

from domain.tool import ToolId
from tests.support.everything_mcp_server import everything
from tests.support.indexed_store import indexed_store
from tests.support.mcp_servers import served
from tests.support.server_world import World, copied, serving
from tests.support.small_world import TOOLS
from tests.support.source_samples import Asking

BERTH = ToolId("sea/Harbour/berth_of")


@pytest.fixture
async def stranger() -> AsyncIterator[tuple[FastMCP, str]]:
    server = everything()
    async with served(server.streamable_http_app()) as at:
        yield server, f"{at}/mcp"


@pytest.fixture
async def stocked(home: Path, tmp_path: Path) -> AsyncIterator[World]:
    store = await indexed_store(tmp_path / "store", TOOLS)
    home = await asyncio.to_thread(copied, home, tmp_path / "home")
    async with serving(home, store=store, allow_hosts="127.0.0.1") as opened:
        yield opened


@pytest.fixture
async def author(stocked: World) -> Asking:
    return Asking(stocked, await stocked.headers_of("author"))


async def added(author: Asking, address: str, **more: Any) -> str:
    body = {"name": "Harbour", "kind": "mcp", "category": "sea", "address": address, **more}
    return (await author("POST", "/sources", body))["id"]


async def tools_of(author: Asking, source: str) -> dict[str, Any]:
    return {one["document"]["api"]: one for one in await author("GET", f"/sources/{source}/tools")}


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("http://10.0.0.9:81/mcp", "ask an administrator of this server to allow 10.0.0.9:81 by"),
        ("http://169.254.169.254/mcp", "no setting allows a call to it"),
    ],
)
async def test_a_server_in_a_private_network_is_refused_with_whom_to_ask(
    author: Asking, address: str, told: str
) -> None:
    body = {"name": "Harbour", "kind": "mcp", "category": "sea", "address": address}
    refused = await author.answer("POST", "/sources", body)
    assert (refused.status_code, told in refused.json()["detail"]) == (422, True), refused.text


async def test_it_is_looked_at_admitted_and_offered(
    stocked: World, author: Asking, stranger: tuple[FastMCP, str]
) -> None:
    source = await added(author, stranger[1])
    drafts = await tools_of(author, source)
    assert {one["state"] for one in drafts.values()} == {"draft"}
    assert drafts["berth_of"]["document"]["hints"] == ["reads"]
    correction = {"side_effect": "reads", "examples": {"ship": "Argo"}, "reason": "I wrote it"}
    await author("PATCH", f"/sources/{source}/tools/{BERTH}", correction)
    await author("POST", f"/sources/{source}/check", {"tools": [BERTH]})
    await stocked.services.checker.settled()
    looked_at = (await tools_of(author, source))["berth_of"]
    found = {one["check"]: one for one in looked_at["findings"]}
    assert found["probe"]["verdict"] == "passed", found["probe"]
    assert found["address"]["verdict"] != "failed"
    if looked_at["state"] == "tested" and any(one["verdict"] == "failed" for one in found.values()):
        pytest.fail(str([one for one in found.values() if one["verdict"] == "failed"]))
    await author("POST", f"/sources/{source}/admit", {"tools": [BERTH]})
    container = await stocked.services.agents.get_container()
    offered = (await container.graph.get_tools([BERTH]))[BERTH]
    assert (offered.method, offered.url, offered.safe) == ("MCP", stranger[1], True)


async def test_a_list_that_changes_is_read_again(stocked: World, author: Asking, stranger: tuple[FastMCP, str]) -> None:
    server, address = stranger
    source = await added(author, address)
    assert "learnt" not in await tools_of(author, source)
    server.add_tool(lambda: "x", name="learnt", description="A tool that came later.")
    stocked.services.agents.mcp_changed.add(address)
    await stocked.services.watch.due()
    assert stocked.services.agents.mcp_changed == set()
    await author("POST", f"/sources/{source}/refresh", {})
    assert (await tools_of(author, source))["learnt"]["state"] == "draft"


async def test_a_command_that_nobody_allowed_is_refused(author: Asking) -> None:
    body = {"name": "Shell", "kind": "mcp", "category": "sea", "command": "sh"}
    refused = await author.answer("POST", "/sources", body)
    assert refused.status_code in (400, 409, 422)
    assert "FOOTPATH_MCP_COMMANDS" in refused.text
