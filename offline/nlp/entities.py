"""Find the typed spans of a request: what may be a value, where it stands, and the words around it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import Literal

from graph.identifiers import singularize
from offline.nlp.dates import find_dates, format_clock
from offline.nlp.gazetteer import (
    COUNTRIES,
    CURRENCIES,
    CURRENCY_WORDS_NEEDING_CAPITALS,
    LANGUAGES,
    NUMBER_SCALES,
    NUMBER_WORDS,
    SHORT_UNITS,
    UNITS,
)
from offline.nlp.noun_phrases import TITLED, find_names, find_titles

SpanKind = Literal[
    "number", "date", "time", "quoted", "email", "url", "domain", "ip", "phone", "coordinates", "code", "currency", "language",
    "country", "unit", "name", "phrase",
]  # fmt: skip
MAX_REQUEST = 4_000
"""Characters of a request that are read."""
_MAX_SPANS = 120
"""The most spans of a request."""
_MAX_TITLE_WORDS = 12
"""Words up to which a quotation is one value, in which no names are looked for."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a request that may be the value of a parameter."""

    kind: SpanKind
    """What it is by its form; spans of several kinds may overlap."""
    text: str
    """The characters from ``start`` to ``end`` of the request."""
    value: str
    """Standard form: an ISO day, a currency code, a number as text, ``lat,lon``."""
    start: int
    end: int
    before: tuple[str, ...] = ()
    """Up to four words before it, the nearest last, in lower case and singular."""
    after: tuple[str, ...] = ()
    """Up to three words after it, lower case and singular."""
    unit: str = ""
    """Of a number, its standard unit or currency; of a day, the nearest time; of a time, its day."""

    @property
    def cue(self) -> str:
        """The word directly before it, articles skipped; empty if there is none."""
        return next((word for word in reversed(self.before) if word not in ("the", "a", "an", "my")), "")

    def overlaps(self, other: "Span") -> bool:
        """Return whether two spans share a character."""
        return self.start < other.end and other.start < self.end


_AMOUNT = re.compile(r"(?:\d|\b(?:one|an?|two|three|five|ten))\s?([A-Z]{3})\b(?:\s+(?:to|in|into|for)\s+([A-Z]{3})\b)?")
"""An amount with a code of three capitals, and the code that it is to be converted to."""
_MONEY = re.compile(r"\b(?:exchange|convert\w*|currenc\w+|rates?|money|cash|costs?|worth|prices?)\b", re.I)
"""Words that make a request one about money."""
_PATTERNS: tuple[tuple[SpanKind, re.Pattern[str]], ...] = (
    ("email", re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("url", re.compile(r"\b(?:https?://|www\.)[^\s<>\"']+[^\s<>\"'.,;:!?)\]]", re.I)),
    ("coordinates", re.compile(r"(?<![\d.])-?\d{1,2}\.\d+\s*°?\s*,\s*-?\d{1,3}\.\d+")),
    ("ip", re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b")),
    ("phone", re.compile(r"(?<!\w)\+\d[\d ()-]{6,16}\d\b")),
    # Where a run of labels begins, and nowhere within it: each beginning is read to its end.
    ("domain", re.compile(r"\b(?<!\w)(?<!\w[-.])(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|gov|edu|co|uk|de|fr|info|app|ai|me|tv|us|eu)\b", re.I)),
)  # fmt: skip
_LATITUDE_LONGITUDE = re.compile(
    r"\blat(?:itude)?\b\D{0,12}?(-?\d{1,2}(?:\.\d+)?)\b\s*°?\D{0,12}?\blon(?:gitude|g)?\b\D{0,12}?(-?\d{1,3}(?:\.\d+)?)\b", re.I
)  # fmt: skip
_QUOTED = re.compile(r"[\"“«]([^\"”»\n]{1,300})[\"”»]|(?<!\w)['‘`]([^'’`\n]{1,200})['’`](?!\w)")
_TIME = re.compile(r"\b(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:\s*[ap]m)?\b|\b(?:1[0-2]|0?[1-9])\s*[ap]m\b", re.I)
_NUMBER = re.compile(
    r"(?<![\w.])(?<!\w-)[-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w]*[A-Za-z]{4})(?=\W|$|[a-zA-Z°%]{1,3}\b)"
)
"""A number in digits, unless it is part of an identifier; a unit of up to three characters may follow."""
_TAIL = re.compile(r"\s*([^\W\d_]+|%|°[CF]?|[€£$])")
_IN_PHRASE = re.compile(r"in\s+(?:(?:the|an?|my|our|your|his|her|its|their|this|that)\b|[A-Z])")
"""The preposition *in*, which does not mean inches: ``a table for 4 in the garden``."""
_CODE = re.compile(r"(?<![\w])#?(?=[A-Za-z0-9])(?=[\w-]{0,99}\d)(?=[\w-]{0,99}[A-Za-z_-])[\w-]{3,}|\b[A-Z]{2,6}\b|#\d+|\b\d{4,}\b")  # fmt: skip
"""An identifier: letters mixed with digits, a few capitals, ``#`` with digits, or four digits and more."""
_MEASURED_SUBSTANCE = re.compile(r"PM\d+|CO2?|NO[2x]?|SO2|O3|CH4|NH3|N2O|H2O", re.I)
"""Measured substances that look like codes: dust by its size, gases by their formulas."""
_COUNT_BEFORE = re.compile(r"\d\s*°?$")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?|[$€£¥₹]")
_ENDS_TITLE = re.compile(r"\s(?:by|in|at|with|and|or)\s")
"""Small words that may come after a title rather than belong to it."""


def find_spans(request: str, today: date) -> tuple[Span, ...]:
    """Find the typed spans of a request, in order. Only its first ``MAX_REQUEST`` characters are read."""
    return _find_spans(request[:MAX_REQUEST], today)


@lru_cache(maxsize=64)
def _find_spans(request: str, today: date) -> tuple[Span, ...]:
    """Find the typed spans of a request, each with the words around it; the result is cached."""
    found_spans: list[Span] = []
    for kind, pattern in _PATTERNS:
        for hit in pattern.finditer(request):
            value = re.sub(r"\s|°", "", hit[0]) if kind == "coordinates" else hit[0]
            _add(found_spans, Span(kind, hit[0], value, hit.start(), hit.end()))
    for start, end, day in find_dates(request, today):
        _add(found_spans, Span("date", request[start:end], day.isoformat(), start, end))
    for hit in _TIME.finditer(request):
        _add(found_spans, Span("time", hit[0], hit[0], hit.start(), hit.end()))
    for hit in _LATITUDE_LONGITUDE.finditer(request):
        _add(found_spans, Span("coordinates", hit[0], f"{hit[1]},{hit[2]}", hit.start(), hit.end()))
    # Digits within an address, a date or a time are no numbers and no codes of their own.
    certain = tuple(found_spans)
    uncertain = (*_find_numbers(request), *_find_codes(request))
    found_spans += [span for span in uncertain if not any(span.overlaps(other) for other in certain)]
    found_spans += [*_find_quoted(request), *_find_terms(request)]
    quotes = [span for span in found_spans if span.kind == "quoted" and len(span.text.split()) <= _MAX_TITLE_WORDS]
    for start, end in _find_names(request):
        inside = any(quote.start <= start and end <= quote.end for quote in quotes)
        if not inside and not _MEASURED_SUBSTANCE.fullmatch(request[start:end]):
            found_spans.append(Span("name", request[start:end], request[start:end], start, end))
    found_spans = _pair_dates_and_times(found_spans, today)
    found_spans.sort(key=lambda span: (span.start, -span.end))
    return tuple(_add_context(request, found_spans[:_MAX_SPANS]))


def _pair_dates_and_times(spans: list[Span], today: date) -> list[Span]:
    """Give each day the nearest time as its unit, and each time the nearest day: a parameter may want both."""
    days = [span for span in spans if span.kind == "date"]
    hours = [span for span in spans if span.kind == "time"]
    paired: list[Span] = []
    for span in spans:
        others = hours if span.kind == "date" else days if span.kind == "time" else []
        nearest = min(others, key=lambda other: abs(other.start - span.start), default=None)
        if nearest is not None:
            paired.append(replace(span, unit=format_clock(nearest.value) if span.kind == "date" else nearest.value))
        else:
            paired.append(replace(span, unit=today.isoformat()) if span.kind == "time" else span)
    return paired


def _find_names(request: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of names and titles; a name within a labelled title is left out."""
    plain = list(find_names(request))
    titles = list(find_titles(request))
    labelled_titles = [one for one in titles if _is_labelled_title(request, *one)]
    yield from (
        one for one in plain if not any(a <= one[0] and one[1] <= b and one != (a, b) for a, b in labelled_titles)
    )
    yield from (title for title in titles if title not in plain)


def _is_labelled_title(request: str, start: int, end: int) -> bool:
    """Return whether the word before a title says that it is one: ``the film Alien``.

    A title with a small word in it does not count, since that word may end it: ``the film Alien by Someone``.
    """
    before = _WORD.findall(request[max(0, start - 60) : start])
    return bool(before) and singularize(before[-1].lower()) in TITLED and not _ENDS_TITLE.search(request[start:end])


def _add(found: list[Span], span: Span) -> None:
    """Append a span unless it overlaps one of the spans."""
    if not any(span.overlaps(other) for other in found):
        found.append(span)


def _find_numbers(request: str) -> Iterator[Span]:
    """Yield numbers in digits and in words, each with its unit."""
    money = bool(_MONEY.search(request))
    for hit in _NUMBER.finditer(request):
        value = get_sign(request, hit.start()) + hit[0].replace(",", "").replace("−", "-")
        tail = _get_tail(request, hit.end())
        head = request[hit.start() - 1 : hit.start()]
        unit = _find_unit(tail, head)
        if money and not unit and re.fullmatch(r"[A-Z]{3}", tail):
            unit = tail
        yield Span("number", hit[0], value, hit.start(), hit.end(), unit=unit)
    for start, end, number in find_spelled_numbers(request):
        value, unit = f"{get_sign(request, start)}{number}", _find_unit(_get_tail(request, end), "")
        yield Span("number", request[start:end], value, start, end, unit=unit)


def _get_tail(request: str, end: int) -> str:
    """Return the word right behind a number, which may be its unit."""
    tail = _TAIL.match(request, end)
    return "" if tail is None or _IN_PHRASE.match(request, tail.start(1)) else tail[1]


def _find_unit(tail: str, head: str) -> str:
    """Return the standard unit or currency that the word after, or the sign before, a number stands for; else empty."""
    if head in CURRENCIES:
        return CURRENCIES[head]
    word = tail.lower()
    base = singularize(word)
    return (
        CURRENCIES.get(base)
        or CURRENCIES.get(word)
        or UNITS.get(word)
        or UNITS.get(base)
        or ("%" if tail == "%" else "")
    )


def _find_codes(request: str) -> Iterator[Span]:
    """Yield codes; three capitals next to an amount count as a currency as well, whether it is known or not."""
    for hit in _AMOUNT.finditer(request):
        for part in (1, 2):
            if hit[part] and not {hit[part].lower()} & (UNITS.keys() | CURRENCIES.keys()):
                yield Span("currency", hit[part], hit[part], hit.start(part), hit.end(part))
    for hit in (hit for hit in _CODE.finditer(request) if not _MEASURED_SUBSTANCE.fullmatch(hit[0])):
        yield Span("code", hit[0], hit[0].lstrip("#"), hit.start(), hit.end())


def _find_quoted(request: str) -> Iterator[Span]:
    for hit in _QUOTED.finditer(request):
        group = 1 if hit[1] is not None else 2
        yield Span("quoted", hit[group], hit[group].strip(), hit.start(group), hit.end(group))


def _find_terms(request: str) -> Iterator[Span]:
    """Yield currencies, languages, countries and units by name or code; the longest name at a place wins."""
    tokens = list(_WORD.finditer(request))
    for at, token in enumerate(tokens):
        is_counted = bool(_COUNT_BEFORE.search(request, max(0, token.start() - 10), token.start()))
        for size in (2, 1):
            last = tokens[min(at + size, len(tokens)) - 1]
            text = request[token.start() : last.end()]
            term = _classify_term(text, after_number=is_counted and not _IN_PHRASE.match(request, token.start()))
            if term and (size == 1 or len(tokens) > at + 1):
                yield Span(term[0], text, term[1], token.start(), last.end())
                break


def _classify_term(text: str, *, after_number: bool) -> tuple[SpanKind, str] | None:
    """Return kind and standard form of a currency, language, country or unit; None for any other text."""
    lowered = text.lower()
    base = " ".join(singularize(word) for word in lowered.split(" "))
    currency = CURRENCIES.get(base) or CURRENCIES.get(lowered)
    if currency and (text.isupper() or lowered not in CURRENCY_WORDS_NEEDING_CAPITALS):
        return "currency", currency
    if lowered in LANGUAGES:
        return "language", LANGUAGES[lowered]
    if lowered in COUNTRIES and (len(lowered) > 3 or text.isupper()):
        return "country", COUNTRIES[lowered]
    unit = UNITS.get(lowered) or UNITS.get(base)
    if unit and (
        after_number or (lowered not in SHORT_UNITS and lowered not in ("day", "second", "stone", "cup", "foot"))
    ):
        return "unit", unit
    return None


def _add_context(request: str, spans: list[Span]) -> Iterator[Span]:
    """Yield the spans with the words around them."""
    for span in spans:
        before = [singularize(hit[0].lower()) for hit in _WORD.finditer(request[max(0, span.start - 60) : span.start])]
        after = [singularize(hit[0].lower()) for hit in _WORD.finditer(request[span.end : span.end + 50])]
        yield Span(
            span.kind, span.text, span.value, span.start, span.end, tuple(before[-4:]), tuple(after[:3]), span.unit
        )


_SPELLED = re.compile(
    rf"(?<![\w-])(?:an?\s+(?={'|'.join(NUMBER_SCALES)}))?(?:{'|'.join(NUMBER_WORDS)})(?:(?:-|\s+and\s+|\s+)(?:{'|'.join(NUMBER_WORDS)})\b)*(?![\w-])", re.I
)  # fmt: skip
_MINUS = re.compile(r"([^\W_]*|[)%])\s*\b(?:minus|negative)\s+$", re.IGNORECASE)
"""The word *minus* before a number, and what comes before it, which may make it a difference."""


def get_sign(text: str, start: int) -> str:
    """Return ``-`` if words say that the number at ``start`` is negative ("minus 5"); else an empty string."""
    hit = _MINUS.search(text[max(0, start - 40) : start])
    before = hit[1].lower() if hit else ")"
    difference = before in (")", "%") or before[-1:].isdigit() or before in NUMBER_WORDS
    return "" if difference or text[start : start + 1] in "-−" else "-"


def find_spelled_numbers(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and value of each spelled number of a text."""
    for hit in _SPELLED.finditer(text):
        yield hit.start(), hit.end(), parse_spelled_number(hit[0])


def parse_spelled_number(text: str) -> int:
    """Parse ``seventy-two`` and ``three hundred and five`` as numbers."""
    total = part = 0
    for word in re.findall(r"[a-z]+", text.lower()):
        value = NUMBER_WORDS.get(word)
        if value is None:
            continue
        if word not in NUMBER_SCALES:
            part += value
        elif value > 100:
            total, part = total + max(1, part) * value, 0
        else:
            part = max(1, part) * value
    return total + part
