"""Services that do what others do, with other words; maps, lending libraries and the next holidays."""

from collections.abc import Iterator
from typing import Any

from playground.scenarios.choice import Entries, some_books, some_cities, some_countries, told
from playground.scenarios.steps import place
from playground.session import Scenario, Session

_FAR = (
    "How far is it from {city} to {other} as the crow flies?",
    "Distance between {city} and {other} in miles?",
    "How many kilometres lie between {city} and {other}?",
)
_HIGH = ("Elevation of {city} according to the map?", "How high is the terrain at {city}?")
_POINT = ("Give me the latitude and longitude of {city}.", "Geocode {city}.")
_THERE = ("Current temperature at the coordinates of {city}?",)
_COUNTER = (
    "How many {other} do I get at the exchange counter for {amount} {code}?",
    "Change {amount} {code} into {other} at Cambio.",
)
_CODE = ("What is the code of the currency called {name}?",)
_NEXT = (
    "What is the next public holiday in {country}, and how many days are left?",
    "When is the next bank holiday in {country}?",
)
_NEXT_CITY = ("Which holiday comes next in the country of {city}?",)
_FEASTS = ("Which feasts are celebrated in {country} in {year}?",)
_COPIES = (
    'Which library has a copy of "{title}"?',
    'Is "{title}" on the shelf of any lending library?',
    'Where can I borrow "{title}"?',
)
_HOLD = ('Have a library copy of "{title}" kept for my card {card}.', 'Reserve "{title}" for library card {card}.')


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    here, there = some_cities(9, "here"), some_cities(18, "there")[9:]
    pairs = [
        {"city": one.name, "other": other.name} for one, other in zip(here, there, strict=True) if one is not other
    ]
    yield from told(_FAR, _far, pairs)
    yield from told(_HIGH, _high, _cities(6, "high"))
    yield from told(_POINT, _point, _cities(5, "point"))
    yield from told(_THERE, _there, _cities(3, "there now"))
    yield from told(_COUNTER, _counter, _amounts(7))
    yield from told(_CODE, _code, [{"name": "Norvan mark"}, {"name": "Tessalian lira"}, {"name": "Qanari dinar"}])
    yield from told(_NEXT, _next, [{"country": one.name} for one in some_countries(6, "next")])
    yield from told(_NEXT_CITY, _next_city, _cities(5, "next"))
    yield from told(_FEASTS, _feasts, [{"country": one.name, "year": 2027} for one in some_countries(4, "feasts")])
    yield from told(_COPIES, _copies, [{"title": one.title} for one in some_books(15, "copies")])
    holds = [{"title": one.title, "card": 204_410 + at} for at, one in enumerate(some_books(7, "holds"))]
    yield from told(_HOLD, _hold, holds)


def _cities(count: int, key: str) -> Entries:
    return [{"city": city.name} for city in some_cities(count, "twins", key)]


def _amounts(count: int) -> Entries:
    two = [some_countries(2, "counter", at) for at in range(count)]
    return [
        {"amount": 35 * (at + 1), "code": one.currency, "other": other.currency} for at, (one, other) in enumerate(two)
    ]


def _far(session: Session, city: str, other: str) -> None:
    start, end = (session.call("geocode", q=name)[0] for name in (city, other))
    found = session.call(
        "measure_distance", from_lat=start["lat"], from_lng=start["lng"], to_lat=end["lat"], to_lng=end["lng"]
    )
    session.answer(f"{found['distance_km']} km or {found['distance_miles']} miles.")


def _high(session: Session, city: str) -> None:
    spot = session.call("geocode", q=city)[0]
    found = session.call("get_elevation", lat=spot["lat"], lng=spot["lng"])
    session.answer(f"{city} lies at {found['elevation_m']} m.")


def _point(session: Session, city: str) -> None:
    spot = session.call("geocode", q=city)[0]
    session.answer(f"{spot['display_name']}: {spot['lat']}, {spot['lng']}.")


def _there(session: Session, city: str) -> None:
    spot = session.call("geocode", q=city)[0]
    now = session.call("get_current_weather", latitude=spot["lat"], longitude=spot["lng"])
    session.answer(f"{now['temperature']} °C.")


def _counter(session: Session, amount: int, code: str, other: str) -> None:
    found = session.call("fx_convert", have=code, want=other, sum=amount)
    session.answer(f"{found['new_amount']} {other}.")


def _code(session: Session, name: str) -> None:
    found = session.call("list_currencies", name_like=name)[0]
    session.answer(f"{name}: {found['currency_code']}.")


def _next(session: Session, country: str) -> None:
    code = session.call("find_country", name=country)["country_code"]
    found = session.call("get_next_holiday", nation=code)
    session.answer(f"{found['title']} on {found['on']}, in {found['days_left']} days.")


def _next_city(session: Session, city: str) -> None:
    found = session.call("get_next_holiday", nation=place(session, city)["country_code"])
    session.answer(f"{found['title']} on {found['on']}.")


def _feasts(session: Session, country: str, year: int) -> None:
    code = session.call("find_country", name=country)["country_code"]
    found = session.call("list_feasts", nation=code, y=year)
    session.answer("; ".join(f"{one['on']} {one['title']}" for one in found) + ".")


def _copies_of(session: Session, title: str) -> dict[str, Any]:
    book = session.call("search_books", title=title)["books"][0]
    details = session.call("get_book_details", book_id=book["book_id"])
    return session.call("find_library_copies", isbn=details["isbn"])


def _copies(session: Session, title: str) -> None:
    found = _copies_of(session, title)["copies"]
    parts = [f"{one['branch_city']} ({one['shelf_mark']}, back {one['due_back'] or 'already'})" for one in found]
    session.answer(f"{title}: {', '.join(parts)}.")


def _hold(session: Session, title: str, card: int) -> None:
    copy = _copies_of(session, title)["copies"][0]
    found = session.call("place_hold", copy_id=copy["copy_id"], card_number=str(card))
    session.answer(f"Kept for card {card} in {found['pick_up_city']} ({found['hold_id']}).")
