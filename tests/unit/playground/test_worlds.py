"""The worlds are consistent with themselves, and the same on every machine."""

from collections import Counter
from datetime import date
from typing import get_args

import pytest

from playground.apis.units import UnitName
from playground.worlds import days, geography, library, measures, money, scholars, weather
from playground.worlds.people import organizations


def test_names_and_identifiers_are_unique() -> None:
    for values in (
        [city.name for city in geography.cities()],
        [city.place_id for city in geography.cities()],
        [country.code for country in geography.COUNTRIES],
        [country.timezone for country in geography.COUNTRIES],
        [person.name for person in scholars.scholars()],
        [person.person_id for person in scholars.scholars()],
        [paper.title for paper in scholars.papers()],
        [paper.pub_id for paper in scholars.papers()],
        [book.title for book in library.books()],
        [book.book_id for book in library.books()],
        [author.name for author in library.authors()],
        [one.name for one in organizations()],
    ):
        assert [value for value, n in Counter(values).items() if n > 1] == []


def test_worlds_are_the_same_everywhere() -> None:
    """Pinned: a change of these values changes the committed data and every recorded answer."""
    tarnholm = geography.city_named("tarnholm")
    assert tarnholm is not None
    assert (tarnholm.place_id, tarnholm.latitude, tarnholm.longitude) == ("plc_babacb46", 59.3252, 13.8625)
    assert weather.current(tarnholm.latitude, tarnholm.longitude).temperature == 7.3
    assert scholars.papers()[-1].title == "The Hidden Structure of Machine Translation under Noise"


def test_co_authors_are_mutual_and_counted() -> None:
    pairs = {
        (person.person_id, other.person_id): papers
        for person in scholars.scholars()
        for other, papers in scholars.coauthors_of(person.person_id)
    }
    assert pairs
    assert all(pairs[other, person] == papers for (person, other), papers in pairs.items())
    assert all(person != other for person, other in pairs)


def test_citations_add_up() -> None:
    years = {paper.pub_id: paper.year for paper in scholars.papers()}
    for paper in scholars.papers():
        assert all(years[reference] <= paper.year for reference in paper.references)
        assert paper.pub_id not in paper.references
    total = sum(len(paper.references) for paper in scholars.papers())
    assert sum(scholars.citations().values()) == total
    by_person = sum(scholars.citations_of(person.person_id) for person in scholars.scholars())
    assert by_person == sum(scholars.citations()[p.pub_id] * len(p.authors) for p in scholars.papers())


def test_every_scholar_has_a_paper_and_an_existing_house() -> None:
    assert all(scholars.papers_of(person.person_id) for person in scholars.scholars())
    assert {person.organization.name for person in scholars.scholars()} <= {one.name for one in organizations()}
    assert all(one.city in geography.cities() for one in organizations())


def test_books_fit_their_authors_and_reviews() -> None:
    for book in library.books():
        assert book.author in library.authors()
        assert 22 <= book.year - book.author.birth_year <= 40
        assert 1 <= book.average_rating <= 5
        assert len(book.isbn) == 13
        assert library.isbn13(book.isbn[:12]) == book.isbn
    assert sum(len(library.books_by(author)) for author in library.authors()) == len(library.books())


def test_capitals_are_the_largest_cities() -> None:
    for country in geography.COUNTRIES:
        towns = [city for city in geography.cities() if city.country is country]
        assert max(towns, key=lambda city: city.population).name == country.capital
        assert all(-90 <= town.latitude <= 90 and -180 <= town.longitude <= 180 for town in towns)


def test_nearest_city_is_the_city_itself() -> None:
    for city in geography.cities():
        assert geography.nearest_city(city.latitude, city.longitude) == (city, 0.0)


def test_conversion_there_and_back() -> None:
    for source in money.CURRENCIES.values():
        assert money.rate(source, source) == 1.0
        for target in money.CURRENCIES.values():
            assert money.rate(source, target) * money.rate(target, source) == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize(
    ("value", "source", "target", "result"),
    [(100, "celsius", "fahrenheit", 212.0), (0, "kelvin", "celsius", -273.15), (26.2, "mile", "kilometre", 42.1648)],
)
def test_known_conversions(value: float, source: str, target: str, result: float) -> None:
    assert measures.convert(value, measures.UNITS[source], measures.UNITS[target]) == pytest.approx(result, abs=1e-3)


def test_unit_names_of_the_api_are_those_of_the_world() -> None:
    assert get_args(UnitName) == tuple(measures.UNITS)


def test_holidays_are_in_order_and_in_their_year() -> None:
    for country in geography.COUNTRIES:
        for year in days.YEARS:
            found = [holiday.day for holiday in days.holidays(country.code, year)]
            assert found == sorted(set(found))
            assert found[0] == date(year, 1, 1)
            assert {day.year for day in found} == {year}
            assert len(found) == 7


def test_weather_is_plausible() -> None:
    for city in geography.cities():
        for day in weather.forecast(city.latitude, city.longitude, 10):
            assert -20 < day.temperature_min < day.temperature_max < 45
            assert (day.precipitation > 0) == (day.condition in {"light rain", "heavy rain", "thunderstorm"})
