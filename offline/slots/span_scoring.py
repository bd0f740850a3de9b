"""Score a span as the value of a parameter by its kind, its form and the words around it.

The scores are added up: positive ones speak for the span, negative ones against it.
"""

import re
from collections.abc import Mapping

from agent.parameter_needs import ORGANIZATION_WORDS, NeedKind, ParameterNeed
from graph.identifiers import split_words
from offline.nlp.dates import is_date_time
from offline.nlp.entities import Span, SpanKind
from offline.nlp.gazetteer import (
    BOOKED_CUES,
    FROM_CUES,
    NAMING_CUES,
    NUMBER_WORDS,
    PLACE_CUES,
    TO_CUES,
    UNITS,
    word_set,
)
from offline.nlp.noun_phrases import TITLED

KIND_SCORES: Mapping[NeedKind, Mapping[SpanKind, float]] = {
    "secret": {}, "technical": {}, "email": {"email": 0.95}, "url": {"url": 0.95, "domain": 0.8}, "domain": {"domain": 0.95, "url": 0.7},
    "ip": {"ip": 0.95}, "phone": {"phone": 0.95}, "latitude": {"coordinates": 0.95, "number": 0.1},
    "longitude": {"coordinates": 0.95, "number": 0.1}, "coordinates": {"coordinates": 0.95}, "currency": {"currency": 0.9, "code": 0.6},
    "unit": {"unit": 0.9}, "language": {"language": 0.85}, "country": {"country": 0.88, "name": 0.6, "quoted": 0.55},
    "date": {"date": 0.9, "time": 0.0}, "year": {"number": 0.0, "date": 0.5}, "time": {"time": 0.9, "date": 0.0},
    "place": {"name": 0.6, "country": 0.62, "quoted": 0.65}, "person": {"name": 0.7, "quoted": 0.75},
    "organization": {"quoted": 0.7, "name": 0.52, "code": 0.45},
    "symbol": {"code": 0.75, "name": 0.5, "quoted": 0.6, "currency": 0.55}, "identifier": {"code": 0.55, "quoted": 0.5, "number": 0.2},
    "amount": {"number": 0.45}, "number": {"number": 0.35}, "boolean": {}, "query": {"quoted": 0.9, "name": 0.68},
    "text": {"quoted": 0.92}, "entity": {"quoted": 0.75, "name": 0.52, "code": 0.4, "number": 0.42},
}  # fmt: skip
"""How well the kind of a span alone fits each kind of need, in [0, 1]."""

YEAR = re.compile(r"(1[89]|20)\d\d")
_LENGTHS = word_set("kilometer meter mile foot centimeter inch")
_TIME_UNITS = word_set("minute hour second day week")
_DIMENSIONS = {
    "radius": _LENGTHS, "distance": _LENGTHS, "height": _LENGTHS, "length": _LENGTHS, "day": frozenset({"day"}), "duration": _TIME_UNITS,
    "weight": frozenset({"kilogram", "pound", "gram"}), "temperature": frozenset({"celsius", "fahrenheit", "kelvin"}),
    "percent": frozenset({"%"}), "rate": frozenset({"%"}), "year": frozenset({"year"}), "month": frozenset({"month"}),
    "hour": frozenset({"hour"}), "minute": frozenset({"minute"}),
}  # fmt: skip
"""Units that fit a word of a parameter's name."""
_AMOUNT_WORDS = frozenset({"amount", "value", "quantity"})
_COUNT_WORDS = word_set("limit count size quantity result top maximum amount number")
_QUALIFIERS = word_set("id name code from to start end number value query q key type in of")
"""Words of parameter names that do not say what the value is of."""
_CONVERTED_KINDS = frozenset({"currency", "unit", "language"})
"""Kinds of things that are converted, where *in* means the target: ``10 miles in [kilometres]``."""
_TOWNS = frozenset({"city", "town"})
_SMALL_WORDS = word_set("and or in to for of on at by with")
_STATED_BY_NAME = word_set("amount number identifier entity year latitude longitude")
"""Kinds of values that are stated next to their parameter's name: ``limit 5``, ``person 17``."""


def score_adjacent_words(need: ParameterNeed, span: Span) -> float:
    """Score words of the parameter's name next to the span: ``limit of 5``, ``person 17``, ``artist Eminem``."""
    if "name" in need.words and span.before[-4:] in BOOKED_CUES:
        return 0.5
    if need.kind == "query" and span.text[:1].isupper() and span.cue == "of":
        return 0.0  # the interests of Jane: hers, not Jane
    need_words = set(need.words)
    specific_words = need_words - _QUALIFIERS or (need_words if need.kind in ("identifier", "query") else set[str]())
    after = () if need.kind == "query" and is_person_name(span) else span.after[:1]  # what [Jane Doe] is interested in
    nearby_words = {word for token in (*span.before[-3:], *after) for word in split_words(token)}
    if specific_words & nearby_words or any(
        token.startswith(word) for word in specific_words if len(word) >= 5 for token in nearby_words
    ):
        return 0.5 if need.kind in _STATED_BY_NAME else 0.2
    if (
        need.kind == "identifier"
        and span.kind == "code"
        and (need.description_words & nearby_words) - _QUALIFIERS - _SMALL_WORDS
    ):
        return 0.25
    return 0.0


def score_role(need: ParameterNeed, span: Span) -> float:
    """Score *from* and *to* before the span against the parameter's role in a pair."""
    if not need.role:
        return 0.0
    side = "from" if span.cue in FROM_CUES else "to" if span.cue in TO_CUES else ""
    if span.cue == "and" and "between" in span.before[-4:]:
        side = "to"
    if "many" in span.before[-2:] or (span.cue == "in" and need.kind in _CONVERTED_KINDS):
        side = "to"
    if not side:
        return 0.0 if need.role == "from" else -0.1
    return 0.1 if side == need.role else -0.35


def score_context(need: ParameterNeed, span: Span) -> float:
    """Score what else the words around a span say, by the kind of need."""
    cue, has_naming_cue = span.cue, span.cue in NAMING_CUES
    match need.kind:
        case "amount" | "number":
            return _score_number_context(need, span)
        case "place":
            return _score_place_context(need, span)
        case "organization":
            return 0.33 if cue == "at" else 0.1 if has_naming_cue or cue in ("from", "of", "by") else 0.0
        case "identifier":
            return score_likeness(need.example, span.text)
        case "entity":  # zones, paths and the like: the example shows the form
            lacks_slash = "/" in need.example and "/" not in span.text
            lacks_digits = any(map(str.isdigit, need.example)) and not any(map(str.isdigit, span.text))
            return -0.3 if lacks_slash or lacks_digits else 0.0
        case "symbol":
            return 0.1 if span.text.isupper() else -0.2 if any(map(str.isalpha, span.text)) else -0.5
        case "currency" if need.role and (
            cue[:1].isdigit() or cue in NUMBER_WORDS
        ):  # an amount's own currency is what it is converted from
            return 0.1 if need.role == "from" else -0.35
        case "date" | "time":
            return _score_day_context(need, span)
        case "year":
            return 0.85 if YEAR.fullmatch(span.value) and not span.unit else 0.0
        case _:
            return 0.0


def _score_place_context(need: ParameterNeed, span: Span) -> float:
    """Score a name as a place by the preposition before it; digits speak against it."""
    if any(character.isdigit() for character in span.text):
        return -0.4  # an order's number is no town
    if span.cue == "at" and span.after[:1] == ("in",) and _TOWNS & set(need.words):
        return 0.22  # "at the Blue Lantern in Oslo": what is in a town is none, if there is another
    return 0.25 if span.cue in PLACE_CUES - {"for", "of", "and"} else 0.15 if span.cue in PLACE_CUES else 0.0


def _score_day_context(need: ParameterNeed, span: Span) -> float:
    """Score a day or a time for a parameter that wants both in one value."""
    if KIND_SCORES[need.kind][span.kind] > 0.0 or not is_date_time(described=need.format_text, example=need.example):
        return 0.0
    return {"date": 0.95, "time": 0.8}.get(span.kind, 0.0)


def _score_number_context(need: ParameterNeed, span: Span) -> float:
    """Score a number by whether its unit fits the parameter; years and other units speak against it."""
    need_words = set(need.words)
    if any(span.unit in _DIMENSIONS.get(word, frozenset[str]()) for word in need_words):
        return 0.5
    if span.unit in UNITS.values():
        return 0.4 if need_words & _AMOUNT_WORDS else -0.2
    if span.unit and span.unit != "%":  # a currency
        return 0.5 if need.kind == "amount" else -0.2
    if YEAR.fullmatch(span.value) and not span.unit:
        return -0.3
    is_count = need_words & _COUNT_WORDS and span.after and span.after[0] not in _SMALL_WORDS
    return 0.25 if is_count else 0.12 if need.kind == "amount" else 0.0


def score_likeness(example: str, text: str) -> float:
    """Score whether a text has the pattern of the example in letters and digits: ``tt0111161`` like ``tt1375666``."""
    if not any(character.isdigit() for character in example):
        return 0.0
    bare_text = text.lstrip("#")
    if example.isdigit() and bare_text.isdigit() and abs(len(example) - len(bare_text)) > 1:
        return -0.2
    return 0.3 if _get_pattern(example) == _get_pattern(bare_text) else 0.1 if len(example) == len(bare_text) else -0.1


def _get_pattern(text: str) -> str:
    """Replace each run of letters of one case, and of digits, by a single character."""
    return re.sub(r"\d+", "0", re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]+", "A", text)))


_NAMED_KINDS = frozenset({"place", "person", "organization", "country"})

_TARGET_STATE = re.compile(
    r"\W*(?:please\s+)?(?:mark|set|flag|put|move|change)\b.*\b(?:as|to)\s+$", re.IGNORECASE | re.DOTALL
)
"""An order to change the state of something, up to the new state."""


def is_organization(span: Span) -> bool:
    """Return whether a name contains a word for an organisation: ``Ilsenau Polytechnic``."""
    return bool(ORGANIZATION_WORDS & set(split_words(span.text)))


def is_target_state(request: str, start: int) -> bool:
    """Return whether the text from ``start`` is the state that a thing is to have: ``mark the task as [done]``."""
    return _TARGET_STATE.match(request[:start]) is not None


def is_person_name(span: Span) -> bool:
    """Return whether a name has the form of most people's names: two or three capitalised words."""
    parts = span.text.split()
    return (
        span.kind == "name"
        and 2 <= len(parts) <= 3
        and not is_organization(span)
        and all(part[:1].isupper() and not part.isupper() for part in parts)
    )


def score_form(need: ParameterNeed, span: Span, currency_places: frozenset[tuple[int, int]]) -> float:
    """Score the form of a span: as a title, a person's name or an organisation.

    ``currency_places``: start and end of the spans that are currencies. A capitalised word that opens the request loses
    a little, since it may owe its capital to that.
    """
    score = _score_title_word(need, span)
    if span.kind == "name":
        score += _score_name_type(need, span)
        if span.start == 0 and " " not in span.text:
            score -= 0.1
        if span.text.isupper() and (span.start, span.end) in currency_places and need.kind in _NAMED_KINDS | {"query"}:
            score -= 0.15
    return score


def _score_title_word(need: ParameterNeed, span: Span) -> float:
    """Score a word for a titled thing before a name: what follows "book" is a title, and no person."""
    if span.kind not in ("name", "quoted") or span.cue not in TITLED:
        return 0.0
    if need.kind in ("person", "place", "organization", "country"):
        return -0.4
    return 0.1 if span.cue in need.description_words and need.kind in ("query", "entity", "text") else 0.0


def _score_name_type(need: ParameterNeed, span: Span) -> float:
    """Score a name that looks like a person's or an organisation's."""
    if is_organization(span):
        return {"organization": 0.3, "person": -0.4, "place": -0.2}.get(need.kind, 0.0)
    if is_person_name(span):
        return {"person": 0.15, "organization": -0.1}.get(need.kind, 0.0)
    return 0.0
