"""What administrators say of tools and edges: heeded by the graph, kept with a reason, taken back."""

import asyncio
import shutil
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from domain.tool import FINISH, ToolId
from domain.tool_source import make_source_mark
from domain.trajectory import RecordedCall, RecordedOutcome
from graph.facts import GraphBatch
from graph.links import FeedLink, SubstituteLink, ToolLinks
from tests.server.shelves import asks, library, place, stocked
from tests.support.server_world import World
from tests.support.small_world import BOOKS, GEOCODE, NEW_WEATHER, OLD_WEATHER

SOURCE = "01980f6e-5f43-7c11-9d4e-2f1f6a1b0c01"
REASON = "It answers for the wrong place."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asyncio.run(stocked(tmp_path_factory.mktemp("marks") / "store"))


@pytest.fixture
async def shelf(home: Path, tmp_path: Path, made: Path) -> AsyncIterator[World]:
    """Its store is its own: marks change it."""
    store = await asyncio.to_thread(shutil.copytree, made, tmp_path / "store")
    async with library(home, tmp_path, store) as world:
        yield world


async def says(world: World, tool: str, **body: Any) -> Any:
    """An administrator's word."""
    return await asks(world, place(tool, "marks"), "admin", "PUT", json={"reason": REASON, **body})


async def after(world: World, tool: str) -> dict[str, tuple[float, str | None]]:
    """The tools after one, with weight and mark."""
    told = (await asks(world, place(tool, "neighbours"))).json()
    return {one["tool"]: (round(one["weight"], 3), one["mark"]) for one in told["after"]}


async def test_neighbours_are_told_with_what_they_rest_on(shelf: World) -> None:
    told = (await asks(shelf, place(GEOCODE.id, "neighbours"))).json()
    heaviest = told["after"][0]
    walked = {one["tool"]: (one["imported"], one["live"], one["strength"] > 0) for one in told["after"]}
    assert (heaviest["tool"], walked) == (OLD_WEATHER.id, {OLD_WEATHER.id: (6, 0, False), NEW_WEATHER.id: (2, 1, True)})
    assert (told["afters"], told["befores"]) == (2, 0)
    (before,) = (await asks(shelf, place(OLD_WEATHER.id, "neighbours"))).json()["before"]
    assert (before["tool"], before["weight"]) == (GEOCODE.id, heaviest["weight"])
    one = (await asks(shelf, place(GEOCODE.id, "neighbours"), params={"limit": 1})).json()
    assert (len(one["after"]), one["afters"]) == (1, 2)


async def test_what_feeds_it_and_what_can_stand_in_for_it(shelf: World) -> None:
    graph = (await shelf.services.agents.get_container()).graph
    feed = FeedLink(GEOCODE.id, OLD_WEATHER.id, "results[].latitude", "latitude", 0.9)
    other = SubstituteLink(OLD_WEATHER.id, NEW_WEATHER.id, 0.8, {"latitude": "latitude"})
    await graph.put_links([ToolLinks(OLD_WEATHER.id, [feed], [other])])
    told = (await asks(shelf, place(OLD_WEATHER.id, "neighbours"))).json()
    fed = {"tool": GEOCODE.id, "field": "results[].latitude", "parameter": "latitude", "score": 0.9}
    assert (told["feeds_in"], told["feed_ins"]) == ([fed], 1)
    assert told["substitutes"] == [{"tool": NEW_WEATHER.id, "score": 0.8, "parameters": {"latitude": "latitude"}}]
    out = (await asks(shelf, place(GEOCODE.id, "neighbours"))).json()["feeds_out"]
    assert out == [fed | {"tool": OLD_WEATHER.id}]


async def test_an_edge_is_banned_with_a_reason_and_let_be_again(shelf: World) -> None:
    before = await after(shelf, GEOCODE.id)
    told = (await says(shelf, GEOCODE.id, kind="edge", target=OLD_WEATHER.id, mark="ban")).json()
    (edge,) = told["edges"]
    assert (edge["target"], edge["mark"], edge["reason"], edge["by"]) == (OLD_WEATHER.id, "ban", REASON, "admin")
    assert await after(shelf, GEOCODE.id) == {OLD_WEATHER.id: (0.0, "ban"), NEW_WEATHER.id: (1.0, None)}
    back = (
        await says(shelf, GEOCODE.id, kind="edge", target=OLD_WEATHER.id, mark="clear", reason="It is mended.")
    ).json()
    assert (back["edges"], [one["mark"] for one in back["history"]]) == ([], ["clear", "ban"])
    assert await after(shelf, GEOCODE.id) == before


async def test_a_mark_of_a_command_has_no_reason(shelf: World) -> None:
    await says(shelf, GEOCODE.id, kind="edge", target=OLD_WEATHER.id, mark="ban")
    await (await shelf.services.agents.get_container()).graph.mark(GEOCODE.id, OLD_WEATHER.id, "pin")
    (edge,) = (await asks(shelf, place(GEOCODE.id, "marks"), "admin")).json()["edges"]
    assert (edge["mark"], edge["reason"], edge["by"], edge["at"]) == ("pin", "", "", None)


async def test_a_tool_that_is_muted_mutes_the_edges_into_it_and_no_others_come_back(shelf: World) -> None:
    graph = (await shelf.services.agents.get_container()).graph
    await graph.mark(BOOKS.id, OLD_WEATHER.id, "mute")
    await says(shelf, OLD_WEATHER.id, kind="tool", mark="mute")
    into = {one.source: one.mark for one in await graph.get_in_edges(OLD_WEATHER.id)}
    assert into == {GEOCODE.id: "mute", BOOKS.id: "mute"}
    told = (await says(shelf, OLD_WEATHER.id, kind="tool", mark="clear")).json()
    into = {one.source: one.mark for one in await graph.get_in_edges(OLD_WEATHER.id)}
    assert (told["tool"], into) == ("", {GEOCODE.id: None, BOOKS.id: "mute"})


async def test_all_edges_into_a_tool_are_muted_with_it(shelf: World) -> None:
    graph = (await shelf.services.agents.get_container()).graph
    many = [ToolId(f"many/Many/tool_{number:03}") for number in range(450)]
    await graph.apply(GraphBatch(key="many", transitions=Counter(dict.fromkeys([(one, BOOKS.id) for one in many], 1))))
    told = (await says(shelf, BOOKS.id, kind="tool", mark="mute")).json()
    assert {one.mark for one in await graph.get_in_edges(BOOKS.id)} == {"mute"}
    assert len(told["history"][0]["sources"]) == 200
    await says(shelf, BOOKS.id, kind="tool", mark="clear")
    assert {one.mark for one in await graph.get_in_edges(BOOKS.id)} == {None}


async def test_a_banned_tool_is_offered_to_no_run_and_its_reason_is_told(shelf: World) -> None:
    told = (await says(shelf, BOOKS.id, kind="tool", mark="ban")).json()
    assert (told["tool"], told["reason"]) == ("ban", REASON)
    assert await shelf.services.storage.tool_marks.list_banned() == {BOOKS.id}
    for_runs = await shelf.services.agents.get_container_for_user(shelf.people["admin"].id)
    assert await for_runs.graph.get_tools([BOOKS.id]) == {}
    found = await (await for_runs.open_search()).find_tools("Find books by their title", 9)
    assert BOOKS.id not in [one.id for one in found]
    assert (await asks(shelf, place(BOOKS.id, "about"))).status_code == 200
    refused = await asks(shelf, place(BOOKS.id, "try"), "user", "POST", json={"arguments": {"title": "Dune"}})
    assert (refused.status_code, REASON in refused.json()["detail"]) == (403, True)
    await says(shelf, BOOKS.id, kind="tool", mark="clear")
    assert await shelf.services.storage.tool_marks.list_banned() == frozenset()


async def test_what_a_call_does_is_an_administrators_word(shelf: World) -> None:
    await says(shelf, BOOKS.id, kind="effect", mark="changes")
    about = (await asks(shelf, place(BOOKS.id, "about"))).json()
    assert (about["effect"], about["why"]) == ("changes", "an administrator said so")
    await says(shelf, BOOKS.id, kind="effect", mark="clear")
    assert (await asks(shelf, place(BOOKS.id, "about"))).json()["effect"] == "reads"


async def test_what_calls_of_a_sources_tool_do_is_said_with_the_source(shelf: World) -> None:
    graph = (await shelf.services.agents.get_container()).graph
    await graph.put_tools([BOOKS.model_copy(update={"source": make_source_mark(SOURCE)})])
    refused = await says(shelf, BOOKS.id, kind="effect", mark="reads")
    assert (refused.status_code, "page of the source" in refused.json()["detail"]) == (409, True)
    listed = (await asks(shelf, "", params={"source": SOURCE})).json()["tools"]
    assert [(one["id"], one["source"]) for one in listed] == [(BOOKS.id, SOURCE)]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"kind": "edge", "mark": "ban"}, 400),
        ({"kind": "tool", "mark": "pin"}, 400),
        ({"kind": "tool", "mark": "ban", "target": FINISH}, 400),
        ({"kind": "effect", "mark": "mute"}, 400),
        ({"kind": "tool", "mark": "ban", "reason": "  "}, 422),
        ({"kind": "edge", "mark": "ban", "target": "no/such/tool"}, 404),
    ],
)
async def test_what_cannot_be_said_is_refused_and_changes_nothing(shelf: World, body: Any, status: int) -> None:
    assert (await says(shelf, GEOCODE.id, **body)).status_code == status
    told = (await asks(shelf, place(GEOCODE.id, "marks"), "admin")).json()
    assert (told["tool"], told["edges"], told["history"]) == ("", [], [])


async def test_recorded_calls_are_told_the_last_first_and_cut(shelf: World) -> None:
    recordings = await (await shelf.services.agents.get_container()).recordings()
    calls = [
        (
            BOOKS.id,
            RecordedCall("Books", "Books Set", "search_books", f'{{"title": "{n}"}}', "x" * 5_000, RecordedOutcome.OK),
        )
        for n in range(12)
    ]
    await recordings.add("a source", calls)
    told = (await asks(shelf, place(BOOKS.id, "recorded"), params={"limit": 2})).json()
    assert (told["total"], [one["arguments"] for one in told["calls"]]) == (12, ['{"title": "11"}', '{"title": "10"}'])
    assert {(len(one["response"]), one["whole"]) for one in told["calls"]} == {(4_000, 5_000)}
    assert (await asks(shelf, place(GEOCODE.id, "recorded"))).json() == {"calls": [], "total": 0}
