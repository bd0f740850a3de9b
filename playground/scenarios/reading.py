"""Books, their authors and where those were born; and days of the calendar."""

from collections.abc import Iterator

from playground.scenarios.choice import some_books, some_cities, some_countries, told
from playground.session import Scenario, Session

_BORN = (
    'When was the author of "{title}" born?',
    "What else did the author of '{title}' write?",
    "Tell me where the writer of the novel '{title}' comes from.",
)
_DETAILS = (
    "How many pages does '{title}' have?",
    'Who wrote "{title}"?',
    "What is the ISBN of the book '{title}' and who published it?",
)
_RATING = ("What do readers think of '{title}'?", 'How is the book "{title}" rated?', "Is '{title}' worth reading?")
_HOME = (
    "Number of inhabitants of the birthplace of the author of '{title}'?",
    'How big is the city in which the author of the novel "{title}" was born?',
    "The author of '{title}' was born in some city. What is its population?",
)
_HOME_WEATHER = ("What is the weather in the town where the author of '{title}' was born?",)
_HOLIDAYS = (
    "Which public holidays does {country} have in {year}?",
    "When are the holidays of {country} in {year}?",
)
_CITY_HOLIDAYS = ("Which public holidays are there in {city} in {year}?", "Holidays {year} for {city}, please.")
_NATIONAL = (
    "On which weekday does the first public holiday of {country} in {year} fall?",
    "What day of the week is the first holiday in {country} in {year}?",
)
_UNTIL = ("How many days are there from 2026-05-04 to the last public holiday of {country} in {year}?",)
_BETWEEN = ("How many days lie between {start} and {end}?", "Count the days from {start} to {end}.")
_UNKNOWN = ('Who wrote the book "{title}"?',)


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    yield from told(_BORN, _born, _titles(7, "born"))
    yield from told(_DETAILS, _details, _titles(6, "details"))
    yield from told(_RATING, _rating, _titles(6, "rating"))
    yield from told(_HOME, _home, _titles(7, "home"))
    yield from told(_HOME_WEATHER, _home_weather, _titles(3, "weather"))
    yield from told(_UNKNOWN, _unknown, [{"title": "Zzyzx Chronicles"}])
    yield from told(
        _HOLIDAYS, _holidays, [{**_year(at), "country": one.name} for at, one in enumerate(some_countries(5, "h"))]
    )
    city_years = [{**_year(at), "city": city.name} for at, city in enumerate(some_cities(4, "holidays"))]
    yield from told(_CITY_HOLIDAYS, _city_holidays, city_years)
    yield from told(
        _NATIONAL, _weekday, [{**_year(at), "country": one.name} for at, one in enumerate(some_countries(4, "n"))]
    )
    yield from told(_UNTIL, _until, [{"year": 2026, "country": one.name} for one in some_countries(3, "until")])
    spans = (("2026-01-15", "2026-03-01"), ("2025-07-04", "2026-05-04"), ("2024-02-28", "2024-03-01"))
    yield from told(_BETWEEN, _between, [{"start": start, "end": end} for start, end in spans])


def _titles(count: int, key: str) -> list[dict[str, str | int | float]]:
    return [{"title": book.title} for book in some_books(count, key)]


def _year(position: int) -> dict[str, str | int | float]:
    return {"year": 2024 + position % 4}


def _born(session: Session, title: str) -> None:
    book = session.call("search_books", title=title)["books"][0]
    details = session.call("get_book_details", book_id=book["book_id"])
    author = session.call("get_author_details", author_id=details["author_id"])
    others = ", ".join(other["title"] for other in author["books"])
    session.answer(f"{author['name']} was born in {author['birth_city']} in {author['birth_year']} and wrote {others}.")


def _details(session: Session, title: str) -> None:
    book = session.call("search_books", title=title)["books"][0]
    found = session.call("get_book_details", book_id=book["book_id"])
    session.answer(
        f"{title} by {found['author_name']}: {found['pages']} pages, {found['publisher']}, ISBN {found['isbn']}."
    )


def _rating(session: Session, title: str) -> None:
    book = session.call("search_books", title=title)["books"][0]
    found = session.call("get_book_reviews", book_id=book["book_id"])
    session.answer(f"{found['review_count']} readers give it {found['average_rating']} of 5 stars.")


def _home(session: Session, title: str) -> None:
    book = session.call("search_books", title=title)["books"][0]
    details = session.call("get_book_details", book_id=book["book_id"])
    author = session.call("get_author_details", author_id=details["author_id"])
    place = session.call("search_places", city=author["birth_city"])["results"][0]
    session.answer(f"{author['name']} was born in {place['city']}, where {place['population']} people live.")


def _home_weather(session: Session, title: str) -> None:
    book = session.call("search_books", title=title)["books"][0]
    details = session.call("get_book_details", book_id=book["book_id"])
    author = session.call("get_author_details", author_id=details["author_id"])
    place = session.call("search_places", city=author["birth_city"])["results"][0]
    now = session.call("get_current_weather", latitude=place["latitude"], longitude=place["longitude"])
    session.answer(f"In {place['city']} it is {now['temperature']} °C with {now['condition']}.")


def _unknown(session: Session, title: str) -> None:
    session.call("search_books", title=title)
    session.give_up()


def _holidays(session: Session, country: str, year: int) -> None:
    code = session.call("find_country", name=country)["country_code"]
    found = session.call("get_public_holidays", country_code=code, year=year)["holidays"]
    session.answer("; ".join(f"{day['date']} {day['holiday']}" for day in found) + ".")


def _city_holidays(session: Session, city: str, year: int) -> None:
    code = session.call("search_places", city=city)["results"][0]["country_code"]
    found = session.call("get_public_holidays", country_code=code, year=year)["holidays"]
    session.answer("; ".join(f"{day['date']} {day['holiday']}" for day in found) + ".")


def _weekday(session: Session, country: str, year: int) -> None:
    code = session.call("find_country", name=country)["country_code"]
    first = session.call("get_public_holidays", country_code=code, year=year)["holidays"][0]
    day = session.call("get_weekday", date=first["date"])
    session.answer(f"{first['holiday']}, the first holiday, falls on a {day['weekday']}.")


def _until(session: Session, country: str, year: int) -> None:
    code = session.call("find_country", name=country)["country_code"]
    last = session.call("get_public_holidays", country_code=code, year=year)["holidays"][-1]
    found = session.call("count_days_between", start_date="2026-05-04", end_date=last["date"])
    session.answer(f"{last['holiday']} is {found['days']} days away.")


def _between(session: Session, start: str, end: str) -> None:
    found = session.call("count_days_between", start_date=start, end_date=end)
    session.answer(f"There are {found['days']} days between {start} and {end}.")
