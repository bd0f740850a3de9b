"""Names of people who are not scholars: players, actors, doctors, hosts. No name is that of a scholar or an author."""

from playground.worlds.chance import words
from playground.worlds.people import FEMALE, MALE

FAMILY = words(
    "Aldermoor Brightwater Corvinelli Dunmarrow Estevane Fairweather Galloran Hartigan Ilvesson Jessamin Kolvenik "
    "Lanternby Moravec Nightsoil Ostrander Pellegrine Quarrington Rosenthorn Silverlake Tamarkin Uppingham Valdemarin "
    "Whitcombe Yarrowby Zabrinski Ambervale Birkensted Calloway Dragomirov Everhart Fontanelle Greyfriar Holloway Ingersund"
)


_START = {"players": 0, "film": 560, "doctors": 660, "chief": 860, "guests": 900, "journalist": 1390}
"""Where a group begins in the row of all names, which is 1632 long."""


def full_name(group: str, position: int) -> str:
    """The name of a member of a group: women at even positions, men at odd ones. No two groups share a name."""
    place = _START[group] + position
    first = (FEMALE, MALE)[place % 2][place // 2 % 24]
    return f"{first} {FAMILY[(place * 5 + place // 48) % len(FAMILY)]}"


def is_woman(name: str) -> bool:
    """Whether a name made here is a woman's."""
    return name.split()[0] in FEMALE
