"""Hotels of the cities, their rooms and what guests say."""

from dataclasses import dataclass
from datetime import date
from functools import cache

from playground.worlds import chance
from playground.worlds.geography import City, cities
from playground.worlds.money import CURRENCIES, Currency, convert
from playground.worlds.names import full_name

AMENITIES = ("wifi", "pool", "parking", "breakfast", "gym", "spa", "pets_allowed", "airport_shuttle")
_STYLES = ("Grand Hotel {}", "{} Harbour Inn", "Hotel Belvedere {}", "The {} Lodge", "{} Palace", "Pension {}",
           "{} City Suites")  # fmt: skip
_ROOMS = (("Single room", 1, 1.0), ("Double room", 2, 1.45), ("Family room", 4, 2.1), ("Suite", 2, 2.9))
_PRAISE = ("spotless rooms", "a friendly front desk", "a quiet night", "an excellent breakfast", "the view from the top floor",
           "comfortable beds", "a short walk to the centre")  # fmt: skip
_BLAME = ("thin walls", "a slow lift", "weak wifi in the corner rooms", "a long queue at breakfast", "street noise until late",
          "an air conditioner that rattled", "no hooks in the bathroom")  # fmt: skip
REVIEW_COUNT = 1_200


@dataclass(frozen=True, slots=True)
class Room:
    """A kind of room; ``per_night`` in the currency of the country, on an ordinary day."""

    rate_id: str
    name: str
    sleeps: int
    per_night: float


@dataclass(frozen=True, slots=True)
class Hotel:
    """``amenities`` are some of ``AMENITIES``."""

    hotel_id: int
    name: str
    city: City
    stars: int
    amenities: tuple[str, ...]
    rooms: tuple[Room, ...]
    latitude: float
    longitude: float

    @property
    def cheapest(self) -> float:
        """The price of a night in the cheapest room."""
        return min(room.per_night for room in self.rooms)

    @property
    def score(self) -> float:
        """What guests give it, of ten: the mean of the reviews."""
        return round(sum(_score(self.hotel_id, place) for place in range(REVIEW_COUNT)) / REVIEW_COUNT, 1)


@dataclass(frozen=True, slots=True)
class Review:
    """What a guest says; ``score`` from 1 to 10."""

    guest: str
    score: int
    stayed: str
    text: str


@cache
def hotels() -> tuple[Hotel, ...]:
    """All hotels: two to four in each city; names and identifiers are unique."""
    return tuple(_hotel(city, place) for city in cities() for place in range(chance.between(2, 4, "hotels", city.name)))


def hotel_by_id(hotel_id: int) -> Hotel | None:
    """The hotel of that number."""
    return next((hotel for hotel in hotels() if hotel.hotel_id == hotel_id), None)


def destination_id(city: City) -> int:
    """The number by which hotel services know a city."""
    return 20_000 + 17 * cities().index(city)


def city_of(destination: int) -> City | None:
    """The city of such a number."""
    return next((city for city in cities() if destination_id(city) == destination), None)


def room_price(room: Room, check_in: date, check_out: date) -> float:
    """Of the whole stay, weekends a tenth dearer."""
    nights = [date.fromordinal(day) for day in range(check_in.toordinal(), check_out.toordinal())]
    return round(sum(room.per_night * (1.1 if night.weekday() in (4, 5) else 1.0) for night in nights), 2)


@cache
def reviews(hotel_id: int) -> tuple[Review, ...]:
    """All reviews of a hotel: a great many."""
    return tuple(_review(hotel_id, place) for place in range(REVIEW_COUNT))


def _hotel(city: City, place: int) -> Hotel:
    style = chance.several(_STYLES, 4, "styles", city.name)[place]
    name = style.format(city.name)
    stars = chance.between(2, 5, "stars", name)
    night = convert(22 + 21 * stars + chance.between(0, 30, "night", name), CURRENCIES["AFP"], _money(city))
    rooms = tuple(
        Room(f"rt_{chance.identifier(7, 'rate', name, kind)}", kind, sleeps, round(night * factor, 2))
        for kind, sleeps, factor in _ROOMS[: 1 + stars if stars < 4 else 4]
    )
    return Hotel(
        hotel_id=destination_id(city) * 10 + place + 1,
        name=name,
        city=city,
        stars=stars,
        amenities=tuple(sorted(chance.several(AMENITIES, stars + 1, "amenities", name))),
        rooms=rooms,
        latitude=round(city.latitude + 0.04 * (chance.unit("hlat", name) - 0.5), 4),
        longitude=round(city.longitude + 0.04 * (chance.unit("hlon", name) - 0.5), 4),
    )


def _money(city: City) -> Currency:
    return CURRENCIES[city.country.currency]


def _score(hotel_id: int, place: int) -> int:
    return chance.between(chance.between(3, 8, "level", hotel_id), 10, "score", hotel_id, place)


def _review(hotel_id: int, place: int) -> Review:
    key = (hotel_id, place)
    good, better = chance.several(_PRAISE, 2, "praise", *key)
    bad, worse = chance.several(_BLAME, 2, "blame", *key)
    score = _score(hotel_id, place)
    room = chance.pick(_ROOMS, "room", *key)[0].lower()
    text = (
        f"We liked {good} and {better}. Less so {bad}, and on one evening {worse}. "
        f"For {chance.between(1, 9, 'nights', *key)} nights in the {room}, the price was {'fair' if score > 5 else 'too high'}. "
        f"{'We would come back.' if score > 7 else 'Next time we would look around first.'}"
    )
    stayed = f"{chance.between(2022, 2025, 'year', *key)}-{chance.between(1, 12, 'month', *key):02}"
    return Review(full_name("guests", chance.between(0, 480, "guest", *key)), score, stayed, text)
