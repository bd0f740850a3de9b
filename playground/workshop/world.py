"""What the workshop has on its books: patrons with their instruments, dockets, hands, spares. The same at every start."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from playground.worlds.chance import between, pick

GIVEN = ("Ottilie", "Bram", "Ines", "Kaspar", "Maud", "Teo", "Runa", "Silvan", "Alma", "Jorun", "Pius", "Wanda")
FAMILY = ("Kestrel", "Vandermeer", "Okonjo", "Lindqvist", "Brightwater", "Szabo", "Amadi", "Fenwick")
TOWNS = ("Harrowmere", "Stell", "Quayside", "Old Mill", "Danby")
KINDS = ("violin", "viola", "cello", "guitar", "clarinet", "flute", "accordion")
MAKERS = ("Marchetti", "Oldfield & Son", "Brandt", "Ferreira", "Yamasato", "Tolliver")
PHASES = ("waiting", "bench", "ready", "collected")
WORKS = (
    "regluing",
    "new strings",
    "pad replacement",
    "fret dressing",
    "bow rehair",
    "crack repair",
    "tuning",
    "varnish touch-up",
)
SPARES = {
    "violin": ("bridge blank", "ebony tailpiece", "peg set", "chin rest"),
    "viola": ("viola bridge", "viola string set"),
    "cello": ("endpin", "cello bridge", "wolf eliminator"),
    "guitar": ("nut blank", "machine heads", "fret wire", "saddle"),
    "clarinet": ("pad set", "barrel", "mouthpiece", "thumb rest"),
    "flute": ("head joint cork", "flute pad set", "key spring"),
    "accordion": ("reed block", "bellows tape", "strap pair"),
}  # fmt: skip
FIRMS = ("Norrland Supply", "Pratt & Daughters", "Casa Lopes")
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri")
_EPOCH = date(2026, 1, 5)


@dataclass(frozen=True, slots=True)
class Patron:
    number: str
    given: str
    family: str
    town: str
    joined: date
    discount: int
    owes: int


@dataclass(frozen=True, slots=True)
class Piece:
    number: str
    patron: str
    kind: str
    maker: str
    built: int
    worth: int


@dataclass(frozen=True, slots=True)
class Hand:
    number: str
    name: str
    crafts: tuple[str, ...]
    rate: int
    off: str


@dataclass(frozen=True, slots=True)
class Spare:
    number: str
    label: str
    fits: str
    price: int
    drawer: int


@dataclass(frozen=True, slots=True)
class Docket:
    number: str
    piece: str
    hand: str
    phase: str
    opened: date
    promised: date
    labour: tuple[tuple[str, int], ...]
    fitted: tuple[tuple[str, int], ...]


@cache
def patrons() -> tuple[Patron, ...]:
    """Who brings instruments."""
    return tuple(
        Patron(
            f"P-{400 + 7 * at}", GIVEN[at % len(GIVEN)], FAMILY[(at * 5 + at // 12) % len(FAMILY)],
            pick(TOWNS, "town", at), date(2019, 1, 1) + timedelta(days=between(0, 2200, "joined", at)),
            pick((0, 0, 5, 10, 15), "discount", at), pick((0, 0, 0, 1), "owes", at) * between(900, 24_000, "sum", at),
        )
        for at in range(27)
    )  # fmt: skip


@cache
def pieces() -> tuple[Piece, ...]:
    """Their instruments."""
    made: list[Piece] = []
    for patron in patrons():
        for _ in range(between(1, 3, "pieces", patron.number)):
            at = len(made)
            made.append(
                Piece(
                    f"I{at + 1:03}", patron.number, pick(KINDS, "kind", at), pick(MAKERS, "maker", at),
                    between(1890, 2021, "built", at), 1_000 * between(120, 18_500, "worth", at),
                )
            )  # fmt: skip
    return tuple(made)


@cache
def hands() -> tuple[Hand, ...]:
    """Who mends them."""
    names = ("Ilse", "Rafe", "Dunya", "Corin", "Petra", "Old Jonas")
    crafts = (
        ("violin", "viola"),
        ("guitar",),
        ("clarinet", "flute"),
        ("cello", "violin"),
        ("accordion", "guitar"),
        KINDS,
    )
    return tuple(
        Hand(f"h{at + 1}", name, crafts[at], 100 * between(38, 72, "rate", at), pick(DAYS, "off", at))
        for at, name in enumerate(names)
    )


@cache
def spares() -> tuple[Spare, ...]:
    """What is in the drawers."""
    flat = [(fits, label) for fits, labels in SPARES.items() for label in labels]
    return tuple(
        Spare(f"S{1000 + 11 * at}", label, fits, between(250, 9_800, "price", at), between(0, 14, "drawer", at))
        for at, (fits, label) in enumerate(flat)
    )


@cache
def dockets() -> tuple[Docket, ...]:
    """All repairs."""
    return tuple(_docket(at) for at in range(64))


def _docket(at: int) -> Docket:
    piece = pick(pieces(), "piece", at)
    able = [hand for hand in hands() if piece.kind in hand.crafts]
    fitting = [spare for spare in spares() if spare.fits == piece.kind]
    opened = _EPOCH + timedelta(days=between(0, 110, "opened", at))
    works = dict.fromkeys(pick(WORKS, "work", at, turn) for turn in range(between(1, 3, "works", at)))
    parts = dict.fromkeys(pick(fitting, "part", at, turn).number for turn in range(between(0, 2, "parts", at)))
    return Docket(
        f"D{2600 + 3 * at}", piece.number, pick(able, "hand", at).number, pick(PHASES, "phase", at),
        opened, opened + timedelta(days=between(4, 40, "promised", at)),
        tuple((work, 5 * between(3, 48, "mins", at, work)) for work in works),
        tuple((part, between(1, 3, "qty", at, part)) for part in parts),
    )  # fmt: skip


def supplies(spare: Spare) -> list[tuple[str, int, int]]:
    """Who sells a spare: firm, days until it is there, price in cents."""
    return [
        (
            firm,
            between(2, 21, "lead", spare.number, firm),
            spare.price * between(55, 85, "buy", spare.number, firm) // 100,
        )
        for firm in FIRMS
        if between(0, 3, "sells", spare.number, firm)
    ]


def openings(hand: Hand, week: int) -> list[tuple[str, str, int]]:
    """The free stretches of a hand in a week: day, beginning, minutes."""
    return [
        (
            day,
            f"{between(8, 14, 'from', hand.number, week, day):02}:00",
            30 * between(1, 6, "mins", hand.number, week, day),
        )
        for day in DAYS
        if day != hand.off and between(0, 2, "free", hand.number, week, day)
    ]
