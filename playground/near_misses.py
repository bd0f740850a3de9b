"""Requests that look like those of :mod:`playground.paraphrases` and ask something else: none of them may be served by what served these.

``python -m playground.near_misses`` writes them anew; a test holds the file to it. Each says in what it differs.
"""

from collections.abc import Iterator
from typing import Any, Literal

from playground.paraphrases import FOLDER, lines

NEAR_MISSES = FOLDER / "near_misses.jsonl"

Differs = Literal["relation", "negation", "superlative", "condition", "unit", "count", "direction", "several"]

_PLACES: tuple[tuple[Differs, str], ...] = (
    ("relation", "How many hotels does Brennick have?"),
    ("relation", "What is the elevation of Kesterburg?"),
    ("relation", "Who is the mayor of Greifenmoor?"),
    ("condition", "How many inhabitants did Brennick have in 1990?"),
    ("condition", "How many inhabitants does Brennick have above the age of 65?"),
    ("negation", "How many inhabitants does Brennick not have?"),
    ("superlative", "How many inhabitants does the largest district of Brennick have?"),
    ("superlative", "What is the highest population of Kesterburg?"),
    ("several", "What is the population of Kesterburg and Brennick?"),
    ("several", "What is the population of Kesterburg, Brennick?"),
    ("relation", "How many inhabitants does Brennick's twin town have?"),
    ("unit", "What is the temperature in Brennick right now in Fahrenheit?"),
    ("unit", "What is the temperature in Brennick right now, in kelvin?"),
    ("condition", "What is the temperature in Brennick tomorrow?"),
    ("condition", "What is the temperature in Brennick right now at 2000 metres?"),
    ("superlative", "What is the highest temperature in Brennick right now?"),
    ("relation", "What is the humidity in Brennick right now?"),
    ("relation", "How cold is it in Brennick at the moment?"),
    ("negation", "How warm is it not in Brennick at the moment?"),
    ("condition", "How strong was the wind in Brennick right then?"),
    ("unit", "What is the wind speed in Brennick at the moment in knots?"),
    ("relation", "What is the wind direction in Brennick at the moment?"),
    ("superlative", "Which city has the strongest wind right now?"),
    ("count", "How many calling codes does Norway have?"),
    ("relation", "What is the postal code of Norway?"),
    ("direction", "Which country does the telephone prefix +47 have?"),
    ("negation", "Which telephone prefix does Norway no longer have?"),
)  # fmt: skip
_MONEY: tuple[tuple[Differs, str], ...] = (
    ("direction", "Convert 250 EUR from USD."),
    ("condition", "Convert 250 EUR to USD at the rate of 2020-01-01."),
    ("several", "Convert 250 EUR to USD and GBP."),
    ("several", "Convert 250 EUR, 300 CHF to USD."),
    ("relation", "How much is 250 EUR in gold?"),
    ("unit", "Convert 250k EUR to USD."),
    ("condition", "How much is 250 EUR in USD after 3 percent of fees?"),
    ("negation", "Do not convert 250 EUR to USD."),
    ("condition", "What was the price of a share of Fjordline last year?"),
    ("condition", "What is the price of a share of Fjordline on 2025-03-01?"),
    ("several", "What is the price of 10 shares of Fjordline?"),
    ("superlative", "What is the highest price of a share of Fjordline?"),
    ("unit", "What is the price of a share of Fjordline in yen?"),
    ("relation", "What is the dividend of a share of Fjordline?"),
    ("relation", "What does a bond of Fjordline cost?"),
)  # fmt: skip
_WORKS: tuple[tuple[Differs, str], ...] = (
    ("relation", 'How many chapters does the book "Halm" have?'),
    ("relation", 'How many pages does the film "Halm" have?'),
    ("condition", 'How many pages does the second edition of the book "Halm" have?'),
    ("several", 'How many pages do the books "Halm" and "Rost" have?'),
    ("several", 'How many pages does the book "Halm" have more than the book "Rost"?'),
    ("negation", 'How many pages does the book "Halm" not have?'),
    ("count", 'How many ratings does the book "Halm" have?'),
    ("superlative", 'What is the lowest rating of the book "Halm"?'),
    ("superlative", 'What is the best rating of the book "Halm"?'),
    ("condition", 'How do readers under 20 rate the book "Halm" on average?'),
    ("relation", 'What is the average rating of the author of the book "Halm"?'),
    ("unit", 'What is the running time of the film "Halm" in hours?'),
    ("unit", 'How many seconds does the film "Halm" take?'),
    ("relation", 'What is the release date of the film "Halm"?'),
    ("condition", "What day of the week was 2001-03-09 in the Julian calendar?"),
    ("direction", "What date was the last Friday?"),
    ("several", "Which weekday was 2001-03-09 or 2002-05-16?"),
    ("relation", "Which week was 2001-03-09?"),
    ("condition", "Which weekday was the day after 2001-03-09?"),
    ("negation", "Which weekday was 2001-03-09 not?"),
)  # fmt: skip


def near_misses() -> Iterator[dict[str, Any]]:
    """Each with a name, what it asks, and in what it differs."""
    for name, told in (("places", _PLACES), ("money", _MONEY), ("works", _WORKS)):
        for number, (differs, request) in enumerate(told, start=1):
            yield {"id": f"{name}-{number}", "request": request, "differs": differs}


def main() -> None:
    """Write the file."""
    NEAR_MISSES.write_bytes(lines(list(near_misses())))


if __name__ == "__main__":
    main()
