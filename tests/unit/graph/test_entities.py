"""What inputs and fields are of: told by paths, names, schemas, descriptions, and by what objects look like."""

import json

import pytest

from domain.tool import EntityMark, Parameter, ToolDoc, make_tool_id
from graph.entities import IdentifiedEntities, ServiceEntities, find_entities
from graph.response_fields import output_fields

HOST = "https://films.example/3"


def tool(
    method: str,
    path: str,
    answer: object = None,
    *parameters: Parameter,
    schema: object = None,
    text: str = "",
) -> ToolDoc:
    api = f"{method} {path}"
    return ToolDoc(
        id=make_tool_id("c", "films", api), category="c", toolset="films", api=api, function=api, method=method, url=HOST + path,
        description=text, parameters=parameters, example_response=None if answer is None else json.dumps(answer),
        response_schema=None if schema is None else json.dumps(schema),
    )  # fmt: skip


def asks(name: str, text: str = "", **more: object) -> Parameter:
    return Parameter.model_validate(
        {"name": name, "description": text, "required": True, "location": "path" if name == "id" else "query"} | more
    )


FILM = tool(
    "GET", "/films/{id}", {"id": 1, "title": "x", "runtime": 90, "genres": [{"id": 2, "name": "y"}]}, asks("id")
)
PERSON = tool("GET", "/people/{id}", {"id": 1, "name": "x", "birthday": "d", "portrait": "p"}, asks("id"))
CREDITS = tool(
    "GET",
    "/films/{id}/credits",
    {
        "id": 1,
        "cast": [{"id": 3, "name": "x", "portrait": "p", "part": "z"}],
        "crew": [{"id": 4, "portrait": "p", "job": "j"}],
    },
    asks("id"),
)
SEARCH = tool("GET", "/search/films", {"page": 1, "results": [{"id": 5, "title": "x"}]})
POPULAR = tool("GET", "/people/popular", {"page": 1, "results": [{"id": 5, "name": "x"}]})
TRENDS = tool("GET", "/trends", {"items": [{"id": 6}]}, asks("kind", enum=("films", "people")))
FOLLOW = tool("PUT", "/me/following", None, asks("ids", "The ids of films or people, separated by commas."))
SAVE = tool("PUT", "/me/films", None, asks("ids"))
TAGS = tool("GET", "/films/{id}/tags", {"id": 1, "tags": [{"id": 7, "name": "y"}]}, asks("id"))
MADE = tool("POST", "/people/{id}/lists", {"id": "l", "films": [{"id": 8}]}, asks("id"))
LIST = tool("DELETE", "/lists/{list_id}", None, asks("list_id", location="path"))
ALL = (FILM, PERSON, CREDITS, SEARCH, POPULAR, TRENDS, FOLLOW, SAVE, TAGS, MADE, LIST)


@pytest.fixture(scope="module")
def service() -> ServiceEntities:
    return ServiceEntities((doc, output_fields(doc)) for doc in ALL)


def of(service: ServiceEntities, doc: ToolDoc, path: str) -> set[str]:
    field = next(field for field in output_fields(doc) if field.path == path)
    slot = service.resolve_field(doc, field)
    return set(slot.entities) if slot is not None else set()


@pytest.mark.parametrize(
    ("doc", "path", "expected"),
    [
        (FILM, "id", {"film"}),
        (FILM, "genres[].id", {"genre"}),
        (CREDITS, "cast[].id", {"person"}),
        (CREDITS, "crew[].id", {"person"}),
        (CREDITS, "id", {"film"}),
        (SEARCH, "results[].id", {"film"}),
        (POPULAR, "results[].id", {"person"}),
        (TRENDS, "items[].id", {"film", "person"}),
        (TAGS, "tags[].id", {"tag"}),
        (MADE, "id", {"list"}),
        (MADE, "films[].id", {"film"}),
    ],
)
def test_what_fields_are_of(service: ServiceEntities, doc: ToolDoc, path: str, expected: set[str]) -> None:
    assert of(service, doc, path) == expected


@pytest.mark.parametrize(
    ("doc", "expected"),
    [(FILM, {"film"}), (PERSON, {"person"}), (FOLLOW, {"film", "person"}), (SAVE, {"film"}), (LIST, {"list"})],
)
def test_what_inputs_are_of(service: ServiceEntities, doc: ToolDoc, expected: set[str]) -> None:
    slot = service.resolve_input(doc, doc.parameters[0])
    assert slot is not None
    assert (set(slot.entities), slot.form) == (expected, "id")


def test_an_echo_repeats_what_was_asked_with(service: ServiceEntities) -> None:
    echoes = {(doc.api, f.path) for doc in ALL for f in output_fields(doc) if service.is_echo(doc, f)}
    assert echoes == {(doc.api, "id") for doc in (FILM, PERSON, CREDITS, TAGS)}


def test_schemas_tell_by_their_names_whatever_stands_around_the_noun() -> None:
    def schema(title: str) -> dict[str, object]:
        return {"type": "object", "title": title, "properties": {"id": {"type": "string"}}}

    page = {"type": "array", "items": schema("SmallFilmObject | PersonObject")}
    named = tool("GET", "/me/top", schema={"properties": {"items": page, "owner": schema("SmallPersonObject")}})
    service = ServiceEntities((doc, output_fields(doc)) for doc in (FILM, PERSON, named))
    assert of(service, named, "items[].id") == {"film", "person"}
    assert of(service, named, "owner.id") == {"person"}


def test_lists_of_objects_are_asked_for_by_the_form_that_their_items_have() -> None:
    items = json.dumps({"type": "array", "items": {"type": "object", "properties": {"uri": {"type": "string"}}}})
    add = tool("POST", "/queue", None, asks("films", type="array", json_schema=items))
    slot = ServiceEntities((doc, output_fields(doc)) for doc in (FILM, add)).resolve_input(add, add.parameters[0])
    assert slot is not None
    assert (slot.entities, slot.form, slot.spelling) == ({"film"}, "url", "uri")


def test_tools_are_told_by_what_they_take_and_give() -> None:
    found = find_entities(ALL)
    assert found[CREDITS.id] == IdentifiedEntities(takes=frozenset({"film"}), gives=frozenset({"film", "person"}))
    assert found[FOLLOW.id] == IdentifiedEntities(takes=frozenset({"film", "person"}), gives=frozenset())


def test_addresses_that_cannot_be_read_say_nothing() -> None:
    odd = FILM.model_copy(update={"url": "http://[::bad/{id}"})
    assert find_entities([odd])[odd.id].takes == frozenset()


def test_what_people_say_goes_before_what_names_tell() -> None:
    """Of an input whose name tells nothing, of one whose name tells something else, and of a field."""
    ask = tool("GET", "/lookup", {"answer": {"ref": 7}}, asks("q"), asks("person_id"))
    marks = (
        EntityMark(place="q", entity="Films"),
        EntityMark(place="person_id", entity="film"),
        EntityMark(place="answer.ref", entity="person"),
    )
    assert find_entities([FILM, PERSON, ask])[ask.id] == IdentifiedEntities(frozenset({"person"}), frozenset())
    said = ask.model_copy(update={"entity_marks": marks})
    assert find_entities([FILM, PERSON, said])[ask.id] == IdentifiedEntities(frozenset({"film"}), frozenset({"person"}))
