"""The links of one service's tools, which tell each other's entities."""

import json
import random

import pytest

from domain.tool import Parameter, ToolDoc, make_tool_id
from graph.backends.in_memory import InMemoryGraph
from graph.feed_index import MAX_FIELDS_PER_PRODUCER, MAX_PRODUCERS
from graph.linking import link_tools
from tests.contract.test_graph_agreement import state


def quiet(done: int, total: int) -> None:
    """Progress that nobody watches."""


def tool(path: str, answer: object = None, *names: str, method: str = "GET") -> ToolDoc:
    inputs = {name.strip("{}") for name in path.split("/") if name.startswith("{")}
    return ToolDoc(
        id=make_tool_id("c", "films", f"{method} {path}"), category="c", toolset="films", api=path, function=path, method=method,
        url=f"https://films.example{path}", example_response=None if answer is None else json.dumps(answer),
        parameters=tuple(Parameter(name=name, required=True, location="path" if name in inputs else "query") for name in (*sorted(inputs), *names)),
    )  # fmt: skip


FILM = tool("/films/{id}", {"id": 1, "title": "x", "runtime": 90})
PERSON = tool("/people/{id}", {"id": 1, "birthday": "d", "portrait": "p"})
CREDITS = tool(
    "/films/{id}/credits",
    {"id": 1, "cast": [{"id": 3, "portrait": "p", "birthday": "d"}], "crew": [{"id": 4, "portrait": "p"}]},
)
SEARCH = tool("/search/films", {"page": 1, "results": [{"id": 5, "title": "x"}]}, "query")


async def feeds(*documents: ToolDoc) -> set[str]:
    graph = InMemoryGraph()
    await graph.put_tools(documents)
    await link_tools(graph, None, quiet)
    found = [feed for document in documents for feed in await graph.get_feeds_into(document.id)]
    named = {document.id: document.api for document in documents}
    return {f"{named[feed.source]} {feed.field} > {named[feed.target]} {feed.parameter}" for feed in found}


async def test_what_is_of_one_entity_is_joined_and_echoes_are_not() -> None:
    assert await feeds(FILM, PERSON, CREDITS, SEARCH) == {
        "/search/films results[].id > /films/{id} id",
        "/search/films results[].id > /films/{id}/credits id",
        "/films/{id}/credits cast[].id > /people/{id} id",
        "/films/{id}/credits crew[].id > /people/{id} id",
    }


async def test_what_is_made_takes_no_name_from_others() -> None:
    lists = tool("/lists", [{"id": 1, "name": "x"}])
    assert await feeds(lists, tool("/lists", {"id": 2}, "name", method="POST")) == set()


async def test_no_more_is_kept_of_a_parameter_than_its_best() -> None:
    wide = {f"part{n}": [{"films": [{"id": n}]}] for n in range(2 * MAX_FIELDS_PER_PRODUCER)}
    many = [tool(f"/way{n}/films", wide) for n in range(2 * MAX_PRODUCERS)]
    assert len(await feeds(FILM, *many)) == MAX_PRODUCERS * MAX_FIELDS_PER_PRODUCER


def changed(document: ToolDoc, chance: random.Random) -> ToolDoc:
    """The same tool with another answer, or other inputs."""
    holder = chance.choice(["cast", "people", "films", "results", "makers"])
    items = [{"id": 1, chance.choice(["portrait", "runtime", "name"]): "x", chance.choice(["birthday", "title"]): "y"}]
    extra = Parameter(name=chance.choice(["person_id", "maker_id", "film_ids", "page"]), required=True)
    update = {"example_response": json.dumps({holder: items}), "parameters": (*document.parameters[:1], extra)}
    return document.model_copy(update=update)


@pytest.mark.parametrize("seed", range(15))
async def test_changes_one_by_one_come_to_the_same_as_all_at_once(seed: int) -> None:
    chance = random.Random(seed)
    documents = {document.id: document for document in (FILM, PERSON, CREDITS, SEARCH)}
    graph = InMemoryGraph()
    await graph.put_tools(list(documents.values()))
    await link_tools(graph, None, quiet)
    for _ in range(5):
        one = chance.choice(sorted(documents))
        documents[one] = changed(documents[one], chance)
        await graph.put_tools([documents[one]])
        await link_tools(graph, None, quiet)
        whole = InMemoryGraph()
        await whole.put_tools(list(documents.values()))
        await link_tools(whole, None, quiet)
        assert await state(graph) == await state(whole)
