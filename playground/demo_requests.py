"""The demo's five requests, with the answers that the worlds give. Nothing here is read by the planner."""

from dataclasses import dataclass

from playground.worlds.geography import City, city_named, country_named
from playground.worlds.library import Book, books
from playground.worlds.money import CURRENCIES, convert
from playground.worlds.scholars import Paper, papers
from playground.worlds.weather import current, forecast


@dataclass(frozen=True, slots=True)
class DemoRequest:
    """A request and what a right answer must hold.

    ``numbers``: each must occur in the answer, ``tolerance`` apart at most. ``texts``: each must occur, whatever its
    case. ``calls``: the operations that a person would make, in order. ``fails``: the operation of the old service that
    a walk is likely to meet first, and has to go around; empty for most.
    """

    request: str
    calls: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    tolerance: float = 0.0
    fails: str = ""


def demo_requests() -> tuple[DemoRequest, ...]:
    """The five requests. Answers are computed, not written down."""
    return (_temperature(), _email(), _money(), _birthplace(), _forecast())


def _temperature() -> DemoRequest:
    city = _city("Tarnholm")
    return DemoRequest(
        request="What is the temperature in Tarnholm right now?",
        calls=("search_places", "get_current_weather"),
        numbers=(current(city.latitude, city.longitude).temperature,),
        tolerance=0.05,
    )


def _email() -> DemoRequest:
    paper = _paper()
    return DemoRequest(
        request=f'What is the e-mail address of the first author of the paper "{paper.title}"?',
        calls=("searchPublication", "getPublication", "getPersonBasicInfo"),
        texts=(paper.authors[0].email,),
    )


def _money() -> DemoRequest:
    country = country_named("Marovia")
    if country is None:
        raise LookupError("Marovia is not on the map")
    return DemoRequest(
        request="Convert 250 VDK into the currency of Marovia.",
        calls=("find_country", "convert_currency"),
        numbers=(convert(250, CURRENCIES["VDK"], CURRENCIES[country.currency]),),
        tolerance=0.01,
    )


def _birthplace() -> DemoRequest:
    book = _book()
    return DemoRequest(
        request=f'What is the population of the city where the author of the book "{book.title}" was born?',
        calls=("search_books", "get_book_details", "get_author_details", "search_places"),
        numbers=(book.author.birth_city.population,),
    )


def _forecast() -> DemoRequest:
    city = _city("Brennick")
    days = forecast(city.latitude, city.longitude, 3)
    return DemoRequest(
        request="How warm will it get in Brennick in the next 3 days? I need the forecast for that place.",
        calls=("search_places", "get_daily_forecast"),
        numbers=tuple(day.temperature_max for day in days),
        tolerance=0.05,
        fails="get_place_forecast",
    )


def _city(name: str) -> City:
    city = city_named(name)
    if city is None:
        raise LookupError(f"{name} is not on the map")
    return city


def _paper() -> Paper:
    """A paper of one author's team, recent, whose title no other paper's title begins with."""
    return next(
        paper
        for paper in reversed(papers())
        if len(paper.authors) > 1 and sum(other.title.startswith(paper.title) for other in papers()) == 1
    )


def _book() -> Book:
    """The first book whose author was not born in a capital."""
    return next(book for book in books() if book.author.birth_city.name != book.author.birth_city.country.capital)
