"""The offline arguments: which value goes to which parameter, where it is from, and what stays missing."""

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.policy.protocol import ArgumentsQuestion, CallArguments
from domain.model import JsonObject
from domain.plan import StepResult
from domain.tool import Flow, Parameter, ToolDoc, make_tool_id
from offline.slots.binding import InputCoverage, bind, check_fillable

TODAY = date(2026, 1, 7)  # a Wednesday


def need(name: str, kind: str = "string", **more: object) -> Parameter:
    return Parameter.model_validate({"name": name, "type": kind, "required": True, **more})


def tool(api: str, *parameters: Parameter, description: str = "", example: object = None) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("c", "t", api), category="c", toolset="t", api=api, function=api, parameters=parameters, description=description,
        example_response=None if example is None else json.dumps(example),
    )  # fmt: skip


def bound(request: str, document: ToolDoc, *earlier: tuple[ToolDoc, object]) -> CallArguments:
    steps = tuple((doc, StepResult(tool=doc.id, status="ok", response=json.dumps(value))) for doc, value in earlier)
    return bind(ArgumentsQuestion(request, document, steps), TODAY)


def references(arguments: CallArguments) -> dict[str, tuple[str, str]]:
    return {binding.parameter: (binding.origin, binding.reference) for binding in arguments.provenance}


MONEY = tool("convert", need("amount", "number"), need("from"), need("to"), description="Converts a currency")
CODES = tool("convert", need("from_currency"), need("to_currency"), need("amount", "number"))
UNITS = tool(
    "units",
    need("value", "number"),
    need("from_unit", enum=("kilometer", "mile")),
    need("to_unit", enum=("kilometer", "mile")),
)
FLIGHTS = tool(
    "flights",
    need("origin"),
    need("destination"),
    need("departure_date", format="date"),
    need("passengers", "integer", required=False),
)
BOOKS = tool("books", need("topic"), need("author"), need("limit", "integer", required=False))


@pytest.mark.parametrize(
    ("request_text", "document", "values"),
    [
        ("Convert 100 USD to EUR", MONEY, {"amount": 100, "from": "USD", "to": "EUR"}),
        ("How much is 1,250.50 euros in yen?", CODES, {"from_currency": "EUR", "to_currency": "JPY", "amount": 1250.5}),
        ("What is $20 in pounds sterling, I mean GBP?", CODES, {"from_currency": "USD", "to_currency": "GBP", "amount": 20}),
        ("How many miles is 10 km?", UNITS, {"value": 10, "from_unit": "kilometer", "to_unit": "mile"}),
        ("Convert 5 miles to kilometers", UNITS, {"value": 5, "from_unit": "mile", "to_unit": "kilometer"}),
        ("Fly from Berlin to New York on 3 May", FLIGHTS, {"origin": "Berlin", "destination": "New York", "departure_date": "2026-05-03"}),
        ("I go to Rome from Oslo next Monday", FLIGHTS, {"origin": "Oslo", "destination": "Rome", "departure_date": "2026-01-12"}),
        ("Translate 'good morning' from English to French", tool("t", need("text"), need("source_language"), need("target_language")),
         {"text": "good morning", "source_language": "en", "target_language": "fr"}),
        ("Holidays of Germany in 2025", tool("h", need("country_code"), need("year", "integer")), {"country_code": "DE", "year": 2025}),
        ("Events between 2024-01-01 and 2024-02-01", tool("e", need("start_date"), need("end_date")),
         {"start_date": "2024-01-01", "end_date": "2024-02-01"}),
        ("Weather at 48.85, 2.35", tool("w", need("lat", "number"), need("lng", "number")), {"lat": 48.85, "lng": 2.35}),
        ("Details of user 17", tool("u", need("user_id", "integer")), {"user_id": 17}),
        ("Details of product B07XJ8C8F5", tool("p", need("asin", example="B000000000")), {"asin": "B07XJ8C8F5"}),
        ("Write to ada@example.com about www.example.org/a", tool("m", need("email"), need("url")),
         {"email": "ada@example.com", "url": "www.example.org/a"}),
        ("Jane Doe at MIT", tool("s", need("organization"), need("author")), {"author": "Jane Doe", "organization": "MIT"}),
        ("The sky yesterday", tool("d", need("date", description="DD/MM/YYYY")), {"date": "06/01/2026"}),
        ("The sky in 3 days", tool("d", need("date", example="20200515")), {"date": "20260110"}),
    ],
)  # fmt: skip
def test_values_of_the_request_go_to_their_parameters(request_text: str, document: ToolDoc, values: JsonObject) -> None:
    found = bound(request_text, document)
    assert found.values == values
    assert found.missing == ()
    assert {binding.origin for binding in found.provenance} == {"request"}


@pytest.mark.parametrize(
    ("request_text", "document", "missing"),
    [
        ("What is the weather like?", tool("w", need("city")), ("city",)),
        ("Weather in Paris in 3 days", tool("w", need("lat", "number"), need("lon", "number")), ("lat", "lon")),
        ("Who is Ada Lovelace?", tool("p", need("person_id")), ("person_id",)),
        ("Use the key abc123def456", tool("k", need("api_key")), ("api_key",)),
        ("Convert 100 USD", MONEY, ("to",)),
        ("Set it to 500", tool("l", need("limit", "integer", maximum=100)), ("limit",)),
        ("Is it so?", tool("b", need("flag", "boolean")), ("flag",)),
        ("", MONEY, ("amount", "from", "to")),
    ],
)
def test_what_is_not_there_is_missing(request_text: str, document: ToolDoc, missing: tuple[str, ...]) -> None:
    found = bound(request_text, document)
    assert found.missing == missing
    assert not set(found.values) & set(missing)


def test_a_default_is_used_for_a_required_parameter_only_and_said() -> None:
    found = bound("Anything", tool("d", need("units", default="metric"), need("lang", required=False, default="en")))
    assert found.values == {"units": "metric"}
    assert references(found)["units"][0] == "default"


def test_no_default_fills_a_call_that_changes_something() -> None:
    delete = tool("delete", need("appointment_id", default="4")).model_copy(update={"method": "DELETE"})
    assert bound("Delete my appointment", delete).missing == ("appointment_id",)
    assert check_fillable(delete, "Delete my appointment", ()).missing == ("appointment_id",)


def test_the_request_comes_before_the_default() -> None:
    found = bound("Weather in Oslo", tool("w", need("city", default="London")))
    assert (found.values, references(found)["city"]) == ({"city": "Oslo"}, ("request", "Oslo"))


def test_an_optional_parameter_needs_strong_evidence() -> None:
    assert bound("Books about tea by Ada Lovelace, limit of 5", BOOKS).values.get("limit") == 5
    assert bound("Books about tea by Ada Lovelace on 7 shelves", BOOKS).values.get("limit") is None
    colour = tool("c", need("color", enum=("red", "blue"), required=False))
    assert bound("A blue car", colour).values == {"color": "blue"}


GEOCODE = tool("geocode", need("city"), example={"results": [{"name": "x", "location": {"lat": 1.0, "lng": 2.0}}]})
FORECAST = tool("forecast", need("latitude", "number"), need("longitude", "number"))
PERSONS = tool("searchPerson", need("name"), example=[{"person_id": "1", "name": "x"}])
COAUTHORS = tool(
    "getCoauthors", need("person_id"), description="Coauthors of a person", example=[{"id": "1", "name": "x"}]
)
INTERESTS = tool("getPersonInterest", need("person_id"))


def test_coupled_fields_come_from_the_item_that_the_request_names() -> None:
    places = {
        "results": [
            {"name": "Lyon", "location": {"lat": 45.7, "lng": 4.8}},
            {"name": "Paris", "location": {"lat": 48.8, "lng": 2.3}},
        ]
    }
    found = bound("Weather in Paris in 3 days", FORECAST, (GEOCODE, places))
    assert found.values == {"latitude": 48.8, "longitude": 2.3}
    assert references(found)["latitude"] == ("step", "1.results[1].location.lat")


def test_the_first_item_where_the_request_names_none() -> None:
    found = bound(
        "Their interests", INTERESTS, (PERSONS, [{"person_id": "a", "name": "X"}, {"person_id": "b", "name": "Y"}])
    )
    assert (found.values, references(found)) == ({"person_id": "a"}, {"person_id": ("step", "1.[0].person_id")})


def test_failed_steps_and_broken_responses_feed_nothing() -> None:
    failed = StepResult(tool=PERSONS.id, status="failed", response='[{"person_id": "a"}]')
    broken = StepResult(tool=PERSONS.id, status="ok", response="<html>")
    found = bind(ArgumentsQuestion("Interests", INTERESTS, ((PERSONS, failed), (PERSONS, broken))), TODAY)
    assert found.missing == ("person_id",)


def test_values_that_do_not_fit_the_type_are_not_taken_from_a_step() -> None:
    found = bound("Weather", FORECAST, (GEOCODE, {"results": [{"location": {"lat": "north", "lng": True}}]}))
    assert found.missing == ("latitude", "longitude")


def test_before_any_call_documents_say_what_will_feed() -> None:
    fed = check_fillable(FORECAST, "Weather in Paris", (GEOCODE,), TODAY)
    assert fed.missing == ()
    assert [(feed.parameter, feed.step, feed.field) for feed in fed.feeds] == [
        ("latitude", 1, "results[].location.lat"),
        ("longitude", 1, "results[].location.lng"),
    ]
    assert all(0.6 <= feed.score <= 1.0 for feed in fed.feeds)
    assert check_fillable(FORECAST, "Weather in Paris", (PERSONS,), TODAY) == InputCoverage(
        ("latitude", "longitude"), ()
    )
    assert check_fillable(GEOCODE, "Weather in Paris", (), TODAY) == InputCoverage((), ())
    assert check_fillable(INTERESTS, "Interests of Ada", (GEOCODE, PERSONS), TODAY).feeds_from == (1,)
    assert check_fillable(MONEY, "Convert 100 USD", (), TODAY).missing == ("to",)


@given(st.text(max_size=200))
def test_no_request_raises_and_every_required_parameter_is_accounted_for(request_text: str) -> None:
    for document in (MONEY, UNITS, FLIGHTS, BOOKS, FORECAST):
        found = bind(ArgumentsQuestion(request_text, document, ()), TODAY)
        required = {parameter.name for parameter in document.required}
        assert set(found.missing) == required - set(found.values)
        assert {binding.parameter for binding in found.provenance} == set(found.values)
        for binding in found.provenance:
            assert binding.reference in request_text


@pytest.mark.parametrize("said", ["in the name of", "under the name of", "on the name of"])
def test_what_is_booked_in_somebodys_name_is_not_booked_in_the_places(said: str) -> None:
    found = tool("restaurants", need("city"))
    flow = Flow(source=found.id, field="[].restaurant_name", share=0.6, count=20)
    name = need("name", description="name the table is booked under", flows=(flow,))
    book = tool("reserve_table", need("party_size", "integer"), name)
    request = f"Reserve a table at the Old Mill Tavern for 2 people, {said} Rosa Delmonte."
    arguments = bound(
        request, book.model_copy(update={"method": "POST"}), (found, [{"restaurant_name": "Old Mill Tavern"}])
    )
    assert arguments.values == {"party_size": 2, "name": "Rosa Delmonte"}
