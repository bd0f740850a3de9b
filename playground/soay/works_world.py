"""Works, the journals that they came out in and the funders that paid for them. Citations are counted from references."""

from collections import Counter
from dataclasses import dataclass
from functools import cache

from playground.worlds import chance
from playground.worlds.geography import COUNTRIES, Country
from playground.worlds.people import FAMILY, FEMALE, MALE

WORKS, JOURNALS, FUNDERS, AUTHORS = 320, 36, 24, 150
SUBJECTS = ("Hydrology", "Optics", "Demography", "Botany", "Seismology", "Phonetics", "Metallurgy", "Virology", "Ethology",
            "Logistics", "Toxicology", "Cartography")  # fmt: skip
PUBLISHERS = ("Halden Academic", "Ostrava Learned Press", "Meridian Scholarly", "Tarn & Fell", "Quillon Science")
LICENCES = ("CC BY 4.0", "CC BY-NC 4.0", "CC BY-ND 4.0", "publisher's own licence")
_FORMS = ("Acta {}", "Advances in {}", "Letters on {}", "{} Quarterly", "Reviews of {}", "Frontiers of {}")
_FUNDERS = ("{} Research Council", "{} Foundation for Science", "Academy Fund of {}", "{} Innovation Agency")
_VERBS = ("Modelling", "Observing", "Predicting", "Comparing", "Tracing", "Reconstructing", "Explaining", "Monitoring")
_THINGS = ("Seasonal Drift", "Rare Events", "Slow Decay", "Urban Margins", "Island Populations", "Layered Structures",
           "Early Signals", "Hidden Exchange", "Coastal Change", "Long Chains")  # fmt: skip
_WAYS = ("from Sparse Records", "with Simple Instruments", "by Repeated Sampling", "across Borders", "over Two Decades",
         "in Small Archives")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Journal:
    issn: str
    title: str
    publisher: str
    subjects: tuple[str, ...]
    founded: int
    open_access: bool


@dataclass(frozen=True, slots=True)
class Funder:
    funder_id: str
    name: str
    country: Country
    founded: int


@dataclass(frozen=True, slots=True)
class Work:
    """``references``: the DOIs of earlier works that it cites."""

    doi: str
    title: str
    year: int
    journal: Journal
    authors: tuple[str, ...]
    funders: tuple[Funder, ...]
    licence: str
    pages: str
    references: tuple[str, ...]

    @property
    def abstract(self) -> str:
        return (
            f"'{self.title}' gathers {len(self.references) * 17 + 40} records for {self.journal.subjects[0].lower()} and tells "
            f"what they have in common."
        )

    def award(self, funder: Funder) -> str:
        """The number of a grant."""
        return f"{funder.name[:2].upper()}-{chance.between(1000, 9999, 'award', self.doi, funder.funder_id)}"


@cache
def journals() -> tuple[Journal, ...]:
    """All journals; titles are unique."""
    return tuple(_journal(place) for place in range(JOURNALS))


@cache
def funders() -> tuple[Funder, ...]:
    """All funders, two of each country; names are unique."""
    return tuple(_funder(place) for place in range(FUNDERS))


@cache
def authors() -> tuple[str, ...]:
    """The names of all authors."""
    given = FEMALE + MALE
    names = (f"{given[(5 * at) % len(given)]} {FAMILY[(at * 11 + at // 30) % len(FAMILY)]}" for at in range(AUTHORS))
    return tuple(dict.fromkeys(names))


@cache
def works() -> tuple[Work, ...]:
    """All works, the oldest first; titles are unique."""
    made: list[Work] = []
    for place in range(WORKS):
        made.append(_work(place, made))
    return tuple(made)


@cache
def citations() -> Counter[str]:
    """How often each work is cited by the others, by DOI."""
    return Counter(reference for work in works() for reference in work.references)


def most_cited_first(some: list[Work]) -> list[Work]:
    """In the order in which the service lists works."""
    return sorted(some, key=lambda work: (-citations()[work.doi], work.title))


def works_of(owner: Journal | Funder) -> list[Work]:
    """The works of a journal or a funder, the most cited first."""
    return most_cited_first([work for work in works() if owner == work.journal or owner in work.funders])


def _journal(place: int) -> Journal:
    subject, form = SUBJECTS[place % len(SUBJECTS)], _FORMS[(place // len(SUBJECTS) * 2 + place) % len(_FORMS)]
    title = form.format(subject)
    others = [one for one in SUBJECTS if one != subject]
    digits = f"{chance.between(1000, 9999, 'issn', title)}-{chance.between(1000, 9999, 'issn end', title)}"
    return Journal(
        issn=digits,
        title=title,
        publisher=chance.pick(PUBLISHERS, "publisher", title),
        subjects=(subject, *chance.several(others, chance.between(0, 1, "breadth", title), "subjects", title)),
        founded=chance.between(1890, 2012, "founded", title),
        open_access=chance.between(0, 1, "open", title) == 1,
    )


def _funder(place: int) -> Funder:
    country = COUNTRIES[place % len(COUNTRIES)]
    name = _FUNDERS[(place // len(COUNTRIES) * 2 + place) % len(_FUNDERS)].format(country.name)
    return Funder(f"f{chance.identifier(8, 'funder', name)}", name, country, chance.between(1920, 2015, "since", name))


def _work(place: int, earlier: list[Work]) -> Work:
    journal = journals()[(place * 7) % JOURNALS]
    title = f"{_VERBS[place % 8]} {_THINGS[place // 8 % 10]} {_WAYS[(place % 80 + place // 80) % 6]}"
    near = [work for work in earlier if work.journal.subjects[0] == journal.subjects[0]] + earlier[::7]
    cited = {work.doi for work in chance.several(near, chance.between(1, 7, "references", place), "cited", place)}
    first = chance.between(1, 400, "page", place)
    return Work(
        doi=f"10.5{chance.between(100, 999, 'prefix', journal.publisher)}/{chance.identifier(8, 'work', place)}",
        title=title,
        year=2001 + place * 24 // WORKS,
        journal=journal,
        authors=tuple(chance.several(authors(), chance.between(1, 4, "team", place), "authors", place)),
        funders=tuple(chance.several(funders(), chance.between(0, 2, "funded", place), "funders", place)),
        licence=LICENCES[0] if journal.open_access else chance.pick(LICENCES[1:], "licence", place),
        pages=f"{first}-{first + chance.between(4, 30, 'pages', place)}",
        references=tuple(sorted(cited)),
    )
