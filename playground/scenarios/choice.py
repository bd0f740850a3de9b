"""Who and what the scenarios are about: never what the demo asks about."""

from collections.abc import Callable, Iterator
from functools import cache, partial

from playground.demo_requests import demo_requests
from playground.session import Scenario, Session
from playground.worlds import chance
from playground.worlds.geography import COUNTRIES, City, Country, cities
from playground.worlds.library import Book, books
from playground.worlds.scholars import Paper, Scholar, coauthors_of, papers, scholars


@cache
def _asked() -> str:
    return " ".join(request.request for request in demo_requests())


def some_cities(count: int, *keys: object) -> list[City]:
    """Cities that the demo does not ask about."""
    return chance.several([city for city in cities() if city.name not in _asked()], count, "cities", *keys)


def some_countries(count: int, *keys: object) -> list[Country]:
    """Countries that the demo does not ask about."""
    return chance.several([one for one in COUNTRIES if one.name not in _asked()], count, "countries", *keys)


def some_papers(count: int, *keys: object) -> list[Paper]:
    """Papers that the demo does not ask about, with titles that find them first."""
    free = [paper for paper in papers() if paper.title not in _asked()]
    return chance.several(free, count, "papers", *keys)


def some_scholars(count: int, *keys: object) -> list[Scholar]:
    """Scholars who have written with others."""
    free = [one for one in scholars() if coauthors_of(one.person_id)]
    return chance.several(free, count, "scholars", *keys)


def some_books(count: int, *keys: object) -> list[Book]:
    """Books that the demo does not ask about."""
    return chance.several([book for book in books() if book.title not in _asked()], count, "books", *keys)


def told(
    templates: tuple[str, ...],
    search: Callable[..., None],
    entries: list[dict[str, str | int | float]],
    *,
    old: bool = False,
) -> Iterator[Scenario]:
    """A scenario for each entry: its request from the templates in turn, its search bound to the entry's values."""
    for position, entry in enumerate(entries):
        query = templates[position % len(templates)].format(**entry)
        yield Scenario(query, _bound(search, entry), meteo_in_service=old)


def _bound(search: Callable[..., None], entry: dict[str, str | int | float]) -> Callable[[Session], None]:
    return partial(search, **entry)
