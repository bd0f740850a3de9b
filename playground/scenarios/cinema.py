"""Films: the film's number first; people by the credits. Filmographies fail at the first attempt."""

from collections.abc import Iterator
from typing import Any

from playground.scenarios.choice import told
from playground.scenarios.entities import Entries, other_currency, some, town_entries, town_money
from playground.session import Scenario, Session
from playground.worlds.films import Artist, Film, artists, films

_LENGTH = ("How long is the movie '{title}'?", 'What genre is the film "{title}"?', "When was '{title}' released?")
_DIRECTOR = ("Who directed '{title}'?", 'Who plays the lead in "{title}"?', "Name the cast of the film '{title}'.")
_BIRTHPLACE = (
    "Where was the director of '{title}' born?",
    'What is the birthday of the director of the film "{title}"?',
    "In which country and city was the director of '{title}' born?",
)
_TOWN = (
    "How many people live in the birthplace of the director of '{title}'?",
    'What is the current weather in the town where the director of "{title}" was born?',
)
_FILMOGRAPHY = (
    "Which movies has {artist} made?",
    "List the filmography of {artist}.",
    "In how many films has {artist} played?",
)
_OTHERS = ("What other films did the director of '{title}' make?", 'Which movies did the maker of "{title}" direct?')
_LEAD = ('Which movies has the lead of "{title}" appeared in?', "What else has the star of '{title}' played in?")
_BOX_OFFICE = (
    "How much did '{title}' earn in {currency}?",
    'The film "{title}": what did it take in at the box office, in {currency}?',
)
_CINEMAS = ("Which cinemas are there in {city}?", "Where can I watch a movie in {city}?")
_TONIGHT = ("What is on at the cinema in {city} today?", "Which films are shown in {city} tonight, and at what time?")
_TICKET = ("How much is a cinema ticket in {city} in {currency}?",)
_DAYS = ("What does the cinema in {city} show on 2026-05-05, 2026-05-06 and 2026-05-07?",)
_UNKNOWN = ("Who directed '{title}'?",)


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    yield from told(_LENGTH, _length, _titles(6, "length"))
    yield from told(_DIRECTOR, _director, _titles(6, "director"))
    yield from told(_BIRTHPLACE, _birthplace, _titles(7, "birthplace"))
    yield from told(_TOWN, _town, _titles(6, "town"))
    yield from told(_FILMOGRAPHY, _filmography, [{"artist": one.name} for one in _people(9, "filmography")])
    yield from told(_OTHERS, _others, _titles(8, "others"))
    yield from told(_LEAD, _lead, _titles(10, "lead"))
    money = [{**one, "currency": other_currency("AFP", "film", at)} for at, one in enumerate(_titles(5, "money"))]
    yield from told(_BOX_OFFICE, _box_office, [{**one} for one in money])
    yield from told(_CINEMAS, _cinemas, town_entries(3, "cinemas"))
    yield from told(_TONIGHT, _tonight, town_entries(8, "tonight"))
    yield from told(_TICKET, _ticket, town_money(6, "seats"))
    yield from told(_DAYS, _days, town_entries(5, "days"))
    yield from told(_UNKNOWN, _unknown, [{"title": "Attack of the Zzyzx"}])


def _titles(count: int, key: str) -> Entries:
    """Films whose director and country are free to be mentioned too: they are in what the services answer."""

    def names(film: Film) -> str:
        return f"{film.title}, {film.country.name}, {film.director.name}, {film.director.birth_city.name}"

    return [{"title": film.title} for film in some(films(), names, count, "films", key)]


def _people(count: int, key: str) -> list[Artist]:
    return some(artists(), lambda one: f"{one.name}, {one.birth_city.name}", count, "artists", key)


def _film(session: Session, title: str) -> int:
    return session.call("search_movie", query=title)["results"][0]["id"]


def _length(session: Session, title: str) -> None:
    film = session.call("movie_details", movie_id=_film(session, title))
    genres = " and ".join(genre["name"] for genre in film["genres"])
    session.answer(f"{title} ({film['release_date']}): {film['runtime']} minutes, {genres}.")


def _credits(session: Session, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    found = session.call("movie_credits", movie_id=_film(session, title))
    return found["crew"][0], found["cast"][0]


def _director(session: Session, title: str) -> None:
    director, lead = _credits(session, title)
    session.answer(f"{director['name']} directed {title}; {lead['name']} plays {lead['character']}.")


def _birthplace(session: Session, title: str) -> None:
    director, _ = _credits(session, title)
    person = session.call("person_details", person_id=director["id"])
    session.answer(f"{person['name']} was born on {person['birthday']} in {person['place_of_birth']}.")


def _town(session: Session, title: str) -> None:
    director, _ = _credits(session, title)
    born = session.call("person_details", person_id=director["id"])["place_of_birth"]
    place = session.call("search_places", city=born.split(",")[0])["results"][0]
    now = session.call("get_current_weather", latitude=place["latitude"], longitude=place["longitude"])
    session.answer(
        f"{director['name']} was born in {place['city']}: {place['population']} people, now {now['temperature']} °C."
    )


def _filmography(session: Session, artist: str) -> None:
    person = session.call("search_person", query=artist)["results"][0]
    session.answer(_told(artist, session.at_second_try("person_movie_credits", person_id=person["id"])))


def _others(session: Session, title: str) -> None:
    director, _ = _credits(session, title)
    session.answer(_told(director["name"], session.at_second_try("person_movie_credits", person_id=director["id"])))


def _lead(session: Session, title: str) -> None:
    _, lead = _credits(session, title)
    session.answer(_told(lead["name"], session.at_second_try("person_movie_credits", person_id=lead["id"])))


def _box_office(session: Session, title: str, currency: str) -> None:
    film = session.call("movie_details", movie_id=_film(session, title))
    earned = session.call("convert_currency", from_currency="AFP", to_currency=currency, amount=film["revenue"])
    session.answer(f"{title} earned {earned['converted_amount']} {currency}.")


def _cinemas(session: Session, city: str) -> None:
    found = session.call("findCinemas", city=city)["cinemas"]
    session.answer(", ".join(f"{one['cinemaName']} ({one['screens']} screens)" for one in found) + ".")


def _programme(session: Session, city: str) -> dict[str, Any]:
    cinema = session.call("findCinemas", city=city)["cinemas"][0]
    return session.call("getShowtimes", cinemaId=cinema["cinemaId"])


def _tonight(session: Session, city: str) -> None:
    found = _programme(session, city)
    session.answer(f"At {found['cinemaName']}: " + _shown(found))


def _ticket(session: Session, city: str, currency: str) -> None:
    show = _programme(session, city)["showtimes"][0]
    price = session.call(
        "convert_currency", from_currency=show["currency"], to_currency=currency, amount=show["ticketPrice"]
    )
    session.answer(f"A ticket for {show['filmTitle']} costs {price['converted_amount']} {currency}.")


def _days(session: Session, city: str) -> None:
    cinema = session.call("findCinemas", city=city)["cinemas"][0]["cinemaId"]
    days = [session.call("getShowtimes", cinemaId=cinema, date=f"2026-05-0{day}") for day in (5, 6)]
    days.append(session.at_second_try("getShowtimes", cinemaId=cinema, date="2026-05-07"))
    session.answer(" ".join(f"{day['date']}: {_shown(day)}" for day in days))


def _unknown(session: Session, title: str) -> None:
    session.call("search_movie", query=title)
    session.give_up()


def _shown(programme: dict[str, Any]) -> str:
    return "; ".join(f"{show['filmTitle']} at {show['startsAt'][-5:]}" for show in programme["showtimes"]) + "."


def _told(name: str, found: dict[str, Any]) -> str:
    made = ", ".join(film["title"] for film in (*found["cast"], *found["crew"]))
    return f"{name}: {made}."
