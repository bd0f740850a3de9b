"""Convert the value of a span to the type and format of a parameter."""

import re
from datetime import date

from pydantic.types import JsonValue

from agent.parameter_needs import ParameterNeed
from graph.identifiers import singularize, split_words
from offline.nlp.dates import format_clock, format_day, is_date_time
from offline.nlp.entities import Span
from offline.nlp.gazetteer import COUNTRIES, CURRENCIES, LANGUAGES, UNITS, word_set

_CURRENCY_CODE = re.compile(r"[A-Z]{3}")
"""An ISO 4217 code."""
_COUNTRY_CODE = re.compile(r"[A-Z]{2,3}")
"""An ISO 3166-1 code of two or three letters."""
_DATE_PARTS = {"year": 0, "month": 1, "day": 2}
"""Place of each part in a date that is split over several parameters."""

_NUMBERED = re.compile(r"[A-Z]{0,4}[-/]?\d{6,}")
"""A serial number, such as a parcel's, which has the form of a name."""
_NAMED_KINDS = word_set("query place person organization country")
"""Kinds of parameters for which a serial number is no value."""


def convert_span(span: Span, need: ParameterNeed) -> JsonValue:
    """Convert a span to a value of the parameter; None if it does not fit the type, bounds, enum or format."""
    if need.enum:
        member = find_enum_member(span.value, need)
        return wrap_enum_value(find_enum_member(span.text, need) if member is None else member, need)
    if need.type == "boolean" or need.type == "object" or _is_no_value(span, need):
        return None
    text = _render_text(span, need)
    if text is None:
        return None
    if need.type in ("number", "integer"):
        return _parse_number(text, need)
    return [text] if need.type == "array" else text


def wrap_enum_value(value: JsonValue, need: ParameterNeed) -> JsonValue:
    """Return a member of an enum as the call takes it: in a list if the parameter is an array."""
    return [value] if need.type == "array" and value is not None else value


def _is_no_value(span: Span, need: ParameterNeed) -> bool:
    """Return whether a span cannot be a value of the parameter, although its kind fits.

    Such spans are words of the parameter's own name, spelled numbers and titles for identifiers, serial numbers for
    names, and names where a code is asked for.
    """
    if span.kind == "name" and set(split_words(span.text)) <= set(need.words):
        return True
    if need.kind == "identifier" and span.kind == "number" and not span.text[:1].isdigit():
        return span.text[:1].isalpha()  # "one company": none has the id 1
    if span.kind == "name" and _NUMBERED.fullmatch(span.text):
        return need.kind in _NAMED_KINDS
    if need.kind == "currency" and span.kind == "code":
        return not _CURRENCY_CODE.fullmatch(span.text)
    if need.kind == "country" and span.kind in ("name", "quoted"):
        return _is_code(need) and not _COUNTRY_CODE.fullmatch(span.value)
    return need.kind == "identifier" and span.kind in ("name", "quoted") and " " in span.value.strip()


def find_enum_member(text: str, need: ParameterNeed) -> JsonValue:
    """Find the member of an enum that a text means: the same text, unit, currency, language or country."""
    canonical = _canonicalize(text)
    for value in need.enum:
        if isinstance(value, str) and (value.casefold() == text.casefold() or _canonicalize(value) == canonical):
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool) and str(value) == text:
            return value
    return None


def _canonicalize(text: str) -> str:
    """Return a standard form of a text, equal for synonyms of one unit, currency, language or country."""
    lowered = text.strip().lower().replace("_", " ")
    singular_text = " ".join(singularize(word) for word in lowered.split(" "))
    for table in (UNITS, CURRENCIES, LANGUAGES, COUNTRIES):
        if lowered in table or singular_text in table:
            return table.get(lowered) or table[singular_text]
    return singular_text.replace(" ", "_")


def _render_text(span: Span, need: ParameterNeed) -> str | None:
    """Return a span's value as text in the parameter's format."""
    match span.kind:
        case "coordinates":
            latitude, longitude = span.value.split(",")
            return {"latitude": latitude, "longitude": longitude}.get(need.kind, span.value)
        case "date":
            return _format_day(date.fromisoformat(span.value), need, span.unit)
        case "time":
            has_both = need.kind == "date" or is_date_time(described=need.format_text, example=need.example)
            return (
                _format_day(date.fromisoformat(span.unit), need, format_clock(span.value))
                if has_both
                else _format_hour(span.value, need)
            )
        case "country":
            return span.value if _is_code(need) else span.text
        case "language":
            return (
                span.text
                if "name" in need.words or (need.example and len(need.example) > 5 and "-" not in need.example)
                else span.value
            )
        case "currency" if need.kind in ("currency", "symbol"):
            return span.value.lower() if need.example.islower() and len(need.example) == 3 else span.value
        case "url" if need.kind == "domain":
            return span.value.split("//")[-1].split("/")[0]
        case "number" | "code" | "quoted" | "email" | "url" | "ip" | "phone" | "domain":
            return span.value
        case "currency" | "unit" | "name" | "phrase":
            return span.text


def _is_code(need: ParameterNeed) -> bool:
    """Return whether a parameter takes a code rather than a name."""
    return (
        "code" in need.words
        or bool(need.description_words & {"code", "iso", "alpha"})
        or (len(need.example) == 2 and need.example.isalpha())
    )


def _format_hour(text: str, need: ParameterNeed) -> str:
    """Format a time of day as a parameter asks: as a whole number of hours, or as ``HH:MM``."""
    if need.type in ("number", "integer"):
        return str(int(format_clock(text).partition(":")[0]))
    return format_clock(text)


def _format_day(day: date, need: ParameterNeed, hour: str = "") -> str:
    """Format a day as a parameter asks: as the year, month or day alone, or as a date."""
    if len(need.words) == 1 and need.words[0] in _DATE_PARTS and need.type in ("number", "integer"):
        return str((day.year, day.month, day.day)[_DATE_PARTS[need.words[0]]])
    if need.kind == "year":
        return str(day.year)
    return format_day(day, described=need.format_text, example=need.example, hour=hour)


def _parse_number(text: str, need: ParameterNeed) -> JsonValue:
    """Parse a number; None if it does not fit the parameter's type and bounds."""
    try:
        number = float(text)
    except ValueError:
        return None
    is_whole = number.is_integer()
    if need.type == "integer" and not is_whole:
        return None
    if (need.minimum is not None and number < need.minimum) or (need.maximum is not None and number > need.maximum):
        return None
    return int(number) if is_whole and abs(number) < 2**53 else number
