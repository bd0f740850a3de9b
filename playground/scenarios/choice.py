"""Who and what the scenarios are about: never what the demo or a measured request asks about."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

from playground.demo_requests import demo_requests
from playground.reserved import kept_names
from playground.session import Scenario, Session
from playground.worlds import chance
from playground.worlds.companies import Company, companies
from playground.worlds.contacts import Contact, contacts
from playground.worlds.diary import Entry, entries
from playground.worlds.geography import COUNTRIES, City, Country, cities
from playground.worlds.goods import CURRENCY, Product, products
from playground.worlds.library import Book, books
from playground.worlds.orders import Order, past_orders
from playground.worlds.press import Article, articles
from playground.worlds.scholars import Paper, Scholar, coauthors_of, papers, scholars

Entries = list[dict[str, Any]]


@cache
def _asked() -> str:
    return " ".join(request.request for request in demo_requests())


def is_free(*names: str) -> bool:
    """Whether trajectories may be about something of these names: neither the demo nor a measured request is."""
    return not any(name in _asked() or name in kept_names() for name in names)


@cache
def demo_names() -> frozenset[str]:
    """The names of cities, countries, papers and books that the demo asks about."""
    names = [one.name for one in (*cities(), *COUNTRIES)] + [one.title for one in (*papers(), *books())]
    return frozenset(name for name in names if name in _asked())


def some_cities(count: int, *keys: object) -> list[City]:
    """Cities that may be asked about."""
    return chance.several([city for city in cities() if is_free(city.name)], count, "cities", *keys)


def some_countries(count: int, *keys: object) -> list[Country]:
    """Countries that may be asked about."""
    return chance.several([one for one in COUNTRIES if is_free(one.name)], count, "countries", *keys)


def some_papers(count: int, *keys: object) -> list[Paper]:
    """Papers that may be asked about, with titles that find them first."""
    return chance.several([paper for paper in papers() if is_free(paper.title)], count, "papers", *keys)


def some_scholars(count: int, *keys: object) -> list[Scholar]:
    """Scholars who have written with others."""
    free = [one for one in scholars() if coauthors_of(one.person_id) and is_free(one.name, one.organization.city.name)]
    return chance.several(free, count, "scholars", *keys)


def some_books(count: int, *keys: object) -> list[Book]:
    """Books that may be asked about."""
    return chance.several([book for book in books() if is_free(book.title)], count, "books", *keys)


def some_companies(count: int, *keys: object) -> list[Company]:
    """Companies of cities that may be asked about."""
    return chance.several([one for one in companies() if is_free(one.headquarters.name)], count, "companies", *keys)


def some_products(count: int, *keys: object) -> list[Product]:
    """Products that may be asked about."""
    return chance.several([one for one in products() if is_free(one.name)], count, "products", *keys)


def some_orders(count: int, *keys: object, status: tuple[str, ...] = ("shipped", "delivered")) -> list[Order]:
    """Orders of people, to cities, of products that may be asked about."""
    free = [
        one
        for one in past_orders()
        if one.status in status
        and is_free(one.customer.name, one.ship_to.name, *(line.product.name for line in one.lines))
    ]
    return chance.several(free, count, "orders", *keys)


def some_contacts(count: int, *keys: object) -> list[Contact]:
    """Contacts who may be asked about."""
    free = [one for one in contacts() if is_free(one.name, one.person.organization.city.name)]
    return chance.several(free, count, "contacts", *keys)


def some_events(count: int, *keys: object) -> list[Entry]:
    """Events of the calendar at places that may be asked about."""
    return chance.several([one for one in entries() if is_free(one.city.name)], count, "events", *keys)


def some_articles(count: int, *keys: object) -> list[Article]:
    """Articles about places that may be asked about, by journalists who sit in one."""
    free = [one for one in articles() if is_free(one.city.name, one.author.office.name)]
    return chance.several(free, count, "articles", *keys)


def with_money(given: Entries, key: str) -> Entries:
    """Each entry with the ``code`` of a currency that may be asked about, other than the shop's."""
    codes = [one.currency for one in some_countries(12, key) if one.currency != CURRENCY]
    return [{**entry, "code": codes[at % len(codes)]} for at, entry in enumerate(given)]


def told(
    templates: tuple[str, ...],
    search: Callable[..., None],
    given: Entries,
    *,
    old: bool = False,
) -> Iterator[Scenario]:
    """A scenario for each entry: its request from the templates in turn, its search bound to the entry's values."""
    for position, entry in enumerate(given):
        query = templates[position % len(templates)].format(**entry)
        yield Scenario(query, _bound(search, entry), meteo_in_service=old)


def _bound(search: Callable[..., None], entry: dict[str, Any]) -> Callable[[Session], None]:
    return partial(search, **entry)
