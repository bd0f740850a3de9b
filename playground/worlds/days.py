"""Public holidays of the countries."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from playground.worlds import chance
from playground.worlds.geography import COUNTRIES, Country

YEARS = range(2020, 2031)
_MOVABLE = ("Harvest Festival", "Lantern Night", "Founders' Day", "Day of the Sea", "Poets' Day", "Midsummer Fair",
            "Remembrance Day", "Bread Day", "Feast of Bells", "Unity Day")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Holiday:
    day: date
    name: str
    country: Country


@cache
def holidays(code: str, year: int) -> tuple[Holiday, ...]:
    """The holidays of a country in a year of ``YEARS``, in order of date."""
    country = next(country for country in COUNTRIES if country.code == code)
    days = {date(year, 1, 1): "New Year's Day", _national_day(country, year): f"{country.name} National Day"}
    for name in chance.several(_MOVABLE, 5, "holidays", code):
        first = date(year, 1, 5) + timedelta(days=chance.between(0, 345, "day", code, name))
        day = first + timedelta(days=(-first.weekday()) % 7)  # the Monday on or after it: it moves with the year
        while day in days:
            day += timedelta(days=7)
        days[day] = name
    return tuple(Holiday(day, name, country) for day, name in sorted(days.items()))


def _national_day(country: Country, year: int) -> date:
    return date(year, chance.between(2, 11, "month", country.code), chance.between(2, 27, "day", country.code))
