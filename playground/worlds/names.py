"""Names of people who are not scholars: players, actors, doctors, hosts. No name is that of a scholar or an author."""

from playground.worlds import chance
from playground.worlds.chance import words
from playground.worlds.people import FEMALE, MALE

FAMILY = words(
    "Aldermoor Brightwater Corvinelli Dunmarrow Estevane Fairweather Galloran Hartigan Ilvesson Jessamin Kolvenik "
    "Lanternby Moravec Nightsoil Ostrander Pellegrine Quarrington Rosenthorn Silverlake Tamarkin Uppingham Valdemarin "
    "Whitcombe Yarrowby Zabrinski Ambervale Birkensted Calloway Dragomirov Everhart Fontanelle Greyfriar Holloway Ingersund"
)


def full_name(group: str, position: int) -> str:
    """The name of a member of a group; unique within it for positions below 500, and never in a scholar's family."""
    given = (FEMALE, MALE)[position % 2]
    start = chance.number("names", group)
    first = given[(start + position // 2) % len(given)]
    return f"{first} {FAMILY[(start + position * 5 + position // 48) % len(FAMILY)]}"


def is_woman(name: str) -> bool:
    """Whether a name made here is a woman's."""
    return name.split()[0] in FEMALE
