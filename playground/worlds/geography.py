"""Twelve countries and their cities, with coordinates, people, money and time zones."""

from dataclasses import dataclass
from functools import cache

from playground.worlds import chance


@dataclass(frozen=True, slots=True)
class Country:
    """``latitude`` and ``longitude`` in degrees of its middle; ``utc_offset`` in minutes east of UTC."""

    code: str
    name: str
    currency: str
    languages: tuple[str, ...]
    calling_code: str
    latitude: float
    longitude: float
    utc_offset: int
    city_names: tuple[str, ...]

    @property
    def capital(self) -> str:
        return self.city_names[0]

    @property
    def timezone(self) -> str:
        return f"{self.name}/{self.capital}".replace(" ", "_")


@dataclass(frozen=True, slots=True)
class City:
    """A city; ``latitude`` and ``longitude`` in degrees, ``elevation`` in metres."""

    place_id: str
    name: str
    country: Country
    latitude: float
    longitude: float
    population: int
    elevation: int


COUNTRIES = (
    Country("XV", "Veldania", "VDK", ("Veldanian",), "+801", 58.2, 11.6, 60,
            ("Velmora", "Tarnholm", "Brennick", "Oskvik", "Harrowsund", "Lindmere")),
    Country("XN", "Norvania", "NRV", ("Norvan", "Veldanian"), "+802", 54.8, 18.9, 60,
            ("Kesterburg", "Dravenfurt", "Wolmstadt", "Ilsenau", "Greifenmoor", "Rothwinkel")),
    Country("XC", "Caldera", "CLD", ("Calderan",), "+803", 39.4, -4.2, 0,
            ("Puerto Almar", "Villasera", "Montequilla", "Rioseda", "Castelbruno", "Alcoranza")),
    Country("XT", "Tessaly", "TSL", ("Tessalian",), "+804", 41.3, 13.8, 60,
            ("Porto Lucento", "Vallombra", "Serravento", "Monteglauco", "Fioralba", "Torrechiara")),
    Country("XM", "Marovia", "MRV", ("Marovian", "Tessalian"), "+805", 45.7, 25.4, 120,
            ("Zarnograd", "Belovar", "Krasnitsa", "Dolnomir", "Vetrovac", "Ozerna")),
    Country("XQ", "Qanaria", "QND", ("Qanari",), "+806", 25.1, 51.2, 180,
            ("Al Safira", "Jabal Nur", "Wadi Rahim", "Marsa Dalma", "Qasr Zaytun", "Ras Lulua")),
    Country("XS", "Sundara", "SDR", ("Sundari", "English"), "+807", 12.6, 77.9, 330,
            ("Chandrapal", "Vishalpur", "Kamalakot", "Indranagar", "Suryagarh", "Meghalpet")),
    Country("XJ", "Jinzhai", "JZY", ("Jinzhai",), "+808", 31.8, 118.4, 480,
            ("Lanhe", "Qingshui", "Baiyuan", "Donglin", "Hongxi", "Yunmen")),
    Country("XK", "Kaimana", "KMD", ("Kaimanan", "English"), "+809", -38.4, 175.8, 720,
            ("Port Arawa", "Te Moana", "Wairoto", "Kauri Bay", "Puketoa", "Manuka Falls")),
    Country("XR", "Rioverde", "RVP", ("Verdean",), "+810", -14.9, -52.3, -180,
            ("Santa Iria", "Boa Enseada", "Campo Dourado", "Ribeirao Azul", "Porto Sereno", "Serra Nova")),
    Country("XA", "Ashford Isles", "AFP", ("English",), "+811", 51.9, -1.7, 0,
            ("Ashminster", "Oxcombe", "Wexley", "Thornbury Cross", "Marlhaven", "Penrick")),
    Country("XB", "Boreal Union", "BUD", ("English", "Boreal"), "+812", 49.8, -97.3, -360,
            ("Fort Calder", "Maple Ridge", "Northgate", "Silver Narrows", "Pinewater", "Elkhorn Bay")),
)  # fmt: skip


def _city(country: Country, rank: int, name: str) -> City:
    """The first city of a country is its capital and its largest."""
    spread = (0.0, 0.0) if rank == 0 else (chance.unit("lat", name) - 0.5, chance.unit("lon", name) - 0.5)
    people = chance.between(900_000, 4_800_000, "people", name) if rank == 0 else 0
    return City(
        place_id=f"plc_{chance.identifier(8, 'place', name)}",
        name=name,
        country=country,
        latitude=round(country.latitude + 5 * spread[0], 4),
        longitude=round(country.longitude + 7 * spread[1], 4),
        population=people or chance.between(18_000, 780_000, "people", name),
        elevation=chance.between(2, 900, "height", name),
    )


@cache
def cities() -> tuple[City, ...]:
    """All cities, by country, the capital first."""
    return tuple(_city(country, rank, name) for country in COUNTRIES for rank, name in enumerate(country.city_names))


def city_named(name: str) -> City | None:
    """The city of that name, whatever its case."""
    wanted = name.strip().casefold()
    return next((city for city in cities() if city.name.casefold() == wanted), None)


def city_by_id(place_id: str) -> City | None:
    """The city of that place identifier."""
    return next((city for city in cities() if city.place_id == place_id), None)


def country_by_code(code: str) -> Country | None:
    """The country of that two-letter code, whatever its case."""
    return next((country for country in COUNTRIES if country.code == code.strip().upper()), None)


def country_named(name: str) -> Country | None:
    """The country of that name, whatever its case."""
    wanted = name.strip().casefold()
    return next((country for country in COUNTRIES if country.name.casefold() == wanted), None)


def nearest_city(latitude: float, longitude: float) -> tuple[City, float]:
    """The nearest city and its distance in kilometres (flat earth: good enough for a neighbourhood)."""

    def distance(city: City) -> float:
        east = abs(city.longitude - longitude) % 360
        east = min(east, 360 - east)
        return 111.2 * ((city.latitude - latitude) ** 2 + (0.7 * east) ** 2) ** 0.5

    city = min(cities(), key=distance)
    return city, round(distance(city), 1)
