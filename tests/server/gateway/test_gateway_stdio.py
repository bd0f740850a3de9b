"""The command that a client starts, as a process: its output is the protocol's and nothing else."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.architecture.source_tree import ROOT
from tests.server.gateway.clients import SHIPS, built, text
from tests.server.small_api import small_api

COMMAND = str(ROOT / "scripts" / "mcp_server.py")


async def test_a_client_starts_it_and_calls_a_tool(tmp_path: Path) -> None:
    async with small_api(list_ships=SHIPS) as api:
        store = await asyncio.to_thread(built, tmp_path, api.url)
        allowed = {
            "FOOTPATH_ALLOW_HOSTS": api.url.removeprefix("http://"),
            "FOOTPATH_UNKNOWN_SETTING": "told on stderr",
        }
        started = StdioServerParameters(command=sys.executable, args=[COMMAND, "--store", str(store)], env=allowed)
        async with stdio_client(started) as streams, ClientSession(*streams) as session:
            told = await session.initialize()
            listed = await session.list_tools()
            called = await session.call_tool("call_tool", {"tool": "list_ships"})
    assert told.serverInfo.name == "footpath"
    assert "ask serves a whole request" in (told.instructions or "")
    assert len(listed.tools) == 5
    assert "Zeemeeuw" in text(called)


async def test_it_says_what_to_do_where_there_is_no_store(tmp_path: Path) -> None:
    command = [sys.executable, COMMAND, "--store", str(tmp_path / "none")]
    process = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
    out, err = await process.communicate()
    assert process.returncode == 3
    assert out == b""
    assert b"build_graph.py" in err
