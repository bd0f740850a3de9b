"""Hotels: the city's number first, then its hotels, then what one needs of them."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from playground.scenarios.choice import told
from playground.scenarios.entities import Entries, some_day, town_entries, town_money
from playground.session import Scenario, Session
from playground.worlds.names import full_name

_HOTELS = (
    "Which hotels are there in {city}?",
    "I need a place to stay in {city}. What do you recommend?",
    "Show me the best rated hotel in {city}.",
)
_CHEAP = ("What is the cheapest hotel in {city}?", "Find me a budget hotel in {city}.")
_WITH = (
    "Is there a hotel with {amenity} in {city}?",
    "List hotels in {city} that offer {amenity}.",
    "We want a hotel with {amenity} for our weekend in {city}.",
)
_CHECK_IN = (
    "From what time can I check in at the best hotel of {city}?",
    "When do I have to leave my room at the top rated hotel in {city}?",
)
_RATES = (
    "How much are rooms for {guests} in {city} from {arrival} to {departure}?",
    "What does a room for {guests} guests cost in {city}, {arrival} until {departure}?",
)
_CONVERTED = (
    "How much is a night in the best rated hotel of {city} in {currency}?",
    "What would I pay in {currency} for the cheapest room of the top hotel in {city}?",
)
_REVIEWS = ("How many guests have reviewed the best hotel in {city}?", "What do guests say about hotels in {city}?")
_WEATHER = ("How is the weather around the best hotel in {city}?",)
_BOOK = (
    "Book a room in {city} for {guest} from {arrival} to {departure}.",
    "Please reserve the cheapest room in the best hotel of {city} for {guest}, {arrival} to {departure}.",
)
_CONFIRM = (
    "Book {guest} into the best hotel of {city} from {arrival} to {departure} and check that the booking is confirmed.",
    "Get {guest} a room in {city}, {arrival} to {departure}, and look the booking up afterwards.",
)
_NOWHERE = ("Find me a hotel in {city}.",)
_AMENITIES = (("a pool", "pool"), ("free wifi", "wifi"), ("a spa", "spa"), ("parking", "parking"), ("a gym", "gym"))


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    yield from told(_HOTELS, _hotels, town_entries(6, "hotels"))
    yield from told(_CHEAP, _cheap, town_entries(4, "cheap"))
    yield from told(
        _WITH, _with, [{**one, "amenity": _AMENITIES[at][0]} for at, one in enumerate(town_entries(5, "with"))]
    )
    yield from told(_CHECK_IN, _check_in, town_entries(4, "check-in"))
    yield from told(_RATES, _rates, [{**one, "guests": 1 + at % 3} for at, one in enumerate(_trips(5, "rates"))])
    yield from told(_CONVERTED, _converted, town_money(5, "money"))
    yield from told(_REVIEWS, _reviews, town_entries(4, "reviews"))
    yield from told(_WEATHER, _weather, town_entries(3, "hotel weather"))
    guests = [{**one, "guest": full_name("guests", 300 + at)} for at, one in enumerate(_trips(5, "book"))]
    yield from told(_BOOK, _book, [{**one} for one in guests])
    more = [{**one, "guest": full_name("guests", 320 + at)} for at, one in enumerate(_trips(4, "confirm"))]
    yield from told(_CONFIRM, _confirm, [{**one} for one in more])
    yield from told(_NOWHERE, _nowhere, [{"city": "Xanadu"}])


def _trips(count: int, key: str) -> Entries:
    made: Entries = []
    for place, entry in enumerate(town_entries(count, key)):
        arrival: date = some_day(key, place)
        nights = timedelta(days=1 + place % 4)
        made.append({**entry, "arrival": arrival.isoformat(), "departure": (arrival + nights).isoformat()})
    return made


def _found(session: Session, city: str, **wishes: Any) -> list[dict[str, Any]]:
    there = session.call("list_destinations", query=city)["destinations"][0]["dest_id"]
    return session.call("search_hotels", dest_id=there, **wishes)["hotels"]


def _hotels(session: Session, city: str) -> None:
    found = _found(session, city)
    session.answer("; ".join(f"{one['hotel_name']} ({one['review_score']} of 10)" for one in found) + ".")


def _cheap(session: Session, city: str) -> None:
    best = _found(session, city, sort_by="price")[0]
    session.answer(f"{best['hotel_name']}, from {best['min_price_per_night']} {best['currency']} a night.")


def _with(session: Session, city: str, amenity: str) -> None:
    found = _found(session, city, amenities=[dict(_AMENITIES)[amenity]])
    names = ", ".join(one["hotel_name"] for one in found)
    session.answer(f"With {amenity}: {names}." if found else f"No hotel in {city} has {amenity}.")


def _check_in(session: Session, city: str) -> None:
    best = _found(session, city)[0]
    hotel = session.call("hotel_details", hotel_id=best["hotel_id"])
    session.answer(
        f"At {best['hotel_name']} check-in is from {hotel['check_in_from']}, check-out until {hotel['check_out_until']}."
    )


def _rates(session: Session, city: str, arrival: str, departure: str, guests: int) -> None:
    best = _found(session, city)[0]
    stay = {"check_in": arrival, "check_out": departure, "guests": guests}
    rates = session.call("hotel_room_rates", hotel_id=best["hotel_id"], **stay)["rates"]
    session.answer("; ".join(f"{one['room_name']}: {one['total_price']} {one['currency']}" for one in rates) + ".")


def _converted(session: Session, city: str, currency: str) -> None:
    best = _found(session, city)[0]
    paid = session.call(
        "convert_currency",
        from_currency=best["currency"],
        to_currency=currency,
        amount=best["min_price_per_night"],
    )
    session.answer(f"A night at {best['hotel_name']} costs {paid['converted_amount']} {currency}.")


def _reviews(session: Session, city: str) -> None:
    best = _found(session, city)[0]
    said = session.call("hotel_guest_reviews", hotel_id=best["hotel_id"])
    session.answer(f"{said['review_count']} guests give {best['hotel_name']} {said['review_score']} of 10.")


def _weather(session: Session, city: str) -> None:
    best = _found(session, city)[0]
    hotel = session.call("hotel_details", hotel_id=best["hotel_id"])
    now = session.call("get_current_weather", latitude=hotel["latitude"], longitude=hotel["longitude"])
    session.answer(f"At {best['hotel_name']} it is {now['temperature']} °C with {now['condition']}.")


def _booked(session: Session, city: str, arrival: str, departure: str, guest: str) -> dict[str, Any]:
    best = _found(session, city)[0]
    stay = {"check_in": arrival, "check_out": departure}
    rates = session.call("hotel_room_rates", hotel_id=best["hotel_id"], **stay)["rates"]
    cheapest = min(rates, key=lambda rate: rate["total_price"])
    return session.call("book_room", rate_id=cheapest["rate_id"], guest_name=guest, **stay)


def _book(session: Session, city: str, arrival: str, departure: str, guest: str) -> None:
    booked = _booked(session, city, arrival, departure, guest)
    session.answer(
        f"Booked at {booked['hotel_name']}: {booked['booking_id']}, {booked['total_price']} {booked['currency']}."
    )


def _confirm(session: Session, city: str, arrival: str, departure: str, guest: str) -> None:
    booked = _booked(session, city, arrival, departure, guest)
    found = session.call("get_booking", booking_id=booked["booking_id"])
    session.answer(f"{found['booking_id']} at {found['hotel_name']} is {found['status']}.")


def _nowhere(session: Session, city: str) -> None:
    session.call("list_destinations", query=city)
    session.give_up()
