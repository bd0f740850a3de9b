"""Meeting rooms that can be reserved, and when they are taken."""

from dataclasses import dataclass
from datetime import date
from functools import cache

from playground.worlds import chance
from playground.worlds.geography import City, cities

AMENITIES = ("projector", "whiteboard", "video", "catering", "daylight")
HOURS = range(8, 20)
_NAMES = ("Beacon", "Compass", "Ferryman", "Granite", "Heron", "Juniper", "Keystone", "Lighthouse", "Mariner", "Nutmeg")
_STREETS = ("Quay Street", "Mill Lane", "Station Road", "Tower Square", "Old Customs House")


@dataclass(frozen=True, slots=True)
class Room:
    """``hourly_price`` in the currency of its country."""

    room_id: str
    name: str
    city: City
    address: str
    seats: int
    hourly_price: float
    amenities: tuple[str, ...]

    def free_hours(self, day: date) -> list[int]:
        """The hours of a day that nobody has taken; each stands for the 60 minutes from it on."""
        return [hour for hour in HOURS if chance.number("taken", self.room_id, day.isoformat(), hour) % 3]


@cache
def rooms() -> tuple[Room, ...]:
    """Two in every city, named after it so that names are unique."""
    return tuple(_room(city, place) for city in cities() for place in range(2))


def room_by_id(room_id: str) -> Room | None:
    """The room of that identifier."""
    return next((one for one in rooms() if one.room_id == room_id), None)


def _room(city: City, place: int) -> Room:
    title = chance.several(_NAMES, 2, "room", city.name)[place]
    name = f"{title} Room"
    key = f"{city.name} {name}"
    return Room(
        room_id=f"room_{chance.identifier(8, 'room id', key)}",
        name=name,
        city=city,
        address=f"{chance.between(1, 90, 'house', key)} {chance.pick(_STREETS, 'street', key)}",
        seats=4 + 2 * chance.between(0, 14, "seats", key),
        hourly_price=round(9 + 60 * chance.unit("hourly", key), 2),
        amenities=tuple(sorted(chance.several(AMENITIES, chance.between(1, 4, "amenities", key), "has", key))),
    )
