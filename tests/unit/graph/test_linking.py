"""Links computed for a catalogue: anew only for what changed, and as if all had been computed at once."""

import json
import random
from collections.abc import Sequence

import pytest

from domain.errors import UnavailableError
from domain.tool import Parameter, ToolDoc, ToolId, make_tool_id
from graph.backends.in_memory import InMemoryGraph
from graph.linking import LinkingResult, SimilarityMap, link_tools
from graph.links import FeedLink, LinkedGraph, SubstituteLink, ToolLinks
from tests.contract.test_graph_agreement import state


def tool(toolset: str, api: str, takes: Sequence[str] = (), gives: str = "", text: str = "") -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("c", toolset, api),
        category="c",
        toolset=toolset,
        api=api,
        function=f"{api}_{toolset}".lower(),
        description=text,
        parameters=tuple(Parameter(name=name, required=True) for name in takes),
        example_response=gives or None,
    )


class AllNear:
    """Every tool is near every other, as a few of one kind are."""

    identity = "all"

    def __init__(self, graph: LinkedGraph) -> None:
        self._graph = graph

    async def find_similar(self, tools: Sequence[ToolId]) -> SimilarityMap:
        known = sorted({document.id async for document in self._graph.stream_documents()})
        return {one: [(other, 0.9) for other in known if other != one] for one in tools}


def quiet(done: int, total: int) -> None:
    """Progress that nobody watches."""


async def linked(graph: LinkedGraph, *documents: ToolDoc) -> LinkingResult:
    await graph.put_tools(documents)
    return await link_tools(graph, AllNear(graph), quiet)


PEOPLE = tool("hr", "list people", ["team"], '{"people": [{"id": 7, "email": "a@b.c", "city": "Bonn"}]}')
PERSON = tool("hr", "get person", ["person_id"], '{"email": "a@b.c"}')
MAIL = tool("post", "send mail", ["email", "text"])
WEATHER = tool("sky", "current weather", ["city"], '{"temperature": 3, "wind": 4}')
METEO = tool("meteo", "weather now", ["town"], '{"temperature": 3.5, "wind": 2.0, "rain": 1}')


async def test_fields_feed_the_parameters_they_fit() -> None:
    graph = InMemoryGraph()
    await linked(graph, PEOPLE, PERSON, MAIL, WEATHER)
    into = await graph.get_feeds_into(PERSON.id)
    assert [(f.source, f.field, f.parameter) for f in into] == [(PEOPLE.id, "people[].id", "person_id")]
    assert into[0].score >= 0.9
    email = FeedLink(PERSON.id, MAIL.id, "email", "email", 1.0)
    assert await graph.get_feeds_into(MAIL.id) == [
        FeedLink(PERSON.id, MAIL.id, "email", "email", 1.0),
        FeedLink(PEOPLE.id, MAIL.id, "people[].email", "email", 1.0),
    ]
    assert email in await graph.get_feeds_out(PERSON.id)
    assert [f.target for f in await graph.get_feeds_out(PEOPLE.id)] == [MAIL.id, WEATHER.id, PERSON.id]


async def test_the_ids_and_keys_of_strangers_feed_nothing() -> None:
    graph = InMemoryGraph()
    await linked(
        graph,
        tool("a", "x", ["user_id", "api_key", "page"]),
        tool("b", "y", [], '{"user_id": 1, "api_key": "k", "page": 2}'),
    )
    assert (await graph.count_links()).feeds == 0


async def test_tools_that_do_the_same_job_stand_in_for_each_other() -> None:
    graph = InMemoryGraph()
    await linked(graph, WEATHER, METEO, MAIL, PERSON)
    (pair,) = await graph.get_substitutes(WEATHER.id)
    assert pair == SubstituteLink(WEATHER.id, METEO.id, pytest.approx(0.9), {"city": "town"})  # pyright: ignore[reportArgumentType]
    assert [p.parameters for p in await graph.get_substitutes(METEO.id)] == [{"town": "city"}]
    assert await graph.get_substitutes(MAIL.id) == await graph.get_substitutes(PERSON.id) == []


@pytest.mark.parametrize(
    "other",
    [
        METEO.model_copy(update={"method": "POST"}),
        tool("meteo", "weather now", ["town", "day"], METEO.example_response or ""),
        tool("meteo", "weather now", [], METEO.example_response or ""),
        tool("meteo", "weather now", ["station_id"], METEO.example_response or ""),
        tool("meteo", "stock now", ["town"], METEO.example_response or ""),
        tool("sky", "weather of the sea", ["town"], METEO.example_response or ""),
    ],
    ids=["changes something", "asks for more", "drops the city", "asks for an id", "another subject", "same tool set"],
)
async def test_what_does_another_job_does_not(other: ToolDoc) -> None:
    graph = InMemoryGraph()
    await linked(graph, WEATHER, other)
    assert await graph.get_substitutes(WEATHER.id) == []


async def test_nothing_is_computed_again_for_nothing() -> None:
    graph = InMemoryGraph()
    assert (await linked(graph, PEOPLE, PERSON, MAIL)).computed == 3
    before = await state(graph)
    assert (await link_tools(graph, AllNear(graph), quiet)).computed == 0
    assert await state(graph) == before
    assert (await link_tools(graph, None, quiet)).computed == 3  # by other means: no substitutes


def changed(document: ToolDoc, chance: random.Random) -> ToolDoc:
    fields = chance.sample(["email", "city", "team", "temperature", "id"], 2)
    return document.model_copy(
        update={
            "parameters": (Parameter(name=chance.choice(["email", "town", "team", "person_id"]), required=True),),
            "example_response": json.dumps({fields[0]: "x", fields[1]: 1}),
        }
    )


@pytest.mark.parametrize("seed", range(12))
async def test_changes_one_by_one_come_to_the_same_as_all_at_once(seed: int) -> None:
    chance = random.Random(seed)
    documents = {document.id: document for document in (PEOPLE, PERSON, MAIL, WEATHER, METEO)}
    graph = InMemoryGraph()
    await linked(graph, *documents.values())
    for _ in range(4):
        some = {tool: changed(documents[tool], chance) for tool in chance.sample(sorted(documents), 2)}
        documents |= some
        await linked(graph, *some.values())
        whole = InMemoryGraph()
        await linked(whole, *documents.values())
        assert await state(graph) == await state(whole)


class Stopping(InMemoryGraph):
    """Fails at the second portion."""

    portions = 0

    async def put_links(self, links: Sequence[ToolLinks]) -> None:
        self.portions += 1
        if self.portions == 2:
            raise UnavailableError("the disk is full")
        await super().put_links(links)


async def test_interrupted_it_goes_on_where_it_was() -> None:
    many = [tool("hr", f"list {n}", ["team", f"thing{n}_id"], f'{{"thing{n + 1}": {{"id": 1}}}}') for n in range(400)]
    graph, whole = Stopping(), InMemoryGraph()
    await graph.put_tools(many)
    with pytest.raises(UnavailableError):
        await link_tools(graph, None, quiet)
    assert (await graph.count_links()).pending == 150
    assert (await link_tools(graph, None, quiet)).computed == 150
    await whole.put_tools(many)
    await link_tools(whole, None, quiet)
    assert await state(graph) == await state(whole)
    assert (await whole.count_links()).feeds == 399
