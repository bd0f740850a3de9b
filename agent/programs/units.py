"""Units of the numbers in a response that its document tells and the field names do not."""

import re
from collections.abc import Iterator
from functools import lru_cache

from graph.identifiers import singular, words
from graph.lenient_json import read_value
from graph.response_descriptions import descriptions

_UNITS = frozenset(
    {
        *(
            "meter",
            "metre",
            "kilometer",
            "kilometre",
            "centimeter",
            "centimetre",
            "millimeter",
            "millimetre",
            "mile",
            "foot",
            "feet",
            "inch",
        ),
        *(
            "gram",
            "kilogram",
            "kilo",
            "microgram",
            "tonne",
            "ton",
            "pound",
            "liter",
            "litre",
            "milliliter",
            "millilitre",
            "hectare",
        ),
        *(
            "millisecond",
            "second",
            "minute",
            "hour",
            "day",
            "week",
            "month",
            "year",
            "thousand",
            "million",
            "billion",
            "percent",
        ),
        *(
            "degree",
            "celsius",
            "fahrenheit",
            "kelvin",
            "hectopascal",
            "euro",
            "dollar",
            "cent",
            "byte",
            "kilobyte",
            "megabyte",
            "gigabyte",
        ),
        *("watt", "kilowatt", "volt", "km", "kg", "kcal"),
    }
)
_SHORT = frozenset(
    {
        "km",
        "m",
        "cm",
        "mm",
        "kg",
        "g",
        "mg",
        "l",
        "ml",
        "ms",
        "s",
        "min",
        "h",
        "eur",
        "usd",
        "gbp",
        "pct",
        "mi",
        "ft",
        "lb",
    }
)
"""Units that a field name may end in."""
_IN = re.compile(
    r"\b(?:in|as)\s+([^\W\d_]+)((?:\s+per(?:\s+(?:cubic|square))?\s+|/|\s+(?=celsius|fahrenheit))[^\W\d_]+)?|(%|°\s?[CF]\b|[€£$])",
    re.I,
)
_LONGEST = 90
"""Maximum number of characters, since the line also holds all other notes on a function."""


@lru_cache(maxsize=4096)
def units(schema: str) -> str:
    """Return fields with their units, such as ``duration in minutes``; empty if no unit is known.

    ``schema``: JSON schema of the response.
    """
    found = ", ".join(dict.fromkeys(_told(schema)))
    return found if len(found) <= _LONGEST else found[:_LONGEST].rpartition(",")[0]


def _told(schema: str) -> Iterator[str]:
    """Yield each described field with its unit, unless the field's name already contains it."""
    for path, text in descriptions(read_value(schema)) if schema else ():
        name = path.removesuffix("[]").rpartition(".")[2]
        for said in _IN.finditer(text):
            unit = said[3] or f"{said[1]}{said[2] or ''}"
            known = said[3] or singular(said[1].lower()) in _UNITS
            if name and known and not (set(words(unit)) | _SHORT) & set(words(name)):
                yield f"{name} in {unit}"
                break
