"""Dates in texts, as people write them in several languages."""

import re
from datetime import date

from evaluation.values import to_ascii_digits

_MONTHS = (
    ("january", "januar", "jänner", "janvier", "enero", "stycznia", "gennaio", "يناير"),
    ("february", "februar", "février", "febrero", "lutego", "febbraio", "فبراير"),
    ("march", "märz", "mars", "marzo", "marca", "مارس"),
    ("april", "avril", "abril", "kwietnia", "aprile", "أبريل"),
    ("may", "mai", "mayo", "maja", "maggio", "مايو"),
    ("june", "juni", "juin", "junio", "czerwca", "giugno", "يونيو"),
    ("july", "juli", "juillet", "julio", "lipca", "luglio", "يوليو"),
    ("august", "août", "agosto", "sierpnia", "أغسطس"),
    ("september", "septembre", "septiembre", "września", "settembre", "سبتمبر"),
    ("october", "oktober", "octobre", "octubre", "października", "ottobre", "أكتوبر"),
    ("november", "novembre", "noviembre", "listopada", "نوفمبر"),
    ("december", "dezember", "décembre", "diciembre", "grudnia", "dicembre", "ديسمبر"),
)
_NUMBERS = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names}
_SHORT = {name[:3]: number for number, names in enumerate(_MONTHS, start=1) for name in names[:1]}
_NAME = "|".join(sorted(map(re.escape, {*_NUMBERS, *_SHORT}), key=len, reverse=True))
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})(?:[-/.]|年\s*)(\d{1,2})(?:[-/.]|月\s*)(\d{1,2})(?!\d)")
_YEAR_LAST = re.compile(r"(?<!\d)(\d{1,2})[./-]\s?(\d{1,2})[./-]\s?(\d{4})(?!\d)")
_DAY_MONTH = re.compile(
    rf"(?<!\d)(\d{{1,2}})(?:st|nd|rd|th|er|\.)?\s+(?:of\s+|de\s+)?({_NAME})\b\.?(?:,?\s+(?:de\s+)?(\d{{4}}))?"
)
_MONTH_DAY = re.compile(rf"\b({_NAME})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}}))?")


def states_date(text: str, expected: date) -> bool:
    """Return whether the text states this day.

    Both readings of ``04/07/2026`` count; next to a month's name the year may be left out.
    """
    plain = to_ascii_digits(text).casefold()
    return (
        any((int(y), int(m), int(d)) == _to_parts(expected) for y, m, d in _YEAR_FIRST.findall(plain))
        or any(int(y) == expected.year and {int(a), int(b)} == {expected.day, expected.month} for a, b, y in _YEAR_LAST.findall(plain))
        or any(_matches_named_date(expected, d, m, y) for d, m, y in _DAY_MONTH.findall(plain))
        or any(_matches_named_date(expected, d, m, y) for m, d, y in _MONTH_DAY.findall(plain))
    )  # fmt: skip


def _to_parts(day: date) -> tuple[int, int, int]:
    return day.year, day.month, day.day


def _matches_named_date(expected: date, day: str, month: str, year: str) -> bool:
    number = _NUMBERS.get(month) or _SHORT[month]
    return (number, int(day)) == (expected.month, expected.day) and year in ("", str(expected.year))
