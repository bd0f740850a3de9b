"""Programs that are sent to be kept: what their readers take them for is what they call."""

from typing import Any

import pytest

from tests.server.test_plan_programs import LIST, store, world
from tests.support.server_world import World
from tests.support.small_tools import FIND, SEND

__all__ = ["store", "world"]


async def made(world: World, program: dict[str, Any], status: int, **besides: Any) -> dict[str, Any]:
    """What answers a template of a program."""
    body = {"name": "Cities", "request": "the cities", "program": program} | besides
    headers = await world.headers_of("user")
    answer = await world.client.post("/api/v1/templates", json=body, headers=headers)
    assert answer.status_code == status, answer.text
    return answer.json()


async def test_a_function_has_the_name_of_its_tool(world: World) -> None:
    text = 'await list_cities(city="Tarn")'
    refused = await made(world, {"text": text, "tools": {"list_cities": FIND.id}}, 400)
    (error,) = refused["errors"]
    assert error["place"] == "program.tools.list_cities"
    assert "call it find_city" in error["message"]
    kept = await made(world, {"text": 'await find_city(city="Tarn")', "tools": {"find_city": FIND.id}}, 201)
    assert kept["content"]["program"]["program"]["tools"] == {"find_city": FIND.id}


@pytest.mark.parametrize("name", ["ask", "today", "print"])
async def test_what_means_something_already_is_no_tool(world: World, name: str) -> None:
    refused = await made(world, {"text": f'await {name}(to="Tarn")', "tools": {name: SEND.id}}, 400)
    assert refused["errors"][0]["place"] == f"program.tools.{name}"
    assert LIST.id not in refused["detail"]


async def test_a_request_names_inputs_that_there_are(world: World) -> None:
    program = {
        "text": "await find_city(city=town)",
        "tools": {"find_city": FIND.id},
        "inputs": {"town": {"type": "string"}},
    }
    refused = await made(world, program, 400, request="in {citties}?")
    assert [one["place"] for one in refused["errors"]] == ["request"]
    assert "{citties}" in refused["detail"]
    kept = await made(world, program, 201, request="in {town}, as {1: 2}?")
    assert kept["content"]["request"] == "in {town}, as {1: 2}?"
