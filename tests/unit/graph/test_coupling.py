"""Which fields of a response fill which parameters, and what a document says of its response."""

import json

import pytest

from domain.tool import FeedMark, Filled, JsonType, Parameter, ToolDoc, make_tool_id
from graph.coupling import MIN_COUPLING_SCORE, find_best_field, output_fields, score_coupling
from graph.identifiers import split_words
from graph.response_fields import MAX_FIELDS, OutputField


def doc(
    api: str,
    example: object = None,
    *,
    schema: object = None,
    description: str = "",
    parameters: tuple[Parameter, ...] = (),
) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("c", "t", api), category="c", toolset="t", api=api, function=api, description=description, parameters=parameters,
        example_response=None if example is None else json.dumps(example), response_schema=None if schema is None else json.dumps(schema),
    )  # fmt: skip


SEARCH_PERSON = doc(
    "searchPerson", [{"person_id": "p1", "name": "Ada", "num_citation": 3, "interest": ["logic"], "organization": "X"}]
)
COAUTHORS = doc(
    "getCoauthors", [{"id": "p2", "name": "Bob", "relation": "coauthor"}], description="The coauthors of a person"
)
GEOCODE = doc("geocode", {"results": [{"name": "Paris", "location": {"lat": 48.85, "lng": 2.35}}]})
USERS = doc("listUsers", {"users": [{"id": 3, "name": "x"}]})
COUNTRY = doc("find_country", {"name": "X", "capital": "Y", "currency_code": "ABC"})
AUTHOR = doc("get_author", {"author_id": "a1", "name": "X", "birth_city": "Y", "birth_year": 1950})
HOLIDAYS = doc("get_public_holidays", {"holidays": [{"date": "2026-01-01", "name": "New Year"}]})


@pytest.mark.parametrize(
    ("producer", "parameter", "kind", "path"),
    [
        (SEARCH_PERSON, "person_id", "string", "[].person_id"),
        (SEARCH_PERSON, "personId", "string", "[].person_id"),
        (SEARCH_PERSON, "organisation", "string", "[].organization"),
        (SEARCH_PERSON, "interests", "string", "[].interest[]"),
        (COAUTHORS, "person_id", "string", "[].id"),
        (GEOCODE, "latitude", "number", "results[].location.lat"),
        (GEOCODE, "lon", "number", "results[].location.lng"),
        (GEOCODE, "long", "string", "results[].location.lng"),
        (USERS, "userid", "integer", "users[].id"),
        (COUNTRY, "to_currency", "string", "currency_code"),
        (COUNTRY, "base_currency_code", "string", "currency_code"),
        (COUNTRY, "city", "string", "capital"),
        (AUTHOR, "city", "string", "birth_city"),
        (HOLIDAYS, "date", "string", "holidays[].date"),
        (HOLIDAYS, "end_date", "string", "holidays[].date"),
    ],
)
def test_fields_that_fit(producer: ToolDoc, parameter: str, kind: JsonType, path: str) -> None:
    found = find_best_field(producer, Parameter(name=parameter, type=kind))
    assert found is not None
    assert found.field.path == path
    assert MIN_COUPLING_SCORE <= found.score <= 1.0


@pytest.mark.parametrize(
    ("producer", "parameter"),
    [
        (SEARCH_PERSON, Parameter(name="pub_id")),
        (SEARCH_PERSON, Parameter(name="city")),
        (GEOCODE, Parameter(name="user_id")),
        (USERS, Parameter(name="order_id")),
        (USERS, Parameter(name="source_id")),
        (AUTHOR, Parameter(name="title")),
        (COUNTRY, Parameter(name="country_code")),
        (USERS, Parameter(name="id")),
        (USERS, Parameter(name="name")),
        (SEARCH_PERSON, Parameter(name="person_id", type="object")),
    ],
)
def test_fields_that_do_not_fit(producer: ToolDoc, parameter: Parameter) -> None:
    assert find_best_field(producer, parameter) is None


def test_a_vague_name_fits_where_the_other_side_speaks_of_the_same_thing() -> None:
    consumer = doc("getUser", description="One user by id")
    found = find_best_field(USERS, Parameter(name="id", type="integer"), consumer)
    assert found is not None
    assert found.field.path == "users[].id"
    assert (
        find_best_field(USERS, Parameter(name="id", type="integer", description="id of the order"), doc("getOrder"))
        is None
    )


def test_an_example_outside_the_enum_counts_against_a_field() -> None:
    field = OutputField("currency", "currency", (), "string", "EUR")
    open_, closed = Parameter(name="currency"), Parameter(name="currency", enum=("miles", "feet"))
    assert score_coupling(field, GEOCODE, closed) < MIN_COUPLING_SCORE <= score_coupling(field, GEOCODE, open_)


@pytest.mark.parametrize(
    ("schema", "paths"),
    [
        ({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "integer"}}}}}}, ["a[].b"]),
        ({"code": "int", "data": [{"id": "str"}], "more": {"x": "float"}}, ["code", "data[].id", "more.x"]),
        ({"type": "array", "items": {"type": "string"}}, ["[]"]),
        ({"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": ["null", "string"]}}}]}, ["a", "b"]),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"v": {"type": "string"}, "next": {"$ref": "#/$defs/n"}}}}}, ["v"]),
    ],
)  # fmt: skip
def test_schemas_in_their_forms(schema: object, paths: list[str]) -> None:
    assert [field.path for field in output_fields(doc("a", schema=schema))] == paths


def test_an_empty_schema_gives_way_to_the_example() -> None:
    assert [field.path for field in output_fields(doc("a", {"x": 1}, schema={}))] == ["x"]


def test_hostile_documents_are_bounded() -> None:
    deep: object = "x"
    for _ in range(200):
        deep = {"a": deep}
    wide = {f"field{number}": number for number in range(5_000)}
    assert output_fields(doc("a", deep)) == ()
    assert len(output_fields(doc("a", wide))) == MAX_FIELDS
    broken = doc("a").model_copy(update={"example_response": '{"a": {"b": 1, "c": [1, 2', "response_schema": "[[["})
    assert [field.path for field in output_fields(broken)] == ["a.b", "a.c[]"]
    assert output_fields(doc("a").model_copy(update={"example_response": "{" * 100_000})) == ()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("personId", ("person", "id")), ("person_ids", ("person", "id")), ("PERSON-ID", ("person", "id")), ("productid", ("product", "id")),
     ("lng", ("longitude",)), ("HTTPServer", ("http", "server")), ("valid", ("valid",)), ("cities", ("city",)), ("people", ("person",)),
     ("status", ("status",)), ("", ()), ("ISBN13", ("isbn", "13")), ("straße", ("straße",))],
)  # fmt: skip
def test_words_of_identifiers(name: str, expected: tuple[str, ...]) -> None:
    assert split_words(name) == expected


WEATHER = doc("getWeather", {"city": "Bonn", "celsius": 3}, parameters=(Parameter(name="city", required=True),))


def test_what_repeats_the_question_is_a_second_best_and_no_producer() -> None:
    city = Parameter(name="city", required=True)
    second = find_best_field(WEATHER, city)
    assert second is not None
    assert MIN_COUPLING_SCORE <= second.score < 1.0
    assert find_best_field(WEATHER, city, echoes=False) is None


@pytest.mark.parametrize(
    "setting",
    [
        Parameter(name="celsius", type="boolean"),
        Parameter(name="page", type="integer"),
        Parameter(name="limit", type="number"),
    ],
)
def test_settings_take_nothing_from_answers(setting: Parameter) -> None:
    answers = doc("list", {"celsius": 3, "page": 1, "limit": 10})
    assert find_best_field(answers, setting, doc("other")) is None


def test_values_that_are_listed_are_chosen_rather_than_looked_up() -> None:
    producer = doc("list", schema={"properties": {"unit_kind": {"type": "string"}, "unit": {"type": "string"}}})
    kinds = Parameter(name="kind", enum=("a", "b"), description="the unit")
    assert find_best_field(producer, kinds) is None
    found = find_best_field(producer, Parameter(name="unit", enum=("a", "b")))
    assert found is not None
    assert found.score == MIN_COUPLING_SCORE


def test_a_link_of_the_store_and_an_administrator_go_before_the_names() -> None:
    odd = doc("odd", {"a": {"b": "x"}})
    taker = doc("take", parameters=(Parameter(name="city"),))
    assert find_best_field(odd, taker.parameters[0], taker) is None
    linked = taker.parameters[0].model_copy(update={"filled": (Filled(source=odd.id, field="a.b", score=0.9),)})
    found = find_best_field(odd, linked, taker)
    assert found is not None
    assert (found.field.path, found.score) == ("a.b", 0.9)
    forbidden = FeedMark(source=odd.id, field="a.b", parameter="city", fills=False)
    assert find_best_field(odd, linked, taker.model_copy(update={"feed_marks": (forbidden,)})) is None
    added = taker.model_copy(update={"feed_marks": (forbidden.model_copy(update={"fills": True}),)})
    found = find_best_field(odd, taker.parameters[0], added)
    assert found is not None
    assert found.score == 1.0


def test_fields_that_only_an_example_shows_are_there_behind_those_of_the_schema() -> None:
    both = doc("both", {"results": [{"id": 1}], "page": 1}, schema={"properties": {"page": {"type": "integer"}}})
    assert [field.path for field in output_fields(both)] == ["page", "results[].id"]
