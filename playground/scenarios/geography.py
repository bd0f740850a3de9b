"""Cities, countries and time zones."""

from collections.abc import Iterator

from playground.scenarios.choice import some_cities, told
from playground.session import Scenario, Session

_PEOPLE = ("How many people live in {city}?", "What is the population of {city}?")
_HEIGHT = (
    "How high above sea level is {city}?",
    "Give me the elevation of {city} in metres.",
    "Is {city} a capital city?",
)
_MONEY = (
    "Which currency do I need in {city}?",
    "I am going to {city}. What money do they use there?",
    "What languages are spoken in the country that {city} belongs to?",
)
_ZONE = ("What is the UTC offset in {city}?", "How many hours ahead of UTC is {city}?")
_MEETING = (
    "When it is 15:30 on 2026-05-04 in {city}, what time is it in {other}?",
    "A call starts on 2026-05-04 at 15:30 {city} time. At what time must my colleague in {other} join?",
)
_NEAREST = (
    "Which city lies nearest to latitude {latitude} and longitude {longitude}?",
    "My position is {latitude}, {longitude}. What is the closest city and its country's telephone prefix?",
)
_NOWHERE = ("How many people live in {city}?", "What is the weather in {city}?")


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    yield from told(_PEOPLE, _people, _named(4, "people"))
    yield from told(_HEIGHT, _height, _named(5, "height"))
    yield from told(_MONEY, _money, _named(6, "money"))
    yield from told(_ZONE, _zone, _named(5, "zone"))
    pairs = zip(some_cities(4, "from"), some_cities(8, "to")[4:], strict=True)
    yield from told(_MEETING, _meeting, [{"city": here.name, "other": there.name} for here, there in pairs])
    near = [
        {"latitude": round(city.latitude + 0.1, 2), "longitude": round(city.longitude - 0.1, 2)}
        for city in some_cities(4, "near")
    ]
    yield from told(_NEAREST, _nearest, [{**spot} for spot in near])
    yield from told(_NOWHERE, _nowhere, [{"city": "Atlantis"}, {"city": "El Dorado"}])


def _named(count: int, key: str) -> list[dict[str, str | int | float]]:
    return [{"city": city.name} for city in some_cities(count, key)]


def _people(session: Session, city: str) -> None:
    place = session.call("search_places", city=city)["results"][0]
    session.answer(f"{place['population']} people live in {city}.")


def _height(session: Session, city: str) -> None:
    place = session.call("search_places", city=city)["results"][0]
    found = session.call("get_place_details", place_id=place["place_id"])
    role = "the capital" if found["is_capital"] else "not the capital"
    session.answer(f"{city} lies {found['elevation']} m above the sea and is {role} of {found['country']}.")


def _money(session: Session, city: str) -> None:
    place = session.call("search_places", city=city)["results"][0]
    country = session.call("get_country_by_code", country_code=place["country_code"])
    spoken = " and ".join(country["languages"])
    session.answer(f"{city} is in {country['name']}: they pay in {country['currency_name']} and speak {spoken}.")


def _zone(session: Session, city: str) -> None:
    place = session.call("search_places", city=city)["results"][0]
    zone = session.call("get_timezone_info", timezone=place["timezone"])
    session.answer(f"The UTC offset in {city} is {zone['utc_offset']}.")


def _meeting(session: Session, city: str, other: str) -> None:
    here = session.call("search_places", city=city)["results"][0]
    there = session.call("search_places", city=other)["results"][0]
    found = session.call(
        "convert_time", time="2026-05-04T15:30:00", from_timezone=here["timezone"], to_timezone=there["timezone"]
    )
    session.answer(f"In {other} it is {found['local_time']} then.")


def _nearest(session: Session, latitude: float, longitude: float) -> None:
    found = session.call("reverse_geocode", latitude=latitude, longitude=longitude)
    country = session.call("get_country_by_code", country_code=found["place"]["country_code"])
    session.answer(
        f"{found['place']['city']}, {found['distance_km']} km away; its prefix is {country['calling_code']}."
    )


def _nowhere(session: Session, city: str) -> None:
    session.call("search_places", city=city)
    session.give_up()
