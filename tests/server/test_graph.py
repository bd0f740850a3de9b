"""The tool graph as it is explored: from afar, around a tool, between two tools; bounded, and without what the asker may not see."""

import asyncio
import shutil
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from domain.tool import FINISH, ToolId
from domain.trajectory import RecordedCall, RecordedOutcome
from graph.backends.in_memory import InMemoryGraph
from graph.facts import GraphBatch
from graph.links import FeedLink, ToolLinks
from graph.weights import DEFAULT_WEIGHTS
from server.explorer.surroundings import Wanted, surroundings
from tests.server.hidden import HIDDEN, NAMED, SAID, all_that_knows
from tests.server.shelves import ODD, asks, library, place, stocked
from tests.support.server_world import World, with_store
from tests.support.small_world import BOOKS, GEOCODE, NEW_WEATHER, OLD_WEATHER, TOOLS

FED = FeedLink(GEOCODE.id, OLD_WEATHER.id, "results[].latitude", "latitude", 0.9)
FURTHER = FeedLink(OLD_WEATHER.id, BOOKS.id, "current.temperature", "title", 0.7)


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asyncio.run(stocked(tmp_path_factory.mktemp("graph") / "store"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shelf(home: Path, tmp_path_factory: pytest.TempPathFactory, store: Path) -> AsyncIterator[World]:
    """One server for all: nothing here changes it."""
    folder = tmp_path_factory.mktemp("shelf")
    async with library(home, folder, await asyncio.to_thread(shutil.copytree, store, folder / "store")) as world:
        graph = (await world.services.agents.get_container()).graph
        await graph.put_links([ToolLinks(OLD_WEATHER.id, [FED]), ToolLinks(BOOKS.id, [FURTHER])])
        yield world


async def told(world: World, path: str, who: str = "user", **params: Any) -> Any:
    answer = await asks(world, path, who, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def from_afar(world: World, who: str = "user", **params: Any) -> Any:
    answer = await world.client.get("/api/v1/graph", headers=await world.headers_of(who), params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def ends(edges: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(one["source"], one["target"]) for one in edges}


async def test_around_a_tool_are_its_ways_and_its_couplings(shelf: World) -> None:
    found = await told(shelf, place(GEOCODE.id, "around"))
    assert (found["centre"], found["tools"][0]["id"]) == (GEOCODE.id, GEOCODE.id)
    assert ends(found["walks"]) == {(GEOCODE.id, OLD_WEATHER.id), (GEOCODE.id, NEW_WEATHER.id)}
    assert ends(found["feeds"]) == {(GEOCODE.id, OLD_WEATHER.id)}
    assert found["feeds"][0]["couplings"] == [{"field": FED.field, "parameter": FED.parameter, "score": 0.9}]
    heavy = next(one for one in found["walks"] if one["target"] == OLD_WEATHER.id)
    assert heavy["score"] == pytest.approx(heavy["weight"] * heavy["availability"])
    assert {one["id"]: one["beyond"] for one in found["tools"]}[OLD_WEATHER.id] == 0


async def test_the_next_depth_goes_through_what_was_found(shelf: World) -> None:
    near = await told(shelf, place(GEOCODE.id, "around"))
    far = await told(shelf, place(GEOCODE.id, "around"), depth=2)
    depths = {one["id"]: one["depth"] for one in far["tools"]}
    assert BOOKS.id not in {one["id"] for one in near["tools"]}
    assert (depths[GEOCODE.id], depths[OLD_WEATHER.id], depths[BOOKS.id]) == (0, 1, 2)
    assert (OLD_WEATHER.id, BOOKS.id) in ends(far["feeds"])


async def test_what_is_left_out_is_counted(shelf: World) -> None:
    found = await told(shelf, place(GEOCODE.id, "around"), limit=1)
    assert ([one["id"] for one in found["tools"]], found["left_out"]) == ([GEOCODE.id, OLD_WEATHER.id], 1)
    assert found["tools"][0]["beyond"] == 1


@pytest.mark.parametrize(
    ("params", "walked", "fed"),
    [
        ({"walks": False}, set[str](), {OLD_WEATHER.id}),
        ({"feeds": False}, {OLD_WEATHER.id, NEW_WEATHER.id}, set[str]()),
        ({"least": 0.65}, {OLD_WEATHER.id}, {OLD_WEATHER.id}),
        ({"toolset": NEW_WEATHER.toolset}, {OLD_WEATHER.id, NEW_WEATHER.id}, {OLD_WEATHER.id}),
        ({"toolset": BOOKS.toolset}, set[str](), set[str]()),
        ({"effect": "changes"}, set[str](), set[str]()),
    ],
)
async def test_edges_and_tools_are_chosen(shelf: World, params: Any, walked: set[str], fed: set[str]) -> None:
    found = await told(shelf, place(GEOCODE.id, "around"), **params)
    assert {target for _, target in ends(found["walks"])} == walked
    assert {target for _, target in ends(found["feeds"])} == fed


async def test_an_edge_is_told_in_full_with_what_stands_beside_it(shelf: World) -> None:
    recordings = await (await shelf.services.agents.get_container()).recordings()
    answer = '{"results": [{"latitude": 48.2}]}'
    call = RecordedCall(GEOCODE.toolset, GEOCODE.api, GEOCODE.function, "{}", answer, RecordedOutcome.OK)
    await recordings.add("a source", [(GEOCODE.id, call)])
    heavy = await told(shelf, place(GEOCODE.id, "edge"), target=OLD_WEATHER.id)
    light = await told(shelf, place(GEOCODE.id, "edge"), target=NEW_WEATHER.id)
    assert (heavy["walk"]["imported"], heavy["walk"]["live"], heavy["heard"] is not None) == (6, 0, True)
    assert [one["tool"] for one in light["others"]] == [OLD_WEATHER.id]
    assert {heavy["place"], light["place"]} == {1, 2}
    (coupling,) = heavy["couplings"]
    assert (coupling["field"], coupling["example"], coupling["example_of"]) == (FED.field, "48.2", "recorded")
    assert (light["couplings"], heavy["fit"]) == ([], None)
    fitting = await told(shelf, place(GEOCODE.id, "edge"), target=OLD_WEATHER.id, request="the weather in a city")
    assert fitting["fit"] > 0
    assert fitting["others"][0]["fit"] is not None
    last = await told(shelf, place(OLD_WEATHER.id, "edge"), target=FINISH)
    assert (last["walk"]["weight"] > 0, last["couplings"]) == (True, [])


async def test_ways_between_two_tools_go_over_walks_and_couplings(shelf: World) -> None:
    found = await told(shelf, place(GEOCODE.id, "paths"), target=BOOKS.id)
    (path,) = found["paths"]
    assert [one["target"] for one in path["steps"]] == [OLD_WEATHER.id, BOOKS.id]
    first, second = path["steps"]
    available = (await told(shelf, place(BOOKS.id, "around")))["tools"][0]["availability"]
    assert (first["walk"] is None, second["walk"], second["feed"]["score"]) == (False, None, 0.7)
    assert path["score"] == pytest.approx(first["walk"]["score"] * 0.1 * 0.7 * available)
    assert (await told(shelf, place(BOOKS.id, "paths"), target=ODD.id))["paths"] == []
    assert (await asks(shelf, place(BOOKS.id, "paths"), params={"target": BOOKS.id})).status_code == 400


async def test_what_inputs_and_fields_are_of(shelf: World) -> None:
    found = await told(shelf, place(GEOCODE.id, "entities"))
    places = {one["place"]: one for one in found["places"]}
    assert (places["city"]["field"], found["of_source"]) == (False, None)
    assert places[FED.field]["field"] is True


async def test_from_afar_tool_sets_are_joined_by_walks_and_couplings(shelf: World) -> None:
    found = await from_afar(shelf)
    sets = {one["id"]: one for one in found["sets"]}
    assert (found["tools"], found["toolsets"], found["counted_whole"]) == (len(TOOLS) + 1, len(sets), True)
    assert found["sets"][0]["walked"] == max(one["walked"] for one in found["sets"])
    joins = {(one["source"], one["target"]): (one["walked"], one["coupled"]) for one in found["joins"]}
    maps, weather = (tool.rpartition("/")[0] for tool in (GEOCODE.id, OLD_WEATHER.id))
    assert joins[maps, weather] == (9, 1)
    assert found["busiest"][0]["id"] == GEOCODE.id
    few = await from_afar(shelf, limit=1)
    assert (len(few["sets"]), few["toolsets"], few["joins"]) == (1, len(sets), [])


async def test_an_empty_store_has_an_empty_graph(world: World) -> None:
    await with_store(world)
    found = await from_afar(world)
    assert (found["sets"], found["tools"], found["busiest"]) == ([], 0, [])


async def test_many_neighbours_are_bounded() -> None:
    graph = InMemoryGraph()
    many = [BOOKS.model_copy(update={"id": ToolId(f"many/Many/tool_{number:03}")}) for number in range(300)]
    await graph.put_tools([ODD, *many])
    pairs = {(ODD.id, one.id): 1 for one in many} | {(one.id, many[0].id): 1 for one in many[1:]}
    await graph.apply(GraphBatch(key="many", transitions=Counter(pairs)))
    found = await surroundings(graph, DEFAULT_WEIGHTS, ODD.id, Wanted(depth=3, most=80))
    assert (len(found.tools), len(found.walks)) == (81, 120)
    assert (found.left_out, found.edges_left_out) == (220, 39)


async def test_what_is_hidden_is_in_no_picture(home: Path, tmp_path: Path, store: Path) -> None:
    async with library(home, tmp_path, await asyncio.to_thread(shutil.copytree, store, tmp_path / "store")) as world:
        await all_that_knows(world, "other")
        for who, sees in (("author", True), ("user", False)):
            afar = str(await from_afar(world, who, limit=60))
            around = str(await told(world, place(BOOKS.id, "around"), who, depth=3))
            path = str(await told(world, place(BOOKS.id, "paths"), who, target=GEOCODE.id))
            for text in (around, path):
                assert (NAMED in text) is sees, (who, text)
            assert ("harbour" in afar) is sees
            assert SAID not in (afar + around + path if not sees else "")
            for rest, params in (("around", {}), ("entities", {}), ("edge", {"target": BOOKS.id})):
                answer = await asks(world, place(HIDDEN, rest), who, params=params)
                assert answer.status_code == (200 if sees else 404)
            into = await asks(world, place(BOOKS.id, "edge"), who, params={"target": HIDDEN})
            assert into.status_code == (200 if sees else 404)
