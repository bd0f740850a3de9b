"""Films, who made them and played in them, and the cinemas that show them."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from playground.worlds import chance
from playground.worlds.clock import TODAY
from playground.worlds.geography import COUNTRIES, City, Country, cities
from playground.worlds.money import CURRENCIES, convert
from playground.worlds.names import full_name, is_woman

FILMS = 110
ARTISTS = 96
DIRECTORS = 22
"""The first artists direct; the others act."""
GENRES = ("Drama", "Comedy", "Thriller", "Adventure", "Romance", "Horror", "Animation", "Documentary")
_FIRST = ("Shadows over", "Letters from", "Return to", "The Road to", "Midnight in", "A Winter in", "Escape from",
          "The Bells of", "Strangers in", "The Keeper of", "Last Train to")  # fmt: skip
_SECOND = ("Cinder Bay", "the Iron Coast", "Halloway Street", "Ember Hill", "the Ninth Floor", "Moonfall", "Juniper Lane",
           "the Long Night", "Saint Corvin", "Paper Mountain")  # fmt: skip
_CHARACTERS = ("the captain", "the widow", "Inspector Rook", "young Tomas", "the lighthouse keeper", "Madame Irina",
               "the stranger", "Doctor Pell", "the twin sister", "the cook", "Old Barnabas", "the pilot")  # fmt: skip
_HOUSES = ("Odeon {}", "{} Lumiere", "Cinema Paradiso {}", "{} Filmhouse")


@dataclass(frozen=True, slots=True)
class Artist:
    """A director or an actor."""

    artist_id: int
    name: str
    born: date
    birth_city: City

    @property
    def gender(self) -> str:
        return "female" if is_woman(self.name) else "male"


@dataclass(frozen=True, slots=True)
class Film:
    """``budget`` and ``revenue`` in Ashford pounds; ``cast`` holds actors with their characters, the lead first."""

    film_id: int
    title: str
    released: date
    country: Country
    genres: tuple[str, ...]
    runtime: int
    budget: int
    revenue: int
    rating: float
    director: Artist
    cast: tuple[tuple[Artist, str], ...]


@dataclass(frozen=True, slots=True)
class Cinema:
    """``ticket`` is the price of an evening seat in the currency of the country."""

    cinema_id: str
    name: str
    city: City
    screens: int
    ticket: float


@dataclass(frozen=True, slots=True)
class Show:
    """A showing; ``time`` as hours and minutes."""

    show_id: str
    film: Film
    day: date
    time: str
    screen: int
    price: float


@cache
def artists() -> tuple[Artist, ...]:
    """All artists; names are unique."""
    return tuple(_artist(position) for position in range(ARTISTS))


@cache
def films() -> tuple[Film, ...]:
    """All films; titles are unique."""
    return tuple(_film(position) for position in range(FILMS))


@cache
def cinemas() -> tuple[Cinema, ...]:
    """One or two in each city."""
    return tuple(
        _cinema(city, place) for city in cities() for place in range(chance.between(1, 2, "cinemas", city.name))
    )


def film_by_id(film_id: int) -> Film | None:
    """The film of that number."""
    return next((film for film in films() if film.film_id == film_id), None)


def artist_by_id(artist_id: int) -> Artist | None:
    """The artist of that number."""
    return next((artist for artist in artists() if artist.artist_id == artist_id), None)


def cinema_by_id(cinema_id: str) -> Cinema | None:
    """The cinema of that identifier."""
    return next((cinema for cinema in cinemas() if cinema.cinema_id == cinema_id), None)


def roles_of(artist: Artist) -> list[tuple[Film, str]]:
    """The films in which an artist plays, with the character, oldest first."""
    found = [(film, role) for film in films() for actor, role in film.cast if actor is artist]
    return sorted(found, key=lambda pair: pair[0].released)


def directed_by(artist: Artist) -> list[Film]:
    """The films of a director, oldest first."""
    return sorted((film for film in films() if film.director is artist), key=lambda film: film.released)


def shows(cinema: Cinema, day: date) -> list[Show]:
    """The programme of a day: newer films more often; earlier films of the day are cheaper."""
    running = chance.several(
        sorted(films(), key=lambda film: film.released)[-60:], 2 * cinema.screens, cinema.name, _week(day)
    )
    made = [_show(cinema, film, place, day) for place, film in enumerate(running)]
    return sorted(made, key=lambda show: (show.time, show.screen))


def _week(day: date) -> str:
    return (day - timedelta(days=day.weekday())).isoformat()


def _show(cinema: Cinema, film: Film, place: int, day: date) -> Show:
    late = place % 2
    clock = f"{(14, 19)[late] + place % 3}:{chance.pick(('00', '15', '30', '45'), 'minute', cinema.name, place)}"
    return Show(
        show_id=f"shw_{chance.identifier(8, 'show', cinema.name, place, day.isoformat())}",
        film=film,
        day=day,
        time=clock,
        screen=place // 2 + 1,
        price=cinema.ticket if late else round(cinema.ticket * 0.8, 2),
    )


def _artist(position: int) -> Artist:
    name = full_name("film", position)
    return Artist(
        artist_id=3_000 + 11 * position,
        name=name,
        born=date(1938, 1, 1) + timedelta(days=chance.between(0, 10_000, "born", name)),
        birth_city=chance.pick(cities(), "birthplace", name),
    )


def _film(position: int) -> Film:
    title = f"{_FIRST[position % 11]} {_SECOND[(position % 11 + position // 11) % 10]}"
    released = date(1998, 1, 1) + timedelta(days=chance.between(0, (TODAY - date(1998, 6, 1)).days, "released", title))
    budget = 100_000 * chance.between(8, 900, "budget", title)
    actors = chance.several(artists()[DIRECTORS:], chance.between(4, 7, "cast", title), "actors", title)
    return Film(
        film_id=61_000 + 29 * position,
        title=title,
        released=released,
        country=chance.pick(COUNTRIES, "country", title),
        genres=tuple(sorted(chance.several(GENRES, 2, "genres", title))),
        runtime=chance.between(78, 187, "runtime", title),
        budget=budget,
        revenue=budget * chance.between(20, 420, "revenue", title) // 100,
        rating=round(chance.between(31, 92, "rating", title) / 10, 1),
        director=chance.pick(artists()[:DIRECTORS], "director", title),
        cast=tuple(zip(actors, chance.several(_CHARACTERS, len(actors), "roles", title), strict=True)),
    )


def _cinema(city: City, place: int) -> Cinema:
    name = chance.several(_HOUSES, 2, "houses", city.name)[place].format(city.name)
    pounds = chance.between(600, 1500, "ticket", name) / 100
    return Cinema(
        cinema_id=f"cin_{chance.identifier(8, 'cinema', name)}",
        name=name,
        city=city,
        screens=chance.between(2, 5, "screens", name),
        ticket=convert(pounds, CURRENCIES["AFP"], CURRENCIES[city.country.currency]),
    )
