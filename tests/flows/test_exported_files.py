"""What is exported of runs on the playground does there what the runs did: as Python, over MCP, and as a node of LangGraph."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from typer.testing import CliRunner

from agent.exporting.program_files import EXPORT_FORMS, ExportForm
from footpath import Footpath
from tests.support.playground_process import running_playground
from tests.support.server_process import built

ROOT = Path(__file__).resolve().parents[2]
WEATHER = "What is the temperature in Tarnholm right now?"
Node = Callable[[dict[str, Any]], Awaitable[dict[str, str]]]
HOLIDAYS = "Which public holidays does Caldera have in 2026?"
RATE = "Convert 250 VDK into the currency of Marovia."


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[str, Path]]:
    """Where a playground runs, and a store of it."""
    with running_playground() as address:
        yield address, built(tmp_path_factory.mktemp("exported"), address).store


@pytest.fixture(scope="module")
def files(world: tuple[str, Path]) -> dict[tuple[str, ExportForm], str]:
    """Every form of some runs, and what they answered under their request alone."""
    address, store = world
    with Footpath.open(store, allow_hosts={address.removeprefix("http://")}) as footpath:
        runs = [footpath.ask(request, policy="offline") for request in (WEATHER, HOLIDAYS, RATE)]
        assert all(one.ok for one in runs)
        made: dict[tuple[str, ExportForm], str] = {
            (one.request, form): footpath.export(one, form) for one in runs for form in EXPORT_FORMS
        }
        again = {(one.request, form): footpath.export(one.run, form) for one in runs for form in EXPORT_FORMS}
    assert made == again
    return made


@pytest.fixture
def settings(world: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The store of whoever runs an exported file."""
    monkeypatch.setenv("FOOTPATH_STORE", str(world[1]))
    monkeypatch.setenv("FOOTPATH_ALLOW_HOSTS", world[0].removeprefix("http://"))


@pytest.fixture
def imported(settings: None, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, Any]]:
    """The names of an exported file, imported as a module."""

    def names_of(text: str) -> dict[str, Any]:
        module = ModuleType("exported_file")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(compile(text, "exported_file.py", "exec"), module.__dict__)
        return module.__dict__

    return names_of


def function_of(names: dict[str, Any]) -> Any:
    """What a file is about."""
    (own,) = [one for name, one in names.items() if name.startswith(("convert_", "what_", "which_"))]
    return own


def test_a_python_file_answers_with_the_runs_values_and_with_others(
    files: dict[tuple[str, ExportForm], str],
    imported: Callable[[str], dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    main = imported(files[WEATHER, "python"])["main"]
    monkeypatch.setattr(sys, "argv", ["file"])
    asyncio.run(main())
    monkeypatch.setattr(sys, "argv", ["file", "--city", "Caldera City"])
    asyncio.run(main())
    assert capsys.readouterr().out.splitlines()[0] == "7.3"
    monkeypatch.setattr(sys, "argv", ["file", "--name", "Marovia", "--year", "2026"])
    asyncio.run(imported(files[HOLIDAYS, "python"])["main"]())
    assert "2026-" in capsys.readouterr().out


def test_the_values_of_steps_are_inputs_too_with_their_types(
    files: dict[tuple[str, ExportForm], str], imported: Callable[[str], dict[str, Any]]
) -> None:
    text = files[RATE, "python"]
    assert "amount: " in text
    names = imported(text)
    assert {name: one["default"] for name, one in names["INPUTS"].items()} == {
        "name": "Marovia",
        "from_currency": "VDK",
        "amount": 250,
    }

    async def run() -> str:
        async with names["AsyncFootpath"].open() as footpath:
            answer = await function_of(names)(footpath, amount=500)
            return answer.text

    assert "586.0" in asyncio.run(run())


@pytest.mark.usefixtures("settings")
async def test_an_mcp_server_stands_alone_with_one_typed_tool(
    files: dict[tuple[str, ExportForm], str], tmp_path: Path
) -> None:
    file = tmp_path / "server.py"
    file.write_text(files[WEATHER, "mcp"], encoding="utf-8")
    server = StdioServerParameters(
        command=sys.executable, args=[str(file)], env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=tmp_path
    )
    async with stdio_client(server) as streams, ClientSession(*streams) as client:
        await client.initialize()
        (tool,) = (await client.list_tools()).tools
        city = tool.inputSchema["properties"]["city"]
        assert (city["type"], city["default"], tool.inputSchema.get("required")) == ("string", "Tarnholm", None)
        assert tool.annotations is not None
        assert tool.annotations.readOnlyHint
        told = await client.call_tool(tool.name, {})
        assert told.structuredContent is not None
        assert (told.isError, told.structuredContent["result"].startswith("7.3")) == (False, True)
        nowhere = await client.call_tool(tool.name, {"city": "Xqzzyplatz"})
        assert nowhere.isError


async def test_nodes_of_langgraph_share_a_store_and_take_and_give_a_state(
    files: dict[tuple[str, ExportForm], str], imported: Callable[[str], dict[str, Any]]
) -> None:
    holidays, weather = imported(files[HOLIDAYS, "langgraph"]), imported(files[WEATHER, "langgraph"])
    assert get_type_hints(holidays["State"]) == {"name": str, "year": int, "answer": str, "outcome": str, "error": str}
    async with holidays["AsyncFootpath"].open() as footpath:
        node: Node = holidays["node"](footpath)
        other: Node = weather["node"](footpath)
        told = await asyncio.gather(node({"year": 2026, "messages": []}), node({"name": "Marovia"}), other({}))
    assert [one["outcome"] for one in told] == ["answered"] * 3
    first, second, third = (one["answer"] for one in told)
    assert "New Year's Day" in first
    assert first != second
    assert third.startswith("7.3")


def test_the_command_writes_a_file_and_says_what_is_wrong(
    world: tuple[str, Path], files: dict[tuple[str, ExportForm], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    from footpath.command import app

    asked = [json.loads(line) for line in (world[1] / "asked.jsonl").read_text(encoding="utf-8").splitlines()]
    run = next(one["judged"]["run"] for one in asked if one["judged"]["request"] == RATE)
    file = tmp_path / "rate.py"
    words = ["export-program", run, "--as", "langgraph", "--store", str(world[1]), "-o", str(file)]
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, done.stdout.strip()) == (0, str(file)), done.stderr
    assert file.read_text(encoding="utf-8") == files[RATE, "langgraph"]
    again = CliRunner().invoke(app, words)
    assert (again.exit_code, "--force" in again.stderr) == (2, True)
    unknown = CliRunner().invoke(app, ["export-program", "nothing", "--store", str(world[1])])
    assert (unknown.exit_code, "no such run or solution" in unknown.stderr) == (2, True)
