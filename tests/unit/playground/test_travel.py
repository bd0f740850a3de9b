"""Flights and hotels: the timetable holds together, searches and statuses agree, bookings are kept."""

from datetime import date, datetime, timedelta
from typing import Any, get_args

import httpx
import pytest

from playground.apis.roomly import Amenity
from playground.worlds import flights, hotels
from playground.worlds.clock import TODAY
from playground.worlds.geography import cities
from tests.unit.playground.asking import effects, get, post

FLIGHT = flights.flights()[0]
DAY = next(TODAY + timedelta(days=ahead) for ahead in range(1, 9) if FLIGHT.flies_on(TODAY + timedelta(days=ahead)))
ROUTE = {"originCode": FLIGHT.origin.code, "destinationCode": FLIGHT.destination.code, "departureDate": DAY.isoformat()}
HOTEL = hotels.hotels()[0]
STAY = {"check_in": "2026-05-11", "check_out": "2026-05-13"}
ORDER = STAY | {"rate_id": HOTEL.rooms[0].rate_id, "guest_name": "Dagny Iversholt"}


def test_codes_and_numbers_are_unique() -> None:
    assert len({one.code for one in flights.airports()}) == len(flights.airports()) == 48
    assert len({one.number for one in flights.flights()}) == len(flights.flights())
    assert all(len(one.code) == 3 and one.code[0] == one.city.name[0].upper() for one in flights.airports())
    assert len({room.rate_id for one in hotels.hotels() for room in one.rooms}) == sum(
        len(one.rooms) for one in hotels.hotels()
    )


def test_flights_take_the_time_that_the_distance_needs() -> None:
    for flight in flights.flights():
        distance = flights.distance_km(flight.origin.city, flight.destination.city)
        spent = flight.arrival(DAY) - flight.departure(DAY)
        ahead = flight.destination.city.country.utc_offset - flight.origin.city.country.utc_offset
        assert spent == timedelta(minutes=flight.minutes + ahead)
        assert 500 <= distance / (flight.minutes / 60) <= 830 or distance < 1000


async def test_a_search_offers_what_the_status_knows(client: httpx.AsyncClient) -> None:
    offers = (await get(client, "/skygate/v1/flights", **ROUTE))["data"]["items"]
    assert FLIGHT.number in {offer["flightNumber"] for offer in offers}
    for offer in offers:
        status = await get(client, f"/skygate/v1/flights/{offer['flightNumber']}/status", date=DAY.isoformat())
        late = timedelta(minutes=status["delayMinutes"])
        assert status["scheduledDeparture"] == offer["departureAt"]
        assert datetime.fromisoformat(status["estimatedArrival"]) - late == datetime.fromisoformat(offer["arrivalAt"])
        assert status["destinationCode"] == FLIGHT.destination.code


async def test_fares_are_text_and_add_up(client: httpx.AsyncClient) -> None:
    one = (await get(client, "/skygate/v1/flights", **ROUTE))["data"]["items"][0]["price"]
    two = (await get(client, "/skygate/v1/flights", **ROUTE, adults=2))["data"]["items"][0]["price"]
    assert isinstance(one["total"], str)
    assert float(two["total"]) == pytest.approx(2 * float(one["total"]), abs=0.01)
    assert one["currency"] == FLIGHT.origin.city.country.currency
    business = (await get(client, "/skygate/v1/flights", **ROUTE, cabin="business"))["data"]["items"][0]["price"]
    assert float(business["total"]) > 3 * float(one["total"])
    nothing = await get(client, "/skygate/v1/flights", **ROUTE, maxPrice=1)
    assert nothing == {"data": {"items": []}, "meta": {"totalCount": 0, "cabin": "economy"}}


async def test_a_flight_rests_on_one_day_of_the_week(client: httpx.AsyncClient) -> None:
    days = [DAY + timedelta(days=ahead) for ahead in range(7)]
    path = f"/skygate/v1/flights/{FLIGHT.number}/status"
    told = [(await get(client, path, date=day.isoformat()))["status"] for day in days]
    assert told.count("not operating") == 1


async def test_the_dead_search_is_dead_until_switched_off(client: httpx.AsyncClient) -> None:
    query = {"from_airport": FLIGHT.origin.code, "to_airport": FLIGHT.destination.code, "travel_date": DAY.isoformat()}
    for _ in range(2):
        gone = await client.get("/farefinder/cheapest", params=query)
        assert gone.status_code == 410
        assert "discontinued" in gone.json()["detail"]
    await client.put("/_failures/find_cheap_flights", params={"on": False})
    fares = [float(one["price"]["total"]) for one in await get(client, "/farefinder/cheapest", **query)]
    assert fares == sorted(fares) != []


def test_every_city_has_hotels_with_a_number_of_its_own() -> None:
    assert {one.city for one in hotels.hotels()} == set(cities())
    assert all(hotels.city_of(hotels.destination_id(city)) is city for city in cities())
    assert hotels.city_of(1) is None
    assert get_args(Amenity) == hotels.AMENITIES


@pytest.mark.parametrize(("sort_by", "key", "falls"), [
    ("price", "min_price_per_night", False), ("stars", "star_rating", True), ("review_score", "review_score", True),
])  # fmt: skip
async def test_hotels_are_sorted(client: httpx.AsyncClient, sort_by: str, key: str, falls: bool) -> None:
    there = hotels.destination_id(HOTEL.city)
    found = (await get(client, "/roomly/v2/hotels", dest_id=there, sort_by=sort_by))["hotels"]
    values = [one[key] for one in found]
    assert values == sorted(values, reverse=falls)
    assert len(values) == sum(one.city is HOTEL.city for one in hotels.hotels())


async def test_hotels_have_all_amenities_asked_for(client: httpx.AsyncClient) -> None:
    there = hotels.destination_id(HOTEL.city)
    wanted = list(HOTEL.amenities[:2])
    found = (await get(client, "/roomly/v2/hotels", dest_id=there, amenities=wanted))["hotels"]
    assert HOTEL.hotel_id in {one["hotel_id"] for one in found}
    for one in found:
        assert set(wanted) <= set((await get(client, f"/roomly/v2/hotels/{one['hotel_id']}"))["amenities"])


async def test_reviews_are_many_and_average_to_the_score(client: httpx.AsyncClient) -> None:
    response = await client.get(f"/roomly/v2/hotels/{HOTEL.hotel_id}/reviews")
    said: dict[str, Any] = response.json()
    assert len(response.content) > 300_000
    scores = [one["score"] for one in said["reviews"]]
    assert said["review_score"] == round(sum(scores) / len(scores), 1) == HOTEL.score
    assert said["review_count"] == len(scores)


async def test_a_booking_costs_what_the_rate_said_and_is_kept(client: httpx.AsyncClient) -> None:
    rates = (await get(client, f"/roomly/v2/hotels/{HOTEL.hotel_id}/rates", **STAY))["rates"]
    booked = await post(client, "/roomly/v2/bookings", ORDER)
    assert booked["total_price"] == rates[0]["total_price"]
    assert await get(client, f"/roomly/v2/bookings/{booked['booking_id']}") == booked
    assert [one["tool"] for one in await effects(client)] == ["book_room"]
    await client.post("/_reset")
    assert (await client.get(f"/roomly/v2/bookings/{booked['booking_id']}")).status_code == 404


def test_weekend_nights_are_dearer() -> None:
    room = HOTEL.rooms[0]
    monday, friday = date(2026, 5, 11), date(2026, 5, 15)
    assert hotels.room_price(room, monday, monday + timedelta(days=1)) == room.per_night
    assert hotels.room_price(room, friday, friday + timedelta(days=1)) == round(1.1 * room.per_night, 2)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"rate_id": "rt_0"}, 404),
        ({"check_in": "2026-05-03"}, 400),
        ({"check_out": "2026-05-11"}, 400),
        ({"guests": 4}, 400),
        ({"guests": 9}, 422),
        ({"check_in": "soon"}, 422),
        ({"guest_name": ""}, 422),
    ],
)
async def test_an_impossible_booking_changes_nothing(
    client: httpx.AsyncClient, change: dict[str, Any], status: int
) -> None:
    response = await client.post("/roomly/v2/bookings", json=ORDER | change)
    assert response.status_code == status, response.text
    assert await effects(client) == []


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/skygate/v1/airports/ZZZ", {}, 404),
        ("/skygate/v1/flights", ROUTE | {"originCode": "ZZZ"}, 404),
        ("/skygate/v1/flights", ROUTE | {"departureDate": "2026-05-03"}, 400),
        ("/skygate/v1/flights", ROUTE | {"cabin": "roof"}, 422),
        ("/skygate/v1/flights/XX1/status", {}, 404),
        ("/roomly/v2/hotels", {"dest_id": "1"}, 404),
        ("/roomly/v2/hotels", {"dest_id": "20000", "amenities": "helipad"}, 422),
        ("/roomly/v2/hotels/1", {}, 404),
        (f"/roomly/v2/hotels/{HOTEL.hotel_id}/rates", {"check_in": "2026-06-01", "check_out": "2026-08-01"}, 400),
    ],
)
async def test_refusals_say_why(client: httpx.AsyncClient, path: str, query: dict[str, str], status: int) -> None:
    response = await client.get(path, params=query)
    assert response.status_code == status
    assert response.json()["detail"]
