"""The command that a client starts, as a process: its output is the protocol's and nothing else; it is heard and taken back from as over HTTP."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import InitializeResult

from tests.support.mcp_clients import SHIPS, built, call_taken_back, silent_api, text
from tests.support.small_api import small_api
from tests.support.source_tree import ROOT

COMMAND = str(ROOT / "scripts" / "mcp_server.py")
LIST_SHIPS = {"tool": "list_ships"}


@asynccontextmanager
async def started(folder: Path, url: str) -> AsyncGenerator[tuple[ClientSession, InitializeResult]]:
    """A session with the command over a store of the harbour's tools at an address, and what it said of itself."""
    store = await asyncio.to_thread(built, folder, url)
    allowed = {"FOOTPATH_ALLOW_HOSTS": url.removeprefix("http://"), "FOOTPATH_UNKNOWN_SETTING": "told on stderr"}
    command = StdioServerParameters(command=sys.executable, args=[COMMAND, "--store", str(store)], env=allowed)
    async with stdio_client(command) as streams, ClientSession(*streams) as session:
        yield session, await session.initialize()


async def test_a_client_starts_it_and_hears_how_far_a_call_is_and_what_is_wrong_with_one(tmp_path: Path) -> None:
    words: list[str] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        words.append(message or "")

    async with small_api(list_ships=SHIPS) as api, started(tmp_path, api.url) as (session, told):
        listed = await session.list_tools()
        called = await session.call_tool("call_tool", LIST_SHIPS, progress_callback=heard)
        strange = await session.call_tool("call_tool", {"tool": "sail_away"})
        wrong = await session.call_tool("call_tool", {"arguments": {}})
        none = await session.call_tool("sail_away", {})
    assert told.serverInfo.name == "footpath"
    assert "find_tools, then run_program" in (told.instructions or "")
    assert len(listed.tools) == 5
    assert "Zeemeeuw" in text(called)
    assert words.index("calling list_ships") < words.index("list_ships: ok")
    assert all(one.isError for one in (strange, wrong, none))
    assert "no tool is called 'sail_away'" in text(strange)
    assert "call_tool was called wrongly: tool" in text(wrong)
    assert "there are: find_tools" in text(none)


async def test_what_a_client_takes_back_is_cancelled_and_the_session_goes_on(tmp_path: Path) -> None:
    async with silent_api() as api, started(tmp_path, api.url) as (session, _):
        told = await call_taken_back(session, api)
        shown = await session.call_tool("show_tool", LIST_SHIPS)
    assert "cancelled" in told
    assert "list_ships" in text(shown)


async def test_it_says_what_to_do_where_there_is_no_store(tmp_path: Path) -> None:
    command = [sys.executable, COMMAND, "--store", str(tmp_path / "none")]
    process = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
    out, err = await process.communicate()
    assert process.returncode == 3
    assert out == b""
    assert b"build_graph.py" in err
