"""What kind of thing a value is: names of people and organisations, titles, codes, and values that a request only points at."""

from datetime import date

import pytest

from agent.parameter_needs import derive_need
from domain.model import JsonObject
from domain.tool import Parameter
from offline.nlp.entities import find_spans
from offline.slots.span_readings import rank_readings
from tests.unit.offline.slots.test_binding import TODAY, bound, need, references, tool

PERSON = tool(
    "searchPerson",
    need("name", required=False, description="Name of the scholar."),
    need("organization", required=False, description="Name of the organisation of the scholar."),
    need("interest", required=False, description="Research interest of the scholar."),
)
CITY = tool("search_places", need("city", description="Name of the city."))
COUNTRY = tool(
    "find_country",
    need("name", description="Name of the country."),
    example={"name": "Veldania", "currency_code": "VDK", "capital": "Velmora"},
)
BOOK = tool(
    "get_book_details", need("book_id", example="bk_9c41d7e2"), example={"book_id": "bk_1", "author_id": "aut_1"}
)
AUTHOR = tool("get_author_details", need("author_id"), example={"name": "A", "birth_city": "Velmora"})
RATES = tool("latest", need("base_currency", description="Code of the base currency.", example="VDK"))
CONVERT = tool(
    "convert", need("from_currency", example="VDK"), need("to_currency", example="NRV"), need("amount", "number")
)
UNITS = tool("units", need("from_unit", enum=("mile", "kilometre")), need("to_unit", enum=("mile", "kilometre")))
HOLIDAYS = tool("get_public_holidays", need("country_code"))
WEEKDAY = tool("get_weekday", need("date", description="The date, as YYYY-MM-DD."))


@pytest.mark.parametrize(
    ("request_text", "values"),
    [
        ("Which papers has Adela Abernathy published?", {"name": "Adela Abernathy"}),
        ("What is Adela Abernathy interested in?", {"name": "Adela Abernathy"}),
        ("Tell me about Adela Abernathy", {"name": "Adela Abernathy"}),
        ("List the publications of Jane Doe from Northern Polytechnic", {"name": "Jane Doe", "organization": "Northern Polytechnic"}),
        ("The best paper by Jane Doe of University of Lower Saxony", {"name": "Jane Doe", "organization": "University of Lower Saxony"}),
    ],
)  # fmt: skip
def test_names_of_people_and_of_organisations(request_text: str, values: JsonObject) -> None:
    assert bound(request_text, PERSON).values == values


def test_an_identifier_is_taken_from_the_request_where_it_looks_like_the_example() -> None:
    assert bound("Details of the book bk_00aa11bb", BOOK).values == {"book_id": "bk_00aa11bb"}


@pytest.mark.parametrize(
    ("request_text", "values"),
    [
        ("Convert 250 VDK to NRV", {"from_currency": "VDK", "to_currency": "NRV", "amount": 250}),
        ("How many MRV are 1685 SDR?", {"from_currency": "SDR", "to_currency": "MRV", "amount": 1685}),
        ("What is the exchange rate of 1890 TSL in RVP?", {"from_currency": "TSL", "to_currency": "RVP", "amount": 1890}),
    ],
)  # fmt: skip
def test_currency_codes_that_no_list_knows(request_text: str, values: JsonObject) -> None:
    assert bound(request_text, CONVERT).values == values


def test_the_currency_of_a_country_comes_from_the_country() -> None:
    facts = {"name": "Rioverde", "currency_code": "RVP", "capital": "Rioseda"}
    found = bound("Change 1890 TSL into the money of Rioverde.", CONVERT, (COUNTRY, facts))
    assert found.values == {"from_currency": "TSL", "to_currency": "RVP", "amount": 1890}
    assert bound("Today's rates of the money they use in Rioverde", RATES, (COUNTRY, facts)).values == {
        "base_currency": "RVP"
    }
    assert bound("I have 1815 MRV and travel to Qanaria. How much money is that?", COUNTRY).values == {
        "name": "Qanaria"
    }


def test_a_code_of_a_country_is_no_name() -> None:
    assert bound("The languages of Serra Nova", HOLIDAYS).missing == ("country_code",)


def test_both_ends_of_a_conversion_differ() -> None:
    assert bound("How many kilometres is it from here?", UNITS).values == {"to_unit": "kilometre"}


@pytest.mark.parametrize(
    ("request_text", "place", "day"),
    [("On which weekday is the first holiday?", 0, "2026-01-01"), ("The weekday of the last holiday", 2, "2026-12-25"),
     ("The weekday of May Day, not of the last holiday", 1, "2026-05-01"), ("Weekday of the holiday in the last week", 0, "2026-01-01")],
)  # fmt: skip
def test_first_and_last_of_a_list(request_text: str, place: int, day: str) -> None:
    holidays = {
        "holidays": [{"date": "2026-01-01", "name": "New Year"}, {"date": "2026-05-01", "name": "May Day"},
                     {"date": "2026-12-25", "name": "Christmas"}]
    }  # fmt: skip
    found = bound(request_text, WEEKDAY, (HOLIDAYS, holidays))
    assert (found.values, references(found)["date"]) == ({"date": day}, ("step", f"1.holidays[{place}].date"))


def test_names_within_a_title_are_no_names() -> None:
    kinds = [(span.kind, span.text) for span in find_spans('Who wrote "The Paper Tide"?', date(2026, 1, 1))]
    assert ("quoted", "The Paper Tide") in kinds
    assert not [text for kind, text in kinds if kind == "name"]


def test_a_zone_has_the_form_of_its_example() -> None:
    zone = derive_need(Parameter(name="timezone", required=True, example="Norvania/Kesterburg"))
    request = "What is the UTC offset of Norvania/Lund?"
    assert "UTC" not in [item.value for item in rank_readings(zone, find_spans(request, TODAY), request)]


@pytest.mark.parametrize(
    ("description", "kind"),
    [("Name of the country.", "country"), ("Name of the city.", "place"), ("Name of the author.", "person"), ("Name of the file.", "query"),
     ("Name of the company in its country.", "query")],
)  # fmt: skip
def test_what_a_mere_name_is_the_name_of(description: str, kind: str) -> None:
    assert derive_need(Parameter(name="name", description=description)).kind == kind
