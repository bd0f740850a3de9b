"""Given names, family names and the organisations that scholars belong to."""

from dataclasses import dataclass
from functools import cache

from playground.worlds import chance
from playground.worlds.chance import words
from playground.worlds.geography import City, cities

FEMALE = words(
    "Adela Brisa Carolin Dagny Elowen Farah Greta Hanneke Ileana Jorunn Kavya Linnea Mairead Nadezda Odile Perpetua "
    "Quilla Rosalind Sunniva Tamsin Ursula Vanja Wilhelmina Yasmin"
)
MALE = words(
    "Anselm Bertil Casimir Dario Emeric Florin Gideon Henrik Isandro Joaquin Kester Leopold Matteus Nikolai Oswin "
    "Piotr Quentin Rurik Silvan Tobias Ulrich Valentin Wendell Zoltan"
)
FAMILY = words(
    "Abernathy Blomkvist Castellane Drummondsen Eisenbrandt Farquharson Grimaldo Hollingbery Iversholt Jankovar Kirimoto "
    "Lindqvister Marchetto Nakagawara Oyelaran Petrossian Quintrell Rademaker Santorelli Thackersley Underhollow "
    "Vasilenko Westergard Xanthos Yarborough Zielinskar Ashgrove Bellweather Cromarty Delacourt"
)
_KINDS = ("University of {}", "{} Institute of Technology", "{} Polytechnic", "{} Academy of Sciences")


@dataclass(frozen=True, slots=True)
class Organization:
    """Where scholars work; ``domain`` is the last part of their addresses."""

    name: str
    city: City
    founded: int
    domain: str


def given_name(position: int) -> tuple[str, str]:
    """``(name, gender)``, women and men in turn."""
    names, gender = ((FEMALE, "female"), (MALE, "male"))[position % 2]
    return names[(position // 2) % len(names)], gender


@cache
def organizations() -> tuple[Organization, ...]:
    """Two in each country."""
    return tuple(_organization(city) for city in cities()[::3])


def _organization(city: City) -> Organization:
    kind = chance.pick(_KINDS, "kind", city.name)
    name = kind.format(city.name)
    domain = f"{city.name.lower().replace(' ', '')}.example"
    return Organization(name, city, chance.between(1450, 1985, "founded", name), domain)
