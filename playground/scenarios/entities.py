"""What the scenarios of travel, sports, films, food, health and jobs are about: never what a measured request asks about."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import TypeVar

from playground.reserved import kept_in
from playground.scenarios.choice import some_cities
from playground.worlds import chance
from playground.worlds.clock import TODAY
from playground.worlds.flights import Flight, flights
from playground.worlds.geography import City
from playground.worlds.money import CURRENCIES

Item = TypeVar("Item")
Entries = list[dict[str, str | int | float]]


def some(items: Sequence[Item], name: Callable[[Item], str], count: int, *keys: object) -> list[Item]:
    """``count`` of the items whose name is free to be mentioned; ``name`` may tell more names of an item than its own."""
    open_to_all = [item for item in items if not kept_in(name(item))]
    return chance.several(open_to_all, count, *keys)


def towns(count: int, key: str) -> list[City]:
    """Cities that are free to be mentioned."""
    return [city for city in some_cities(72, "towns", key) if not kept_in(city.name)][:count]


def town_entries(count: int, key: str) -> Entries:
    """The same as values of a request's template."""
    return [{"city": city.name} for city in towns(count, key)]


def town_money(count: int, key: str) -> Entries:
    """Cities, each with a currency that is not its own."""
    return [
        {"city": city.name, "currency": other_currency(city.country.currency, key, city.name)}
        for city in towns(count, key)
    ]


def some_day(*keys: object) -> date:
    """A day of the next three weeks."""
    return TODAY + timedelta(days=chance.between(1, 21, "day", *keys))


def some_flights(count: int, *keys: object) -> list[tuple[Flight, date]]:
    """Flights between cities that are free to be mentioned, each with a day on which it flies."""
    open_to_all = [one for one in flights() if not kept_in(f"{one.origin.city.name}, {one.destination.city.name}")]
    chosen = some(open_to_all, lambda flight: flight.number, count, "flights", *keys)
    return [(one, _next(one, some_day(one.number, *keys))) for one in chosen]


def other_currency(code: str, *keys: object) -> str:
    """A currency that is free to be mentioned, and is not ``code``."""
    return chance.pick([other for other in CURRENCIES if other != code and not kept_in(other)], "currency", *keys)


def _next(flight: Flight, day: date) -> date:
    return day if flight.flies_on(day) else day + timedelta(days=1)
