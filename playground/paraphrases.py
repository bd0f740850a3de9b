"""Fifty requests, and fifty that ask the same in other words of other things: what a memory of the first is worth to the second.

``python -m playground.paraphrases`` writes them anew; a test holds the files to it. Answers are computed from the worlds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, TypeVar

import orjson

from playground.worlds.companies import Company, companies, companies_named, price
from playground.worlds.films import Film, films
from playground.worlds.geography import COUNTRIES, City, Country, cities
from playground.worlds.library import Book, books
from playground.worlds.money import CURRENCIES, convert
from playground.worlds.weather import current

FOLDER = Path(__file__).parent / "requests" / "learning"
FIRST, SECOND = FOLDER / "first.jsonl", FOLDER / "paraphrases.jsonl"
EACH = 5

Asked = dict[str, Any]
Expect = dict[str, Any]
Work = TypeVar("Work", Book, Film)


@dataclass(frozen=True, slots=True)
class _Kind:
    """``told``: what fills the wording, and what is expected, for one thing. ``words``: those of the first requests and of the others."""

    name: str
    calls: tuple[str, ...]
    things: Sequence[tuple[dict[str, Any], Expect]]
    first: tuple[str, ...]
    other: tuple[str, ...]

    def requests(self) -> tuple[list[Asked], list[Asked]]:
        """Five requests, and five in other words of other things."""
        own = [self._request(f"{self.name}-{n}", self.first[n % len(self.first)], n) for n in range(EACH)]
        again = [
            self._request(f"{self.name}-again-{n}", self.other[n % len(self.other)], EACH + n) for n in range(EACH)
        ]
        return own, again

    def _request(self, name: str, wording: str, at: int) -> Asked:
        told, expect = self.things[at]
        return {
            "id": name,
            "request": wording.format(**told),
            "calls": [{"operation": operation} for operation in self.calls],
            "expect": expect,
            "entities": [str(value) for value in told.values()],
        }


def pairs() -> tuple[list[Asked], list[Asked]]:
    """The first fifty and the other fifty, kind by kind."""
    made = [kind.requests() for kind in _kinds()]
    return [one for first, _ in made for one in first], [one for _, other in made for one in other]


def _kinds() -> list[_Kind]:
    return [*_of_places(), *_of_money(), *_of_works(), *_of_days()]


def _of_places() -> list[_Kind]:
    towns = [_city(city) for city in cities()[2::4]]
    lands = [_country(country) for country in COUNTRIES]
    return [
        _Kind("population", ("search_places",), [(told, {"numbers": [city.population]}) for city, told in towns],
            ("How many inhabitants does {city} have?", "What is the population of {city}?"),
            ("How many people live in {city}?", "How many inhabitants does the city of {city} have?", "Tell me the population of {city}.")),
        _Kind("temperature", ("search_places", "get_current_weather"),
            [(told, _near(current(city.latitude, city.longitude).temperature)) for city, told in towns[1:]],
            ("What is the temperature in {city} right now?", "How warm is it in {city} at the moment?"),
            ("What's the temperature in {city} at the moment?", "How warm is it right now in {city}?", "Tell me the current temperature in {city}.")),
        _Kind("wind", ("search_places", "get_current_weather"),
            [(told, _near(current(city.latitude, city.longitude).wind_speed)) for city, told in towns[2:]],
            ("How strong is the wind in {city} right now?", "What is the wind speed in {city} at the moment?"),
            ("How strong is the wind in {city} at the moment?", "What is the current wind speed in {city}?")),
        _Kind("prefix", ("find_country",), [(told, {"texts": [country.calling_code]}) for country, told in lands],
            ("What is the calling code of {country}?", "Which telephone prefix does {country} have?"),
            ("What's the calling code for {country}?", "Which calling code does {country} have?", "Tell me the telephone prefix of {country}.")),
    ]  # fmt: skip


def _of_money() -> list[_Kind]:
    codes = sorted(CURRENCIES)
    sums = [(250 + 75 * n, codes[(3 * n) % len(codes)], codes[(3 * n + 5) % len(codes)]) for n in range(2 * EACH)]
    changes = [
        ({"sum": amount, "have": a, "want": b}, {"numbers": [convert(amount, CURRENCIES[a], CURRENCIES[b])], "tolerance": 0.01})
        for amount, a, b in sums
    ]  # fmt: skip
    firms = [
        ({"company": one.name}, {"numbers": [price(one)], "tolerance": 0.005}) for one in companies() if _alone(one)
    ]
    return [
        _Kind("money", ("convert_currency",), changes,
            ("Convert {sum} {have} to {want}.", "How much is {sum} {have} in {want}?"),
            ("What is {sum} {have} in {want}?", "Please convert {sum} {have} into {want}.", "How many {want} are {sum} {have}?")),
        _Kind("share", ("lookup_symbol", "get_stock_quote"), firms,
            ("What is the price of a share of {company}?", "What does a share of {company} cost?"),
            ("What's the share price of {company}?", "How much does a share of {company} cost?")),
    ]  # fmt: skip


def _of_works() -> list[_Kind]:
    volumes = [({"title": one.title}, {"numbers": [one.pages]}) for one in _single(books(), 5)]
    stars = [
        ({"title": one.title}, {"numbers": [one.average_rating], "tolerance": 0.01}) for one in _single(books(), 7)
    ]
    reels = [({"title": one.title}, {"numbers": [one.runtime]}) for one in _single(films(), 4)]
    return [
        _Kind("pages", ("search_books", "get_book_details"), volumes,
            ('How many pages does the book "{title}" have?', 'How long is the book "{title}", in pages?'),
            ('How many pages are there in the book "{title}"?', 'How many pages has the book "{title}"?')),
        _Kind("stars", ("search_books", "get_book_reviews"), stars,
            ('What is the average rating of the book "{title}"?', 'How do readers rate the book "{title}" on average?'),
            ('What average rating does the book "{title}" have?', 'How is the book "{title}" rated on average?')),
        _Kind("runtime", ("search_movie", "movie_details"), reels,
            ('What is the running time of the film "{title}"?', 'How many minutes does the film "{title}" take?'),
            ('How long is the running time of the film "{title}"?', 'How many minutes long is the film "{title}"?')),
    ]  # fmt: skip


def _of_days() -> list[_Kind]:
    days = [date(2001, 3, 9) + timedelta(days=433 * n) for n in range(2 * EACH)]
    return [
        _Kind("weekday", ("get_weekday",), [({"day": day.isoformat()}, {"texts": [f"{day:%A}"]}) for day in days],
            ("What day of the week was {day}?", "Which weekday was {day}?"),
            ("On which day of the week did {day} fall?", "What weekday was {day}?"))
    ]  # fmt: skip


def _city(city: City) -> tuple[City, dict[str, Any]]:
    return city, {"city": city.name}


def _country(country: Country) -> tuple[Country, dict[str, Any]]:
    return country, {"country": country.name}


def _near(value: float) -> Expect:
    return {"numbers": [value], "tolerance": 0.05}


def _alone(company: Company) -> bool:
    return len(companies_named(company.name)) == 1


def _single(works: Sequence[Work], step: int) -> list[Work]:
    """Works whose title begins no other's."""
    alone = [one for one in works if sum(other.title.startswith(one.title) for other in works) == 1]
    return alone[::step]


def lines(requests: Sequence[Asked]) -> bytes:
    """The file of some requests."""
    return b"".join(orjson.dumps(one) + b"\n" for one in requests)


def main() -> None:
    """Write both files."""
    FOLDER.mkdir(exist_ok=True)
    for path, requests in zip((FIRST, SECOND), pairs(), strict=True):
        path.write_bytes(lines(requests))


if __name__ == "__main__":
    main()
