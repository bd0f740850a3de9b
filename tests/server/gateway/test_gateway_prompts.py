"""Solutions are prompts: listed with what they take, filled in, and served by their program."""

from pathlib import Path

import pytest
from mcp import McpError

from domain.model import JsonObject
from domain.solution import Solution
from tests.support.mcp_clients import BERTHS, client, harbour, store, text
from tests.support.small_api import small_api
from tests.support.solution_shelf import solution

TEXT = """
berth = await berth_of(ship=ship)
{"answered": "yes", "answer": f"{ship} lies at {berth['number']}"}
"""


def kept(url: str, name: str = "where", **more: object) -> Solution:
    tools = [one for one in harbour(url) if one.api == "berth_of"]
    inputs: dict[str, JsonObject] = {"ship": {"type": "string", "description": "a ship's name"}}
    return solution(name, tools, TEXT, "Where does {ship} lie?", inputs=inputs).model_copy(update=more)


async def test_a_solution_is_picked_filled_in_and_run(tmp_path: Path) -> None:
    async with small_api(berth_of=BERTHS) as api, store(tmp_path, api.url) as container:
        (name,) = await (await container.solutions()).add([kept(api.url)])
        async with client(container) as session:
            (listed,) = (await session.list_prompts()).prompts
            assert (listed.name, listed.title) == (name, "Where does {ship} lie?")
            assert [(one.name, one.required) for one in listed.arguments or []] == [("ship", True)]
            filled = await session.get_prompt(name, {"ship": "Zeemeeuw"})
            words = filled.messages[0].content
            assert words.type == "text"
            assert words.text.startswith("Where does Zeemeeuw lie?")
            given = {"request": "Where does Zeemeeuw lie?", "solution": name, "inputs": {"ship": "Zeemeeuw"}}
            ran = await session.call_tool("run_program", given)
            lacking = await session.call_tool("run_program", {"request": "Where?", "solution": name})
            with pytest.raises(McpError, match="ship"):
                await session.get_prompt(name, {})
            with pytest.raises(McpError, match="no solution nix"):
                await session.get_prompt("nix", {})
    assert "Zeemeeuw lies at 8" in text(ran)
    assert not ran.isError
    assert lacking.isError
    assert "ship" in text(lacking)


async def test_one_that_is_suspended_is_no_prompt(tmp_path: Path) -> None:
    async with small_api(berth_of=BERTHS) as api, store(tmp_path, api.url) as container:
        library = await container.solutions()
        (name,) = await library.add([kept(api.url)])
        await library.suspend(name, "its tool has changed")
        async with client(container) as session:
            assert (await session.list_prompts()).prompts == []
            ran = await session.call_tool("run_program", {"request": "x", "solution": name, "inputs": {"ship": "A"}})
    assert "its tool has changed" in text(ran)
    assert api.asked == []
