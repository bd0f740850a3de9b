"""Tools of sources admitted into an open store and withdrawn from it: what can be found, what is joined, and what is kept."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from domain.errors import UnavailableError, UsageError
from domain.tool import FINISH, Parameter, ToolDoc, ToolId, make_tool_id
from domain.tool_source import make_source_mark
from graph.facts import LiveBatch
from server.sources.whole_links import WholeLinks
from tests.support.indexed_store import indexed_store
from tests.support.small_world import BOOKS, GEOCODE, OLD_WEATHER
from wiring import links
from wiring.container import Container, open_container
from wiring.links import find_partly_linked, ignore_progress, link
from wiring.store_build import BuildOptions, build
from wiring.tool_admission import admit, reconcile, withdraw

HARBOUR = make_tool_id("Ships", "harbour", "find_berth")


def berth(**update: object) -> ToolDoc:
    document = ToolDoc(
        id=HARBOUR,
        category="Ships",
        toolset="harbour",
        api="find_berth",
        function="find_berth",
        url="http://127.0.0.1:9/berths",
        description="Find a free berth for a yacht in the marina, by its latitude and longitude.",
        parameters=(
            Parameter(name="latitude", type="number", required=True),
            Parameter(name="longitude", type="number"),
        ),
        source=make_source_mark("s1"),
    )
    return document.model_copy(update=update)


FEEDING = berth(parameters=(), example_response='{"latitude": 1.5, "longitude": 2.5}')


@pytest.fixture
async def container(tmp_path: Path) -> AsyncIterator[Container]:
    await indexed_store(tmp_path / "store", [GEOCODE, OLD_WEATHER, BOOKS])
    async with open_container(None, tmp_path / "store") as opened:
        await link(opened, ignore_progress, embedded=True)
        yield opened


async def found(container: Container, request: str = "a berth for my yacht") -> list[ToolId]:
    return [hit.id for hit in await (await container.open_search()).find_tools(request, 5) if hit.lexical > 0]


async def everything(container: Container) -> tuple[object, ...]:
    _, index, lexical = await container.get_retrieval()
    documents = [one async for one in container.graph.stream_documents()]
    feeds = {tool.id: await container.graph.get_feeds_into(tool.id) for tool in documents}
    return (
        documents,
        await index.fetch_digests(),
        await lexical.read_texts(),
        await container.graph.get_link_states(),
        feeds,
    )


async def test_a_tool_is_found_and_fed_as_soon_as_it_is_admitted(container: Container) -> None:
    assert await found(container) == []
    search = await container.open_search()  # of a run that goes on meanwhile
    admitted = await admit(container, [berth()])
    assert admitted.ids == admitted.changed == (HARBOUR,)
    assert admitted.linked
    assert (await found(container))[0] == HARBOUR
    assert (await search.find_tools("a berth for my yacht", 5))[0].id == HARBOUR
    assert {feed.source for feed in await container.graph.get_feeds_into(HARBOUR)} == {GEOCODE.id}


async def test_admitting_again_changes_nothing(container: Container) -> None:
    await admit(container, [berth()])
    before = await everything(container)
    again = await admit(container, [berth()])
    assert (again.ids, again.changed, again.linked) == ((HARBOUR,), (), 0)
    assert await everything(container) == before


async def test_a_withdrawn_tool_is_nowhere_and_what_it_fed_is_linked_anew(container: Container) -> None:
    before = await everything(container)
    await admit(container, [FEEDING])
    assert {feed.source for feed in await container.graph.get_feeds_into(OLD_WEATHER.id)} == {GEOCODE.id, HARBOUR}
    assert await withdraw(container, [HARBOUR]) == (HARBOUR,)
    assert await found(container) == []
    assert await everything(container) == before
    assert await withdraw(container, [HARBOUR]) == ()


async def test_what_runs_have_learnt_is_there_when_it_is_admitted_again(container: Container) -> None:
    await admit(container, [berth()])
    await container.graph.learn(LiveBatch("run", {(HARBOUR, FINISH): 1}, ((HARBOUR, 1.0),), ((HARBOUR, "ok"),)))
    learnt = (await container.graph.get_facts([HARBOUR]))[HARBOUR]
    await withdraw(container, [HARBOUR])
    await admit(container, [berth(description="Find a berth in the marina for a yacht.")])
    assert (await container.graph.get_facts([HARBOUR]))[HARBOUR] == learnt
    assert [lesson.run for lesson in await container.graph.get_lessons(HARBOUR)] == ["run"]


@pytest.mark.parametrize(
    "other", [{"url": "http://127.0.0.2:9/berths"}, {"source": make_source_mark("s2")}, {"method": "POST"}]
)
async def test_another_tool_of_the_same_id_begins_anew(container: Container, other: dict[str, object]) -> None:
    await admit(container, [berth()])
    await container.graph.learn(LiveBatch("run", {}, ((HARBOUR, 1.0),), ((HARBOUR, "ok"),)))
    await withdraw(container, [HARBOUR])
    await admit(container, [berth(**other)])
    assert (await container.graph.get_facts([HARBOUR]))[HARBOUR].ok == 0
    assert await container.graph.get_lessons(HARBOUR) == []


async def test_imported_tools_are_neither_taken_over_nor_withdrawn(container: Container) -> None:
    with pytest.raises(UsageError, match="is a tool already"):
        await admit(container, [BOOKS.model_copy(update={"source": make_source_mark("s1")})])
    with pytest.raises(UsageError, match="no tool of a source"):
        await withdraw(container, [BOOKS.id])
    with pytest.raises(UsageError, match="of no source"):
        await admit(container, [berth(source="")])
    told = await reconcile(
        container, {BOOKS.id: BOOKS.model_copy(update={"source": make_source_mark("s1")})}, [GEOCODE.id]
    )
    assert (told.admitted, told.withdrawn, told.kept) == ((), (), (BOOKS.id,))
    assert await container.graph.get_tools([BOOKS.id, GEOCODE.id]) == {BOOKS.id: BOOKS, GEOCODE.id: GEOCODE}


async def test_in_a_large_store_it_is_linked_with_what_is_near_and_the_next_build_links_it_whole(
    container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    await admit(container, [FEEDING])
    whole = await everything(container)
    await withdraw(container, [HARBOUR])
    monkeypatch.setattr("wiring.links.MAX_LINKED_TOOLS", 0)
    admitted = await admit(container, [FEEDING])
    assert admitted.waiting == 1
    assert (await everything(container))[4] == whole[4]  # the feeds
    await withdraw(container, [HARBOUR])
    assert {feed.source for feed in await container.graph.get_feeds_into(OLD_WEATHER.id)} == {GEOCODE.id}
    await admit(container, [FEEDING])
    await link(container, ignore_progress, embedded=True)
    assert await everything(container) == whole


async def broken(*_: object) -> None:
    raise UnavailableError("stopped")


async def places(container: Container, name: str) -> list[tuple[object, str]]:
    """Where a change may be stopped, in its order."""
    _, index, lexical = await container.get_retrieval()
    return [(index, name), (lexical, name), (container.graph, "put_links")]


async def test_what_was_stopped_while_it_was_admitted_is_brought_to_an_end(
    container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    await admit(container, [FEEDING])
    whole = await everything(container)
    for place, name in await places(container, "put"):
        await withdraw(container, [HARBOUR])
        with monkeypatch.context() as patched:
            patched.setattr(place, name, broken)
            with pytest.raises(UnavailableError):
                await admit(container, [FEEDING])
        await reconcile(container, {HARBOUR: FEEDING}, [HARBOUR])
        assert await everything(container) == whole, name
        assert (await reconcile(container, {HARBOUR: FEEDING}, [HARBOUR])).admitted == ()


async def test_what_was_stopped_while_it_was_withdrawn_is_brought_to_an_end(
    container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = await everything(container)
    for place, name in await places(container, "remove"):
        await admit(container, [FEEDING])
        with monkeypatch.context() as patched:
            patched.setattr(place, name, broken)
            with pytest.raises(UnavailableError):
                await withdraw(container, [HARBOUR])
        assert HARBOUR not in await container.graph.get_tools([HARBOUR])
        await reconcile(container, {}, [HARBOUR])
        assert await everything(container) == without, name


async def test_two_at_once_are_both_there(container: Container) -> None:
    other = berth(id=make_tool_id("Ships", "harbour", "list_pilots"), api="list_pilots", description="Pilots on duty.")
    await asyncio.gather(admit(container, [berth()]), admit(container, [other]), admit(container, [berth()]))
    assert set(await container.graph.get_tools([HARBOUR, other.id])) == {HARBOUR, other.id}
    _, index, lexical = await container.get_retrieval()
    assert {HARBOUR, other.id} <= (await index.fetch_digests()).keys() & (await lexical.read_texts()).keys()


def quiet(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""


def line_of(document: ToolDoc, **more: str) -> dict[str, str]:
    """A document as a line of a file to import."""
    names = {"category": document.category, "tool_name": document.toolset, "api_name": document.api}
    return {**names, "function": document.function, "url": document.url, "description": document.description, **more}


async def test_a_build_keeps_admitted_tools_and_refuses_to_take_one_over(tmp_path: Path) -> None:
    store = await indexed_store(tmp_path / "store", [GEOCODE, OLD_WEATHER])
    async with open_container(None, store) as container:
        await admit(container, [berth()])
    imported = tmp_path / "tools.jsonl"
    lines = [line_of(BOOKS), line_of(berth(description="Another one."), source=make_source_mark("s1"))]
    imported.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    ingested, _ = await build(BuildOptions(tools=(imported,), store=store), quiet)
    assert [one.tool for one in ingested.refused] == [HARBOUR]
    async with open_container(None, store) as container:
        assert (await container.graph.get_tools([HARBOUR]))[HARBOUR] == berth()
        assert (await found(container))[0] == HARBOUR
        assert (await found(container, "the author of a book"))[0] == BOOKS.id
        assert (await reconcile(container, {HARBOUR: berth()}, [HARBOUR])).admitted == ()


async def test_in_a_large_store_links_are_told_in_part_and_computed_whole_soon_after(
    container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if all had been computed with the tool there: no other test would notice a candidate that is missed."""
    monkeypatch.setattr(links, "MAX_LINKED_TOOLS", 1)
    monkeypatch.setattr(links, "_NEAREST_SEARCHED", 1)
    await admit(container, [FEEDING])
    assert await container.graph.get_feeds_out(HARBOUR) == []
    following = WholeLinks(lambda: asyncio.sleep(0, container), quiet=0.0)
    await following.after([HARBOUR])
    assert following.partly == {HARBOUR}
    while following.partly:  # noqa: ASYNC110  # there is no event for it
        await asyncio.sleep(0)
    assert {feed.target for feed in await container.graph.get_feeds_out(HARBOUR)} == {OLD_WEATHER.id}
    assert await find_partly_linked(container, [HARBOUR, BOOKS.id]) == frozenset()
    await following.after([HARBOUR])
    assert following.partly == frozenset()
    await following.close()


async def test_links_that_are_being_computed_whole_stop_with_the_server(
    container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "MAX_LINKED_TOOLS", 1)
    await admit(container, [FEEDING])
    following = WholeLinks(lambda: asyncio.sleep(0, container), quiet=3600.0)
    await following.after([HARBOUR])
    await asyncio.wait_for(following.close(), 10)
    assert following.partly == {HARBOUR}
