"""Every API answers; what it answers is what the worlds hold; what it refuses, it refuses with a reason."""

import json
from pathlib import Path

import httpx
import pytest

from playground.application import create_app
from playground.record import CATALOGUE, DATA
from playground.worlds import scholars
from playground.worlds.geography import city_named
from tests.unit.playground.asking import get

JOHN = scholars.scholars()[0]
FIRST = scholars.papers()[0]
SPOT = {"latitude": "58.2", "longitude": "11.6"}
MONEY = {"from_currency": "VDK", "to_currency": "NRV"}
PLACE = city_named("Velmora")
assert PLACE is not None

CALLS: dict[str, tuple[str, dict[str, str]]] = {
    "search_places": ("/atlas/search", {"city": "Velmora"}),
    "reverse_geocode": ("/atlas/reverse", SPOT),
    "get_place_details": (f"/atlas/places/{PLACE.place_id}", {}),
    "get_current_weather": ("/skyline/current", SPOT),
    "get_daily_forecast": ("/skyline/forecast", SPOT | {"days": "4"}),
    "get_air_quality": ("/skyline/air", SPOT),
    "get_latest_rates": ("/rates/latest", {"base_currency": "VDK"}),
    "convert_currency": ("/rates/convert", MONEY | {"amount": "250"}),
    "get_historical_rate": ("/rates/history", MONEY | {"date": "2025-03-14"}),
    "searchPerson": ("/scholar/searchPerson", {"name": JOHN.name}),
    "searchPublication": ("/scholar/searchPublication", {"publication_info": FIRST.title}),
    "getCoauthors": ("/scholar/getCoauthors", {"person_id": JOHN.person_id}),
    "getPersonInterest": ("/scholar/getPersonInterest", {"person_id": JOHN.person_id}),
    "getPersonPubs": ("/scholar/getPersonPubs", {"person_id": JOHN.person_id}),
    "getPersonBasicInfo": ("/scholar/getPersonBasicInfo", {"person_id": JOHN.person_id}),
    "getPublication": ("/scholar/getPublication", {"pub_id": FIRST.pub_id}),
    "getInstitution": ("/scholar/institution", {"organization": JOHN.organization.name}),
    "search_books": ("/shelf/search", {"title": "glass harbour"}),
    "get_book_details": ("/shelf/books/{book_id}", {}),
    "get_book_reviews": ("/shelf/books/{book_id}/reviews", {}),
    "get_author_details": ("/shelf/authors/{author_id}", {}),
    "get_public_holidays": ("/days/holidays", {"country_code": "XV", "year": "2026"}),
    "count_days_between": ("/days/between", {"start_date": "2026-05-04", "end_date": "2026-09-07"}),
    "get_weekday": ("/days/weekday", {"date": "2026-09-07"}),
    "convert_units": ("/units/convert", {"value": "100", "from_unit": "celsius", "to_unit": "fahrenheit"}),
    "find_country": ("/facts/country", {"name": "veldania"}),
    "get_country_by_code": ("/facts/countries/XV", {}),
    "get_timezone_info": ("/zones/info", {"timezone": "Rioverde/Santa_Iria"}),
    "convert_time": (
        "/zones/convert",
        {"time": "2026-05-04T15:30:00", "from_timezone": "Veldania/Velmora", "to_timezone": "Kaimana/Port_Arawa"},
    ),
}


@pytest.mark.parametrize("operation", sorted(CALLS))
async def test_every_api_answers(client: httpx.AsyncClient, operation: str) -> None:
    path, query = CALLS[operation]
    if "{" in path:
        book = (await get(client, "/shelf/search", title="The Glass Harbour"))["books"][0]
        details = await get(client, f"/shelf/books/{book['book_id']}")
        path = path.format(book_id=book["book_id"], author_id=details["author_id"])
    first, second = await get(client, path, **query), await get(client, path, **query)
    assert first == second
    assert first


async def test_soay_functions_have_the_fields_of_the_paper(client: httpx.AsyncClient) -> None:
    who = {"person_id": JOHN.person_id}
    person = (await get(client, "/scholar/searchPerson", name=JOHN.name))[0]
    assert set(person) == {"person_id", "name", "num_citation", "interest", "num_pubs", "organization"}
    pubs = await get(client, "/scholar/getPersonPubs", **who)
    assert set(pubs[0]) == {"authors_name_list", "pub_id", "title", "num_citation", "year"}
    assert person["num_pubs"] == len(pubs)
    assert person["num_citation"] == sum(pub["num_citation"] for pub in pubs)
    assert await get(client, "/scholar/getPersonInterest", **who) == person["interest"]
    info = await get(client, "/scholar/getPersonBasicInfo", **who)
    assert set(info) == {
        "person_id", "name", "gender", "organization", "position", "bio", "education_experience", "email",
    }  # fmt: skip
    paper = await get(client, "/scholar/getPublication", pub_id=pubs[0]["pub_id"])
    assert set(paper) == {"abstract", "author_list", "num_citation"}
    assert [author["name"] for author in paper["author_list"]] == pubs[0]["authors_name_list"]
    assert set(paper["author_list"][0]) == {"person_id", "name", "organization"}
    others = await get(client, "/scholar/getCoauthors", **who)
    assert set(others[0]) == {"id", "name", "relation"}
    assert {other["name"] for other in others} == {n for pub in pubs for n in pub["authors_name_list"]} - {JOHN.name}
    found = await get(client, "/scholar/searchPublication", publication_info=pubs[0]["title"])
    assert found[0] == {key: pubs[0][key] for key in ("pub_id", "title", "year")}


async def test_searches_by_house_and_interest(client: httpx.AsyncClient) -> None:
    hits = await get(client, "/scholar/searchPerson", organization=JOHN.organization.name, interest=JOHN.interests[0])
    assert hits
    assert all(JOHN.interests[0] in hit["interest"] for hit in hits)
    assert await get(client, "/scholar/searchPerson", name="Nobody Atall") == []


async def test_every_paper_is_found_first_by_its_title(client: httpx.AsyncClient) -> None:
    for paper in scholars.papers():
        found = await get(client, "/scholar/searchPublication", publication_info=paper.title)
        assert found[0]["pub_id"] == paper.pub_id


async def test_the_old_forecast_is_out_of_service(client: httpx.AsyncClient) -> None:
    assert PLACE is not None
    response = await client.get(f"/meteo/places/{PLACE.place_id}/forecast")
    assert response.status_code == 503
    assert response.headers["retry-after"] == "1"
    assert "not available" in response.json()["detail"]


async def test_the_old_forecast_once_told_the_same_as_the_new(client: httpx.AsyncClient) -> None:
    assert PLACE is not None
    transport = httpx.ASGITransport(create_app(meteo_in_service=True))
    async with httpx.AsyncClient(transport=transport, base_url="http://playground") as before:
        old = await get(before, f"/meteo/places/{PLACE.place_id}/forecast", days="5")
    spot = {"latitude": str(PLACE.latitude), "longitude": str(PLACE.longitude)}
    new = await get(client, "/skyline/forecast", days="5", **spot)
    assert old["days"] == new["daily"]
    assert len(new["daily"]) == 5


@pytest.mark.parametrize(("key", "status"), [(None, 401), ("guess", 403), ("rates-pro-test-subscription", 200)])
async def test_rates_pro_wants_a_key(client: httpx.AsyncClient, key: str | None, status: int) -> None:
    headers = {"X-Api-Key": key} if key else {}
    response = await client.get("/rates-pro/quote", params=MONEY | {"amount": "10"}, headers=headers)
    assert response.status_code == status
    free = await get(client, "/rates/convert", **MONEY, amount="10")
    if status == 200:
        assert response.json()["converted_amount"] == free["converted_amount"]
    else:
        assert "key" in response.json()["detail"]


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/atlas/places/plc_0", {}, 404),
        ("/facts/country", {"name": "Nowhere"}, 404),
        ("/facts/countries/QQ", {}, 404),
        ("/shelf/books/bk_0", {}, 404),
        ("/shelf/authors/aut_0", {}, 404),
        ("/scholar/searchPerson", {}, 400),
        ("/scholar/getPersonPubs", {"person_id": "0"}, 404),
        ("/scholar/institution", {"organization": "Nowhere College"}, 404),
        ("/rates/convert", {"from_currency": "XXX", "to_currency": "VDK", "amount": "1"}, 404),
        ("/rates/history", MONEY | {"date": "1999-01-01"}, 400),
        ("/days/holidays", {"country_code": "XV", "year": "1900"}, 400),
        ("/units/convert", {"value": "1", "from_unit": "mile", "to_unit": "gram"}, 400),
        ("/zones/info", {"timezone": "Mars/Olympus"}, 404),
        ("/skyline/current", {"latitude": "91", "longitude": "0"}, 422),
        ("/skyline/current", {}, 422),
    ],
)
async def test_refusals_say_why(client: httpx.AsyncClient, path: str, query: dict[str, str], status: int) -> None:
    response = await client.get(path, params=query)
    assert response.status_code == status
    assert response.json()["detail"]


def test_the_committed_catalogue_is_the_application_s(tmp_path: Path) -> None:
    assert json.loads((DATA / CATALOGUE).read_bytes()) == create_app().openapi(), "run scripts/make_playground_data.py"
