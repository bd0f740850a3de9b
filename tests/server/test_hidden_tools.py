"""No operation tells of a tool to whom it is hidden from: every reading one is asked, and whatever answers with what a caller wrote."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio

from tests.server.hidden import HIDDEN, NAMED, SAID, Known, all_that_knows
from tests.server.shelves import library, stocked
from tests.server.test_authorisation import OPERATIONS
from tests.support.rights_matrix import an_ended_run
from tests.support.server_world import World
from tests.support.small_world import BOOKS, GEOCODE
from tests.support.source_samples import NEW_SOURCE

READING = [path for method, path in OPERATIONS if method == "GET"]
STRANGERS = ("user", "other")
ALIKE = {"url": "/ships", "description": "The ships that lie in the harbour."}


@dataclass(frozen=True)
class Place:
    """A world with a hidden tool. ``things``: what fills the places of a path."""

    world: World
    known: Known
    things: dict[str, list[str]]

    async def ask(self, who: str, method: str, path: str, **more: Any) -> httpx.Response:
        headers = await self.world.headers_of(who)
        return await self.world.client.request(method, path, headers=headers, **more)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place(home: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    folder = tmp_path_factory.mktemp("hidden")
    async with library(home, folder, await stocked(folder / "store"), user_requests_per_minute=0) as world:
        other = world.people["other"]
        await world.services.storage.users.change(other.id, role="author")
        known = await all_that_knows(world, "other")
        run = await an_ended_run(world)
        runs = await world.services.storage.runs.get(run["run_id"], world.people["user"].id)
        assert runs is not None
        things = {
            "tool": [quote(BOOKS.id), quote(GEOCODE.id)],
            "template_id": [known.template, known.taken],
            "version": ["1", "2"],
            "solution_id": [known.solution],
            "source_id": [known.source],
            "run_id": [run["run_id"]],
            "conversation_id": [runs.conversation_id],
            "user_id": [world.people["author"].id],
        }
        yield Place(world, known, things)


def filled(path: str, things: dict[str, list[str]]) -> list[str]:
    """A path with each of the things that fit it; none where there is none."""
    found: list[str] = [path]
    for name, values in things.items():
        if f"{{{name}}}" in path:
            found = [one.replace(f"{{{name}}}", value) for one in found for value in values]
    return [one for one in found if "{" not in one]


SEARCHED = {
    "/api/v1/tools": [{"query": "find books by their title"}, {"category": "harbour"}, {"toolset": "Harbour"}],
    "/api/v1/tools/categories": [{"category": "harbour"}],
    "/api/v1/solutions": [{"request": "What is there?"}, {"tool": HIDDEN}],
}


async def told(place: Place, who: str) -> dict[str, str]:
    """By address what everything that reads answers to one of them."""
    found: dict[str, str] = {}
    for path in READING:
        for address in filled(path, place.things):
            for params in ({}, *SEARCHED.get(path, [])):
                answer = await place.ask(who, "GET", address, params=params)
                found[f"{path} {params or ''}"] = found.get(f"{path} {params or ''}", "") + answer.text.lower()
    return found


def telling(found: dict[str, str]) -> set[str]:
    return {path for path, text in found.items() if SAID in text or NAMED in text}


@pytest.mark.asyncio(loop_scope="module")
async def test_whom_it_is_for_is_told_in_many_places(place: Place) -> None:
    """Else the test below would find nothing whatever was told."""
    of_author = telling(await told(place, "author"))
    assert {
        "/api/v1/tools ", "/api/v1/tools/{tool}/neighbours ", "/api/v1/solutions ", "/api/v1/solutions/{solution_id} ", "/api/v1/templates ",
        "/api/v1/templates/{template_id} ", "/api/v1/templates/{template_id}/versions ", "/api/v1/templates/{template_id}/differences ",
        "/api/v1/templates/{template_id}/versions/{version}/differences ", "/api/v1/sources ", "/api/v1/sources/{source_id}/tools ",
        "/api/v1/tools {'query': 'find books by their title'}", "/api/v1/tools/categories ",
    } - of_author == {"/api/v1/tools/categories "}  # fmt: skip  # which names categories and tool sets alone
    assert "/api/v1/tools/{tool}/marks " in telling(await told(place, "admin"))


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("who", STRANGERS)
async def test_nothing_that_is_read_tells_a_stranger(place: Place, who: str) -> None:
    found = await told(place, who)
    assert len(found) > 40
    assert telling(found) == set()
    assert "harbour" not in found["/api/v1/tools/categories "]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("who", STRANGERS)
async def test_asked_for_by_name_it_is_as_if_it_were_not_there(place: Place, who: str) -> None:
    """What is told of it is what is told of any name that there is not."""
    for rest in ("about", "neighbours", "recorded", "tried"):
        answers = [
            await place.ask(who, "GET", f"/api/v1/tools/{quote(name)}/{rest}") for name in (HIDDEN, HIDDEN[:-1] + "z")
        ]
        assert [one.status_code for one in answers] == [404, 404]
        assert [one.json()["detail"].replace(HIDDEN, HIDDEN[:-1] + "z") for one in answers][:1] == [
            answers[1].json()["detail"]
        ]


WRITTEN: list[tuple[str, str, Any]] = [
    ("POST", "/api/v1/templates", {"name": "t", "document": {"steps": [{"tool": f"{HIDDEN[:-1]}z"}]}}),
    ("POST", "/api/v1/templates", {"name": "t", "program": {"text": f"answer = list_{NAMED}(city='x')\nanswer"}}),
    (
        "POST",
        "/api/v1/solutions",
        {"program": {"text": "answer = list_ships(city='x')\nanswer"}, "patterns": ["Which?"]},
    ),
    ("PUT", f"/api/v1/me/allowed-tools/{quote('harbour/Harbour/list_ships')}", None),
    ("POST", f"/api/v1/tools/{quote('harbour/Harbour/list_ships')}/try", {"arguments": {}}),
]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("method", "path", "body"), WRITTEN)
async def test_what_is_near_to_something_written_is_not_told(place: Place, method: str, path: str, body: Any) -> None:
    answer = await place.ask("other", method, path, json=body)
    assert answer.status_code < 500
    assert f"list_{NAMED}s" not in answer.text
    assert SAID not in answer.text


@pytest.mark.asyncio(loop_scope="module")
async def test_the_gate_names_no_hidden_tool_to_an_author(place: Place) -> None:
    """It tells that a name is taken or looks like another, and not whose."""
    function = f"list_{NAMED}s"
    spoken = {**ALIKE, "name": "list_ships", "description": f"The ships of it. Call {function} before this."}
    tools = [{**ALIKE, "name": function}, spoken]
    body = {**NEW_SOURCE, "base_url": "http://127.0.0.1:9", "toolset": "Harb0ur", "category": "others", "tools": tools}
    source = (await place.ask("other", "POST", "/api/v1/sources", json=body)).json()["id"]
    assert (await place.ask("other", "POST", f"/api/v1/sources/{source}/check", json={})).status_code == 202
    await asyncio.wait_for(place.world.services.checker.settled(), 30)
    shown = (await place.ask("other", "GET", f"/api/v1/sources/{source}/tools")).json()
    for one in shown:
        said = str(one["findings"])
        assert said.count("a tool that is for others") >= 2
        assert HIDDEN not in said
        assert "of harbour" not in said
        assert SAID not in said
