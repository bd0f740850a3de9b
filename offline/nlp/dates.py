"""Find absolute and relative dates in a request, and format them as parameters ask for them."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

_MONTHS = {name: number for number, name in enumerate(
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1)}  # fmt: skip
_WEEKDAYS = {name: number for number, name in enumerate(
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))}  # fmt: skip
_MONTH = r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
_NUMBERS = {"one": 1, "a": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}

_ISO = re.compile(r"\b(?P<year>\d{4})[-/](?P<monthnumber>\d{1,2})[-/](?P<day>\d{1,2})(?!\d)")
_DAY_MONTH = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\b(?:,?\s+(?P<year>\d{{4}}))?", re.I
)
_MONTH_DAY = re.compile(rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,?\s+(?P<year>\d{{4}}))?", re.I)
_DAYS_OF_MONTH = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?=\s*(?:to|until|till|and|-|–)\s*(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+(?P<year>\d{{4}}))?)", re.I
)  # fmt: skip
"""The first of two days with one month: ``[3] to 7 May 2024``."""
_DOTTED = re.compile(r"\b(?P<day>\d{1,2})\.(?P<monthnumber>\d{1,2})\.(?P<year>\d{4})\b")
_SLASHED = re.compile(r"\b(?P<monthnumber>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})\b")
_NAMED = re.compile(
    r"\b(?P<name>the day after tomorrow|(?:(?<=tomorrow or )|(?<=tomorrow and ))the day after|today|tonight|tomorrow|yesterday)\b",
    re.I,
)
_WEEKDAY = re.compile(rf"\b(?P<which>next|this|last|on)\s+(?P<weekday>{'|'.join(_WEEKDAYS)})\b", re.I)
_OFFSET = re.compile(
    r"\b(?P<in>in\s+)?(?P<n>\d{1,3}|one|a|two|three|four|five|six|seven)\s+(?P<unit>day|week)s?(?:\s+(?P<way>ago|from now|later))?\b",
    re.I,
)
"""A number of days or weeks from today; without "in" or "ago" it is a duration, and no date."""


def find_dates(text: str, today: date) -> Iterator[tuple[int, int, date]]:
    """Yield start, end and day of each date in a text.

    A date without a year is the next one from ``today`` on. ``12/06/2024`` is read month first where that is possible,
    as American catalogues do.
    """
    for pattern in (_ISO, _DAY_MONTH, _MONTH_DAY, _DAYS_OF_MONTH, _DOTTED, _SLASHED):
        for hit in pattern.finditer(text):
            day = _parse_absolute(hit.groupdict(), today)
            if day is not None:
                yield hit.start(), hit.end(), day
    yield from _find_relative(text, today)


def _parse_absolute(parts: dict[str, str | None], today: date) -> date | None:
    """Build the date from a match's groups; None if there is no such day."""
    month = int(parts["monthnumber"] or 0) if "monthnumber" in parts else _MONTHS[(parts["month"] or "").lower()[:3]]
    day, year = int(parts["day"] or 0), parts.get("year")
    if month > 12 and day <= 12:
        month, day = day, month
    try:
        if year is not None:
            return date(int(year), month, day)
        this_year = date(today.year, month, day)
        return this_year if this_year >= today else date(today.year + 1, month, day)
    except ValueError:
        return None


def _find_relative(text: str, today: date) -> Iterator[tuple[int, int, date]]:
    """Yield start, end and day of each date that counts from today: *tomorrow*, *next Monday*, *in two weeks*."""
    offsets = {
        "today": 0,
        "tonight": 0,
        "tomorrow": 1,
        "yesterday": -1,
        "the day after tomorrow": 2,
        "the day after": 2,
    }
    for hit in _NAMED.finditer(text):
        yield hit.start(), hit.end(), today + timedelta(days=offsets[hit["name"].lower()])
    for hit in _WEEKDAY.finditer(text):
        ahead = (_WEEKDAYS[hit["weekday"].lower()] - today.weekday()) % 7
        which = hit["which"].lower()
        days = {"next": ahead or 7, "last": ahead - 7, "this": ahead, "on": ahead}[which]
        yield hit.start(), hit.end(), today + timedelta(days=days)
    for hit in _OFFSET.finditer(text):
        if not hit["in"] and not hit["way"]:
            continue
        count = _NUMBERS.get(hit["n"].lower()) or int(hit["n"])
        days = count * (7 if hit["unit"].lower() == "week" else 1)
        back = (hit["way"] or "").lower() == "ago"
        yield hit.start(), hit.end(), today + timedelta(days=-days if back else days)


_UNIX = re.compile(r"unix|epoch|timestamp", re.I)
"""Words of a description that ask for seconds since 1970."""
_DATE_TIME = re.compile(r"yyyy-mm-ddt|iso.?8601.*time|date-time", re.I)
_ORDER = re.compile(r"yyyy([-/]?)mm\1dd|dd([-/.])mm\2yyyy|mm([-/])dd\3yyyy", re.I)
"""A date format that a description spells out."""
_SHAPES = (
    (re.compile(r"\d{4}-\d{2}-\d{2}"), "%Y-%m-%d"),
    (re.compile(r"\d{4}/\d{2}/\d{2}"), "%Y/%m/%d"),
    (re.compile(r"(19|20)\d{6}"), "%Y%m%d"),
    (re.compile(r"\d{4}-\d{2}-\d{2}T.*"), "date-time"),
    (re.compile(r"1\d{9}"), "unix"),
)
"""Formats by the shape of an example: ``strftime`` formats, or ``date-time`` or ``unix``."""


def is_date_time(*, described: str, example: str) -> bool:
    """Return whether a parameter wants a day and a time in one value."""
    return _find_format(described, example) == "date-time"


def _find_format(described: str, example: str) -> str:
    """Return the ``strftime`` format that a parameter wants, or ``unix`` or ``date-time``."""
    if _UNIX.search(described):
        return "unix"
    if _DATE_TIME.search(described):
        return "date-time"
    order = _ORDER.search(described)
    if order:
        return order[0].lower().replace("yyyy", "%Y").replace("mm", "%m").replace("dd", "%d")
    return next((form for pattern, form in _SHAPES if pattern.fullmatch(example)), "%Y-%m-%d")


def format_day(day: date, *, described: str, example: str, hour: str = "") -> str:
    """Format a day as a parameter's description or example asks; as ISO 8601 if they say nothing.

    Args:
        day: the day.
        described: the parameter's description and format.
        example: an example of its values.
        hour: local time of day (``HH:MM``), for formats with both; without it, midnight in UTC stands for the day.
    """
    day_format = _find_format(described, example)
    if day_format == "unix":
        return str(int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()))
    if day_format != "date-time":
        return day.strftime(day_format)
    return (
        f"{day.isoformat()}T{hour}:00{'Z' if example.endswith('Z') else ''}" if hour else f"{day.isoformat()}T00:00:00Z"
    )


def format_clock(text: str) -> str:
    """Format an hour of the day as ``HH:MM``: ``6:20 pm`` is 18:20."""
    hit = re.match(r"(\d{1,2})(?::(\d\d))?(?::\d\d)?\s*([ap])?", text.strip(), re.I)
    if hit is None:
        return text
    hour = int(hit[1]) % 12 + (12 if (hit[3] or "").lower() == "p" else 0) if hit[3] else int(hit[1])
    return f"{hour:02d}:{hit[2] or '00'}"
