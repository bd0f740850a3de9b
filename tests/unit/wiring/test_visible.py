"""A container as somebody sees it who may not see one of its tools: what is searched, offered, walked to, recalled and taken."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from domain.memory import Memory
from domain.program import Program, ProgramPlan
from domain.solution import Solution
from domain.tool import FINISH, ToolId
from graph.facts import LiveBatch
from tests.support.indexed_store import indexed_store
from tests.support.small_world import BOOKS, GEOCODE, NEW_WEATHER, OLD_WEATHER
from wiring.container import Container, open_container
from wiring.visible_container import hide_tools

HIDDEN = frozenset({OLD_WEATHER.id})
ASKED = "the weather forecast and temperature at these coordinates"


@pytest.fixture
async def container(tmp_path: Path) -> AsyncIterator[Container]:
    await indexed_store(tmp_path / "store", [GEOCODE, OLD_WEATHER, NEW_WEATHER, BOOKS])
    async with open_container(None, tmp_path / "store") as opened:
        await opened.graph.learn(
            LiveBatch("run", {(GEOCODE.id, OLD_WEATHER.id): 3, (OLD_WEATHER.id, FINISH): 3}, (), ())
        )
        yield opened


async def found(container: Container) -> list[ToolId]:
    return [hit.id for hit in await (await container.open_search()).find_tools(ASKED, 3)]


async def test_it_is_neither_found_nor_offered_and_others_stand_in_its_place(container: Container) -> None:
    seen = hide_tools(container, HIDDEN)
    assert (await found(container))[0] == OLD_WEATHER.id
    assert (await found(seen))[0] == NEW_WEATHER.id
    assert len(await found(seen)) == 3
    offer = await (await seen.create_offer_maker()).offer(ASKED, 10)
    assert OLD_WEATHER.id not in repr(offer)
    assert OLD_WEATHER.id in repr(await (await container.create_offer_maker()).offer(ASKED, 10))
    assert OLD_WEATHER.id not in await seen.list_searched_tools()
    assert (await seen.open_search()).reranks == (await container.open_search()).reranks


async def test_words_count_as_if_it_were_not_there(container: Container) -> None:
    _, _, words = await hide_tools(container, HIDDEN).get_search_indexes()
    match = await words.match("forecast of the next days")
    assert float(match.select_scores([OLD_WEATHER.id])[0]) == 0
    assert max(match.select_scores([NEW_WEATHER.id, GEOCODE.id])) == 1


async def test_walks_memories_and_solutions_do_not_name_it(container: Container) -> None:
    seen = hide_tools(container, HIDDEN)
    memories, embedder = await container.memories(), await container.embedder()
    memory = Memory(
        id="m", owner="", request=ASKED, pattern=ASKED, path=(GEOCODE.id, OLD_WEATHER.id), at=datetime.now(UTC)
    )
    await memories.add([memory])
    await (await container.memory()).embed()
    asked = (await embedder.embed([ASKED], "query"))[0]
    assert len(await (await container.create_experience()).find_precedents(asked, 5)) == 1
    assert await (await seen.create_experience()).find_precedents(asked, 5) == []
    assert await (await seen.create_experience()).find_transitions([GEOCODE.id]) == []
    plan = ProgramPlan(program=Program(text="await get_forecast(city='Oslo')", tools={"get_forecast": OLD_WEATHER.id}))
    kept = Solution(
        id="", owner="", patterns=(ASKED,), plan=plan, path=(OLD_WEATHER.id,), origin="person", at=datetime.now(UTC)
    )
    (made,) = await (await container.solutions("")).add([kept])
    for asking, there in ((container, 1), (seen, 0)):
        library = await asking.solutions("ada")
        assert len(await library.find_near(ASKED, 5)) == there
        assert len(await library.get([made])) == there
        assert len([one async for one in library.iterate_all()]) == there


async def test_it_is_as_open_as_the_other(container: Container) -> None:
    seen = hide_tools(container, HIDDEN)
    assert seen.sandbox() is container.sandbox()
    assert await seen.embedder() is await container.embedder()
    assert seen.field_choices() is container.field_choices()
    assert hide_tools(container, frozenset()) is container
