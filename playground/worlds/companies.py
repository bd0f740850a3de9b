"""Companies, what they earn and what their shares cost."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from playground.worlds import chance
from playground.worlds.chance import words
from playground.worlds.clock import TODAY
from playground.worlds.geography import City, cities
from playground.worlds.names import full_name

FIRST_PRICE = date(2022, 1, 3)
YEARS = range(2021, 2026)
_STEMS = words(
    "Brightwell Kestrelon Halcyonix Quarrystone Northlume Verdigris Pomegrade Calderidge Silverfin Tidewright Ormolu "
    "Lanternfield Marblehead Foxglove Ironquill Peregrine Saltbox Thornwick Umberline Wrenfield Axiomatic Bluebeard "
    "Corvette Dunlin Emberly Fathomic Gossamer Hazelrock Inkwater Juniperus"
)
SECTORS = {
    "energy": "Power",
    "food": "Foods",
    "health": "Biologics",
    "logistics": "Freight",
    "retail": "Stores",
    "software": "Systems",
}
_DAYS_OFF = (5, 6)


@dataclass(frozen=True, slots=True)
class Company:
    """``price``: of a share on the first day, in the currency of the headquarters' country."""

    company_id: str
    name: str
    symbol: str
    sector: str
    headquarters: City
    founded: int
    employees: int
    chief: str
    price: float

    @property
    def currency(self) -> str:
        return self.headquarters.country.currency

    @property
    def exchange(self) -> str:
        return f"{self.headquarters.country.code}SE"


@dataclass(frozen=True, slots=True)
class Year:
    """What a company earned in a year, in millions of its currency."""

    revenue: float
    net_income: float


@cache
def companies() -> tuple[Company, ...]:
    """All companies; names and symbols are unique."""
    return tuple(_company(position, stem) for position, stem in enumerate(_STEMS))


def company_by_id(company_id: str) -> Company | None:
    """The company of that identifier."""
    return next((one for one in companies() if one.company_id == company_id), None)


def company_by_symbol(symbol: str) -> Company | None:
    """The company of that ticker symbol, whatever its case."""
    return next((one for one in companies() if one.symbol == symbol.strip().upper()), None)


def companies_named(text: str) -> list[Company]:
    """The companies whose name or symbol begins with a text or holds it as a word, in order of name."""
    wanted = text.strip().casefold()
    found = [
        one
        for one in companies()
        if one.name.casefold().startswith(wanted) or f" {wanted}" in one.name.casefold() or one.symbol == wanted.upper()
    ]
    return sorted(found, key=lambda one: one.name)


def price(company: Company, day: date = TODAY) -> float:
    """The closing price of a share on a day; at weekends that of the Friday before."""
    while day.weekday() in _DAYS_OFF:
        day -= timedelta(days=1)
    trend = 1 + 0.0002 * (day - FIRST_PRICE).days * (chance.unit("trend", company.symbol) - 0.3)
    swing = 0.97 + 0.06 * chance.unit("close", company.symbol, day.isoformat())
    return round(company.price * trend * swing, 2)


def trading_days(first: date, last: date) -> list[date]:
    """The days from ``first`` to ``last`` on which shares are traded."""
    days = (first + timedelta(days=offset) for offset in range((last - first).days + 1))
    return [day for day in days if day.weekday() not in _DAYS_OFF]


def earned(company: Company, year: int) -> Year:
    """What a company earned in a year of ``YEARS``."""
    revenue = company.employees * chance.between(80, 260, "revenue", company.symbol, year) / 1000
    margin = 0.18 * chance.unit("margin", company.symbol, year) - 0.03
    return Year(round(revenue, 1), round(revenue * margin, 2))


def _company(position: int, stem: str) -> Company:
    sector = sorted(SECTORS)[position % len(SECTORS)]
    name = f"{stem} {SECTORS[sector]}"
    return Company(
        company_id=f"cmp_{chance.identifier(8, 'company', name)}",
        name=name,
        symbol=stem[:3].upper() + SECTORS[sector][0],
        sector=sector,
        headquarters=cities()[(position * 7 + 1) % len(cities())],
        founded=chance.between(1868, 2014, "founded", name),
        employees=chance.between(140, 48_000, "employees", name),
        chief=full_name("chief", position),
        price=round(4 + 340 * chance.unit("share", name) ** 2, 2),
    )
