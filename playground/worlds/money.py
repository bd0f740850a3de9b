"""Currencies of the countries and their exchange rates, day by day."""

from dataclasses import dataclass
from datetime import date, timedelta

from playground.worlds import chance
from playground.worlds.clock import TODAY
from playground.worlds.geography import COUNTRIES

FIRST_RATE = date(2020, 1, 1)

_NAMES = {
    "VDK": "Veldanian krone",
    "NRV": "Norvan mark",
    "CLD": "Calderan peseta",
    "TSL": "Tessalian lira",
    "MRV": "Marovian leva",
    "QND": "Qanari dinar",
    "SDR": "Sundari rupee",
    "JZY": "Jinzhai yuan",
    "KMD": "Kaimanan dollar",
    "RVP": "Verdean peso",
    "AFP": "Ashford pound",
    "BUD": "Boreal dollar",
}


@dataclass(frozen=True, slots=True)
class Currency:
    """``per_unit``: how many of it one Ashford pound buys on an ordinary day."""

    code: str
    name: str
    per_unit: float


def _currency(code: str) -> Currency:
    base = 1.0 if code == "AFP" else round(0.6 + 60 * chance.unit("rate", code) ** 3, 4)
    return Currency(code, _NAMES[code], base)


CURRENCIES = {country.currency: _currency(country.currency) for country in COUNTRIES}


def currency(code: str) -> Currency | None:
    """The currency of a three-letter code, whatever its case."""
    return CURRENCIES.get(code.strip().upper())


def rate(source: Currency, target: Currency, day: date = TODAY) -> float:
    """How many units of ``target`` one unit of ``source`` buys on a day, to six places."""
    return round(_per_unit(target, day) / _per_unit(source, day), 6)


def convert(amount: float, source: Currency, target: Currency) -> float:
    """``amount`` of ``source`` in ``target`` at today's rate, to two places."""
    return round(amount * rate(source, target), 2)


def _per_unit(money: Currency, day: date) -> float:
    """The rate drifts by 4 % at most over the weeks; the pound is the fixed point."""
    if money.code == "AFP":
        return 1.0
    week = day - timedelta(days=day.weekday())
    return money.per_unit * (0.96 + 0.08 * chance.unit("drift", money.code, week.isoformat()))
