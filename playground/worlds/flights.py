"""Airports, airlines and the flights between them: a timetable that repeats every week."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache
from itertools import permutations

from playground.worlds import chance
from playground.worlds.chance import words
from playground.worlds.distance import great_circle
from playground.worlds.geography import COUNTRIES, City, Country, cities
from playground.worlds.money import CURRENCIES, convert

SERVED = 4
"""How many cities of a country have an airport."""
_AIRLINES = dict(
    zip((country.code for country in COUNTRIES), words("VE NO CL TE MA QA SU JZ KA RV AS BU"), strict=True)
)
_AIRLINE_NAMES = ("Veldanian Airways", "Norvair", "Calderan Wings", "Air Tessaly", "Marovia Airlines", "Qanar Gulf Air",
                  "Sundara Skyways", "Jinzhai Orient", "Kaimana Pacific", "Verde Linhas", "Ashford Air", "Boreal Jet")  # fmt: skip
_KINDS = ("{} International", "{} Airport", "{} Regional", "{} Central Airport")


@dataclass(frozen=True, slots=True)
class Airport:
    """``code`` has three letters, as those of IATA have."""

    code: str
    name: str
    city: City
    terminals: int


@dataclass(frozen=True, slots=True)
class Flight:
    """A flight of the timetable. ``departs``: minutes after midnight at the origin; ``base_fare`` in Ashford pounds."""

    number: str
    airline: str
    origin: Airport
    destination: Airport
    departs: int
    minutes: int
    base_fare: int
    rests_on: int

    def departure(self, day: date) -> datetime:
        """Local time at the origin."""
        return datetime.combine(day, time()) + timedelta(minutes=self.departs)

    def arrival(self, day: date) -> datetime:
        """Local time at the destination."""
        ahead = self.destination.city.country.utc_offset - self.origin.city.country.utc_offset
        return self.departure(day) + timedelta(minutes=self.minutes + ahead)

    def flies_on(self, day: date) -> bool:
        """Every day of the week but one."""
        return day.weekday() != self.rests_on

    def fare(self, day: date, cabin: str) -> float:
        """Of one adult, in the currency of the origin's country, to two places."""
        factor = {"economy": 1.0, "premium": 1.6, "business": 3.2}[cabin]
        pounds = self.base_fare * factor * (0.8 + 0.5 * chance.unit("fare", self.number, day.isoformat()))
        return convert(round(pounds, 2), CURRENCIES["AFP"], CURRENCIES[self.origin.city.country.currency])

    def delay(self, day: date) -> int:
        """Minutes late on a day: mostly none."""
        late = chance.between(0, 9, "late", self.number, day.isoformat()) < 3
        return 5 * chance.between(2, 24, "delay", self.number, day.isoformat()) if late else 0

    def gate(self, day: date) -> str:
        """Where it leaves from."""
        return (
            f"{chance.pick('ABCD', 'pier', self.number)}{chance.between(1, 38, 'gate', self.number, day.isoformat())}"
        )


@cache
def airports() -> tuple[Airport, ...]:
    """All airports; codes are unique."""
    made: list[Airport] = []
    for position, city in enumerate(cities()):
        rank = position % len(city.country.city_names)
        if rank < SERVED:
            taken = {airport.code for airport in made}
            name = chance.pick(_KINDS[:2] if rank == 0 else _KINDS[1:], "airport", city.name).format(city.name)
            made.append(Airport(_code(city.name, taken), name, city, 1 + (rank == 0) * chance.between(1, 3, city.name)))
    return tuple(made)


def airport_by_code(code: str) -> Airport | None:
    """The airport of a three-letter code, whatever its case."""
    return next((airport for airport in airports() if airport.code == code.strip().upper()), None)


@cache
def flights() -> tuple[Flight, ...]:
    """The whole timetable; numbers are unique."""
    return tuple(
        _flight(origin, destination, place)
        for origin, destination in permutations(airports(), 2)
        for place in range(_frequency(origin, destination))
    )


def flights_between(origin: Airport, destination: Airport, day: date) -> list[Flight]:
    """The flights of a day, by time of departure."""
    found = [one for one in flights() if one.origin is origin and one.destination is destination and one.flies_on(day)]
    return sorted(found, key=lambda flight: flight.departs)


def flight_by_number(number: str) -> Flight | None:
    """The flight of that number, whatever its case and spaces."""
    return next((flight for flight in flights() if flight.number == number.replace(" ", "").upper()), None)


def airline_name(code: str) -> str:
    """The name of an airline of two letters."""
    return _AIRLINE_NAMES[list(_AIRLINES.values()).index(code)]


def distance_km(here: City, there: City) -> int:
    """Along the great circle, in kilometres."""
    return round(great_circle(here.latitude, here.longitude, there.latitude, there.longitude))


def _code(name: str, taken: set[str]) -> str:
    """The first three letters, or the first free ones with the same initial."""
    letters = name.upper().replace(" ", "")
    options = (letters[0] + b + c for i, b in enumerate(letters[1:], 2) for c in letters[i:])
    return next(option for option in options if option not in taken)


def _frequency(origin: Airport, destination: Airport) -> int:
    """Flights a day: capitals are well connected, the others with their own country's and with one in five abroad."""
    here, there = origin.city, destination.city
    if _capital(here) and _capital(there):
        return 2 + chance.between(0, 1, "often", here.name, there.name)
    if here.country is there.country:
        return 1 + (_capital(here) or _capital(there))
    return int(chance.between(0, 4, "abroad", here.name, there.name) == 0)


def _capital(city: City) -> bool:
    return city.name == city.country.capital


def _flight(origin: Airport, destination: Airport, place: int) -> Flight:
    key = (origin.code, destination.code, place)
    distance = distance_km(origin.city, destination.city)
    return Flight(
        number=_numbers()[key],
        airline=_airline(origin.city.country),
        origin=origin,
        destination=destination,
        departs=5 * chance.between(66 + 60 * place, 125 + 60 * place, "departs", *key),
        minutes=5 * round((40 + distance / 13.5) / 5),
        base_fare=30 + distance // 20 + chance.between(0, 60, "base", *key),
        rests_on=chance.between(0, 6, "rests", *key),
    )


@cache
def _numbers() -> dict[tuple[str, str, int], str]:
    """Numbers from 101 on for each airline, in steps of three, in the order of the timetable."""
    used = dict.fromkeys(_AIRLINES.values(), 98)
    made: dict[tuple[str, str, int], str] = {}
    for origin, destination in permutations(airports(), 2):
        for place in range(_frequency(origin, destination)):
            airline = _airline(origin.city.country)
            used[airline] += 3
            made[origin.code, destination.code, place] = f"{airline}{used[airline]}"
    return made


def _airline(country: Country) -> str:
    return _AIRLINES[country.code]
