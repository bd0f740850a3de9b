"""The tool library: what it lists, in which order, and what it tells of a tool."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from domain.tool import ToolId, make_tool_id
from retriever.search import ToolSearch
from server.library import catalogue, listing
from server.library.catalogue import CategoryCount, counted, selected
from tests.server.shelves import LEARNT, ODD, asks, library, place, stocked
from tests.support.server_world import World, with_store
from tests.support.small_world import BOOKS, GEOCODE, NEW_WEATHER, OLD_WEATHER, REMOVE, TOOLS

ALL = sorted(one.id for one in (*TOOLS, ODD))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once: nothing here changes it."""
    return asyncio.run(stocked(tmp_path_factory.mktemp("library") / "store"))


@pytest.fixture
async def shelf(home: Path, tmp_path: Path, store: Path) -> AsyncIterator[World]:
    async with library(home, tmp_path, store) as world:
        yield world


async def pages(world: World, **params: Any) -> list[list[str]]:
    """The ids of each page, to the last."""
    found: list[list[str]] = []
    while True:
        answer = await asks(world, "", params=params)
        assert answer.status_code == 200, answer.text
        found.append([one["id"] for one in answer.json()["tools"]])
        if answer.json()["next"] is None:
            return found
        params["after"] = answer.json()["next"]


async def test_all_tools_are_browsed_page_by_page(shelf: World) -> None:
    assert await pages(shelf, limit=4) == [ALL[:4], ALL[4:]]
    assert await pages(shelf, limit=6) == [ALL]
    assert await pages(shelf, limit=1, category="Books") == [[one] for one in sorted((BOOKS.id, REMOVE.id))]


async def test_they_are_chosen_by_category_tool_set_and_effect(shelf: World) -> None:
    assert await pages(shelf, category="Weather") == [[NEW_WEATHER.id, OLD_WEATHER.id]]
    assert await pages(shelf, category="Work / Life", toolset="To do") == [[ODD.id]]
    assert await pages(shelf, toolset="To do") == [[ODD.id]]
    assert await pages(shelf, effect="changes") == [[REMOVE.id]]
    assert await pages(shelf, category="Weat") == [[]]


async def test_few_of_what_is_wanted_are_found_without_reading_all(
    shelf: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "_LOOKED_AT", 2)
    monkeypatch.setattr(listing, "_AT_ONCE", 2)
    found = await pages(shelf, effect="changes")
    assert [one for page in found for one in page] == [REMOVE.id]
    assert len(found) == 3


async def test_a_search_tells_the_scores_of_the_search_that_runs_use(shelf: World) -> None:
    request = "What will the weather be in the next days?"
    answer = (await asks(shelf, "", params={"query": request})).json()
    container = await shelf.services.agents.get_container()
    hits = await (await container.open_search()).find_tools(request, listing.MOST_FOUND)
    told = [(one["id"], one["score"], one["dense"], one["lexical"], one["odds"]) for one in answer["tools"]]
    assert told == [(one.id, one.score, one.dense, one.lexical, one.odds) for one in hits]
    assert {told[0][0], told[1][0]} == {NEW_WEATHER.id, OLD_WEATHER.id}


async def test_a_search_has_pages_and_filters_and_asks_the_same_for_each(
    shelf: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    real = ToolSearch.find_tools

    async def noted(self: ToolSearch, request: str, limit: int, *where: Any) -> Any:
        sizes.append(limit)
        return await real(self, request, limit, *where)

    monkeypatch.setattr(ToolSearch, "find_tools", noted)
    (whole,) = await pages(shelf, query="a book")
    assert whole[0] in (BOOKS.id, REMOVE.id)
    assert await pages(shelf, query="a book", limit=4) == [whole[:4], whole[4:]]
    assert await pages(shelf, query="a book", effect="changes") == [[REMOVE.id]]
    assert await pages(shelf, query="a book", toolset="Weather Set", category="Weather") == [
        [one for one in whole if one in (NEW_WEATHER.id, OLD_WEATHER.id)]
    ]
    assert set(sizes) == {listing.MOST_FOUND}
    wrong = await asks(shelf, "", params={"query": "a book", "after": BOOKS.id})
    assert (wrong.status_code, wrong.json()["code"]) == (400, "usage")


async def test_categories_are_counted_with_their_tool_sets(shelf: World) -> None:
    answer = (await asks(shelf, "/categories")).json()
    assert [(one["category"], one["tools"], one["toolsets"], one["sets"]) for one in answer] == [
        ("Books", 2, 1, []), ("Places", 1, 1, []), ("Weather", 2, 1, []), ("Work / Life", 1, 1, []),
    ]  # fmt: skip
    (one,) = (await asks(shelf, "/categories", params={"category": "Work / Life"})).json()
    assert one["sets"] == [{"toolset": "To do", "tools": 1}]


async def test_an_empty_store_has_nothing_and_a_server_without_one_says_so(world: World) -> None:
    missing = await asks(world, "")
    assert (missing.status_code, "store" in missing.json()["detail"]) == (503, True)
    await with_store(world)
    assert (await asks(world, "")).json() == {"tools": [], "next": None, "total": 0}
    assert (await asks(world, "", params={"query": "the weather"})).json()["tools"] == []
    assert (await asks(world, "/categories")).json() == []


async def test_a_tool_is_told_with_its_document_and_what_it_identifies(shelf: World) -> None:
    told = (await asks(shelf, place(GEOCODE.id, "about"))).json()
    assert (told["method"], told["effect"], told["why"]) == ("GET", "reads", "it is called by GET")
    assert [(one["name"], one["required"], one["takes"]) for one in told["parameters"]] == [
        ("city", True, {"type": "string"})
    ]
    assert "search_places" in told["signature"]
    assert told["example"] == GEOCODE.example_response
    removing = (await asks(shelf, place(REMOVE.id, "about"))).json()
    assert (removing["effect"], removing["record"]["over_time"], removing["availability"]) == ("changes", [], None)


async def test_how_it_has_answered_is_told_over_time(shelf: World) -> None:
    told = (await asks(shelf, place(OLD_WEATHER.id, "about"))).json()
    record = told["record"]
    assert (record["calls"], record["transient"], record["told"] != []) == (6, 1, True)
    (moment,) = record["over_time"]
    assert (moment["at"], moment["outcomes"]) == (LEARNT.isoformat().replace("+00:00", "Z"), ["transient"])
    well = (await asks(shelf, place(GEOCODE.id, "about"))).json()["record"]["over_time"][0]
    assert moment["availability"] < well["availability"] < 1


async def test_a_tool_whose_id_has_slashes_of_its_own_is_found(shelf: World) -> None:
    assert (await asks(shelf, place(ODD.id, "about"))).json()["id"] == ODD.id
    lost = await asks(shelf, place("Books/Books Set/search_book", "about"))
    assert (lost.status_code, lost.json()["detail"].rpartition("near ones: ")[2].split(", ")[0]) == (404, BOOKS.id)


async def test_categories_are_counted_once_for_as_long_as_the_tools_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passes: list[int] = []

    def counting(ids: Sequence[ToolId]) -> list[CategoryCount]:
        passes.append(len(ids))
        return counted(ids)

    monkeypatch.setattr(catalogue, "counted", counting)
    kept, ids = catalogue.Catalogue(), sorted(make_tool_id(f"c {n % 4}", f"s {n % 12}", f"api {n}") for n in range(120))
    hidden = [*ids[3:60:2], make_tool_id("c 0", "s 0", "no such"), *selected(ids, "c 2")]
    for _ in range(2):
        assert await kept.of(ids) == counted(ids)
        assert await kept.of(ids, set(hidden)) == counted([one for one in ids if one not in hidden])
    assert passes == [120]
    assert await kept.of(ids[1:]) == counted(ids[1:])
    assert passes == [120, 119]


def test_one_pass_over_ids_counts_a_large_store_and_selects_from_it() -> None:
    ids = sorted(make_tool_id(f"c {n % 49}", f"s {n % 700}", f"api {n}") for n in range(45_113))
    found = counted(ids)
    assert (len(found), sum(one.tools for one in found)) == (49, 45_113)
    assert [one.category for one in found] == sorted(one.category for one in found)
    chosen = selected(ids, "c 7", "s 7")
    assert chosen
    assert all(tool.startswith("c%207/s%207/") for tool in chosen)
    assert len(chosen) == next(
        each.tools for one in found if one.category == "c 7" for each in one.toolsets if each.toolset == "s 7"
    )
    assert len(selected(ids, "", "s 7")) == sum(
        each.tools for one in found for each in one.toolsets if each.toolset == "s 7"
    )
