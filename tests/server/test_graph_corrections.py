"""What administrators correct of the graph: entities, feeds, what runs have said; each with a reason, heeded at once, taken back."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from domain.tool import Parameter, ToolDoc, make_tool_id
from tests.server.shelves import LEARNT, asks, library, place, stocked
from tests.support.server_world import World
from tests.support.small_world import GEOCODE, OLD_WEATHER, TOOLS
from tests.support.source_samples import A_TOOL, source_of

GIVES = ToolDoc(
    id=make_tool_id("Sea", "Harbour", "list_berths"), category="Sea", toolset="Harbour", api="list_berths", function="list_berths",
    url="http://127.0.0.1/berths", description="The berths of a harbour.", example_response='{"berths": [{"occupant_ref": "s-1"}]}',
)  # fmt: skip
TAKES = ToolDoc(
    id=make_tool_id("Sea", "Harbour", "get_ship"), category="Sea", toolset="Harbour", api="get_ship", function="get_ship",
    url="http://127.0.0.1/ships", description="One ship.", parameters=(Parameter(name="ship_id", required=True),),
)  # fmt: skip
FIELD = "berths[].occupant_ref"
REASON = "A berth names the ship that lies there."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asyncio.run(stocked(tmp_path_factory.mktemp("corrections") / "store", (*TOOLS, GIVES, TAKES)))


@pytest.fixture
async def shelf(home: Path, tmp_path: Path, made: Path) -> AsyncIterator[World]:
    """Its store is its own: corrections change it."""
    store = await asyncio.to_thread(shutil.copytree, made, tmp_path / "store")
    async with library(home, tmp_path, store) as world:
        yield world


async def says(world: World, tool: str, **body: Any) -> Any:
    """An administrator's word."""
    answer = await asks(world, place(tool, "marks"), "admin", "PUT", json={"reason": REASON, **body})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def fed(world: World, tool: str) -> set[tuple[str, str, str]]:
    """What fills the tool's parameters, in the picture of somebody else."""
    picture = (await asks(world, place(tool, "around"))).json()
    return {
        (feed["source"], one["field"], one["parameter"])
        for feed in picture["feeds"]
        if feed["target"] == tool
        for one in feed["couplings"]
    }


async def test_an_entity_is_corrected_and_the_picture_follows(shelf: World) -> None:
    assert await fed(shelf, TAKES.id) == set()
    told = await says(shelf, GIVES.id, kind="entity", mark="set", place=FIELD, entity="ship")
    assert await fed(shelf, TAKES.id) == {(GIVES.id, FIELD, "ship_id")}
    said = told["history"][0]
    assert (said["place"], said["entity"], said["reason"], said["by"]) == (FIELD, "ship", REASON, "admin")
    places = (await asks(shelf, place(GIVES.id, "entities"))).json()["places"]
    assert [(one["entity"], one["said"]) for one in places if one["place"] == FIELD] == [("ship", True)]
    edge = (await asks(shelf, place(GIVES.id, "edge"), params={"target": TAKES.id})).json()
    assert [(one["because"], one["entity"]) for one in edge["couplings"]] == [("entity", "ship")]
    await says(shelf, GIVES.id, kind="entity", mark="clear", place=FIELD)
    assert await fed(shelf, TAKES.id) == set()
    audit = await shelf.client.get("/api/v1/audit", headers=await shelf.headers_of("admin"))
    assert [one["said"].get("place") for one in audit.json()["entries"]][:2] == [FIELD, FIELD]


async def test_a_feed_is_added_forbidden_and_let_be(shelf: World) -> None:
    feed = {"kind": "feed", "target": GIVES.id, "field": FIELD, "place": "ship_id"}
    await says(shelf, TAKES.id, mark="add", **feed)
    assert await fed(shelf, TAKES.id) == {(GIVES.id, FIELD, "ship_id")}
    await says(shelf, TAKES.id, mark="forbid", **feed)
    edge = (await asks(shelf, place(GIVES.id, "edge"), params={"target": TAKES.id})).json()
    assert (edge["couplings"], edge["forbidden"]) == ([], [{"field": FIELD, "parameter": "ship_id"}])
    await says(shelf, TAKES.id, mark="clear", **feed)
    said = await asks(shelf, place(GIVES.id, "marks-to"), "admin", params={"target": TAKES.id})
    assert [one["mark"] for one in said.json()] == ["clear", "forbid", "add"]


async def test_what_runs_said_is_forgotten_and_put_back(shelf: World) -> None:
    async def record() -> Any:
        about = (await asks(shelf, place(OLD_WEATHER.id, "about"))).json()
        return about["record"] | {"told": None}, about["availability"]

    before, availability = await record()
    assert (before["transient"], len(before["over_time"])) == (1, 1)
    assert before["over_time"][0]["at"].startswith(f"{LEARNT:%Y-%m-%d}")
    await says(shelf, OLD_WEATHER.id, kind="runs", mark="forget")
    gone, _ = await record()
    assert (gone["transient"], gone["over_time"], gone["calls"]) == (0, [], before["calls"])
    await says(shelf, OLD_WEATHER.id, kind="runs", mark="clear", reason="It was the network.")
    again, there = await record()
    assert (again, there) == (before, pytest.approx(availability, abs=1e-6))
    refused = await asks(shelf, place(OLD_WEATHER.id, "marks"), "admin", "PUT", json={"kind": "runs", "mark": "clear", "reason": REASON})  # fmt: skip
    assert refused.status_code == 409


async def test_a_sources_tool_is_corrected_at_its_source(shelf: World) -> None:
    source = (await source_of("author", shelf, tested=True))["source_id"]
    await shelf.services.sources.admit(source, [], shelf.people["author"])
    await shelf.services.agents.follower.follow()
    parameter = next(one["place"] for one in (await asks(shelf, place(A_TOOL, "entities"))).json()["places"])
    await says(shelf, A_TOOL, kind="entity", mark="set", place=parameter, entity="vessel")
    kept = await shelf.services.storage.sources.get_tool(source, A_TOOL)
    assert kept is not None
    assert kept.corrections.entities == {parameter: "vessel"}
    told = (await asks(shelf, place(A_TOOL, "entities"))).json()
    assert (told["of_source"], [one["said"] for one in told["places"] if one["place"] == parameter]) == (source, [True])


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"kind": "entity", "mark": "set", "place": "no_such", "entity": "ship"}, 400),
        ({"kind": "entity", "mark": "set", "place": "city"}, 400),
        ({"kind": "entity", "mark": "clear", "place": "city"}, 400),
        ({"kind": "feed", "mark": "add", "target": OLD_WEATHER.id, "field": "a", "place": "no_such"}, 400),
        ({"kind": "feed", "mark": "add", "target": OLD_WEATHER.id, "place": "city"}, 400),
        ({"kind": "runs", "mark": "forget", "place": "city"}, 400),
        ({"kind": "runs", "mark": "clear"}, 409),
    ],
)
async def test_what_cannot_be_said_is_refused_and_changes_nothing(shelf: World, body: Any, status: int) -> None:
    answer = await asks(shelf, place(GEOCODE.id, "marks"), "admin", "PUT", json={"reason": REASON, **body})
    assert answer.status_code == status, answer.text
    assert (await asks(shelf, place(GEOCODE.id, "marks"), "admin")).json()["history"] == []
