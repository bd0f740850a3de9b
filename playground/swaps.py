"""Requests that either of two equivalent operations serves, as many as are wanted, each about something else."""

from playground.worlds.companies import companies
from playground.worlds.geography import COUNTRIES, cities
from playground.worlds.money import CURRENCIES
from playground.worlds.tongues import headwords

_WORDINGS = {
    "search_places": ("How many inhabitants does {city} have?", "What is the population of {city}?"),
    "convert_currency": ("Convert {sum} {have} to {want}.", "How much is {sum} {have} in {want}?"),
    "get_stock_quote": ("What is the share price of {company} right now?", "How much does one share of {company} cost?"),
    "lookup_symbol": ("Find the stock symbol of the company {company}.", "Which stock symbol does the company {company} have?"),
    "get_public_holidays": ("Which public holidays does {country} have in 2026?", "List the public holidays of {country} in 2026."),
    "define_word": ('What does the word "{word}" mean?', 'Give me the definition of the word "{word}".'),
}  # fmt: skip


def swap_request(first: str, at: int) -> str:
    """The request number ``at`` for the pair whose first operation is ``first``."""
    wordings = _WORDINGS[first]
    codes = sorted(CURRENCIES)
    values = {
        "city": cities()[(5 * at + 1) % len(cities())].name,
        "sum": 100 + 35 * at,
        "have": codes[at % len(codes)],
        "want": codes[(at + 4) % len(codes)],
        "company": companies()[(3 * at) % len(companies())].name,
        "country": COUNTRIES[at % len(COUNTRIES)].name,
        "word": headwords()[(2 * at) % len(headwords())].word,
    }
    return wordings[at % len(wordings)].format(**values)
