"""Values as people write them: days with their weekday, numbers in groups of three. What names something, as an id or a year does, stays as it is."""

import re
from datetime import date, datetime

from ui.language import day, number

_DAY = re.compile(r"(?<![\w-])\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\w-])")
_NUMBER = re.compile(r"([+-]?)(\d+)(\.\d+)?([  ]?[A-Za-z%°€$£¥/²³]{1,8})?")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NAMES = frozenset(
    [
        "id",
        "ids",
        "code",
        "year",
        "number",
        "no",
        "nr",
        "key",
        "reference",
        "ref",
        "phone",
        "zip",
        "postal",
        "postcode",
        "isbn",
        "imo",
        "iban",
        "uuid",
        "version",
        "port",
        "pin",
    ]
)
"""Words in the name of a field whose digits are no quantity."""
_SHORT = 4
"""Digits that need no groups."""


def spoken(name: str) -> str:
    """An identifier as words, the first with a capital: ``dueDate`` is “Due date”."""
    words = [one if len(one) > 1 and one.isupper() else one.lower() for one in _WORDS.findall(name[:200])]
    told = " ".join(words) or name
    return told[:1].upper() + told[1:]


def value_told(text: str, name: str = "") -> str:
    """One value. ``name``: of the field that it is of."""
    if found := _NUMBER.fullmatch(text.strip()):
        return text.strip() if _is_name(name) else _number(found)
    return sentence_told(text)


def sentence_told(text: str) -> str:
    """A text with its days as people write them; all else as it is."""
    return _DAY.sub(lambda found: _day(found[0]), text)


def is_number(text: str) -> bool:
    """Whether it is a quantity, maybe with a unit."""
    return _NUMBER.fullmatch(text.strip()) is not None


def _is_name(name: str) -> bool:
    return bool(_NAMES & {one.lower() for one in _WORDS.findall(name)})


def _number(found: re.Match[str]) -> str:
    sign, whole, rest, unit = found[1], found[2], found[3] or "", found[4] or ""
    grouped = number(int(whole)) if len(whole) > _SHORT and not whole.startswith("0") else whole
    return f"{sign}{grouped}{rest}{unit}"


def _day(text: str) -> str:
    try:
        of = date.fromisoformat(text[:10])
        clock = datetime.fromisoformat(text) if len(text) > len("2026-01-01") else None
    except ValueError:
        return text
    told = day(of, weekday=True)
    return told if clock is None else f"{told} {clock:%H:%M}{_zone(clock)}"


def _zone(clock: datetime) -> str:
    zone = clock.strftime("%z")
    return "" if not zone else " UTC" if zone == "+0000" else f" UTC{zone[:3]}:{zone[3:5]}"
