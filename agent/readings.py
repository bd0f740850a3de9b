"""Which spans of a request speak for a value of a parameter, and how strongly."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic.types import JsonValue

from agent.dates import wants_both
from agent.lexicon import BOOKED_CUES, FROM_CUES, NAMING_CUES, NUMBER_WORDS, PLACE_CUES, TO_CUES, UNITS
from agent.need_kinds import WORK_WORDS
from agent.needs import FITS, Need
from agent.shapes import likeness
from agent.spans import Span
from agent.standing import is_aim, is_personal, standing
from agent.values import enum_value, listed, value_for
from graph.identifiers import words

FLOOR = 0.5
"""Below this a span is no value for a required parameter."""

_LAST_NUMBER = 0.3
_LAST_CHANCE = 0.4
_NAMES_WANTED = frozenset({"organization", "person", "place", "query", "entity"})

STRONG = 0.8
"""From here on a span is good enough for an optional parameter, which nobody asked to be filled."""

_LENGTHS = frozenset({"kilometer", "meter", "mile", "foot", "centimeter", "inch"})
_SPELLS = frozenset({"minute", "hour", "second", "day", "week"})
_DIMENSIONS = {
    "radius": _LENGTHS, "distance": _LENGTHS, "height": _LENGTHS, "length": _LENGTHS, "day": frozenset({"day"}), "duration": _SPELLS,
    "weight": frozenset({"kilogram", "pound", "gram"}), "temperature": frozenset({"celsius", "fahrenheit", "kelvin"}),
    "percent": frozenset({"%"}), "rate": frozenset({"%"}), "year": frozenset({"year"}), "month": frozenset({"month"}),
    "hour": frozenset({"hour"}), "minute": frozenset({"minute"}),
}  # fmt: skip
_MEASURED = frozenset({"amount", "value", "quantity"})
_COUNTING = frozenset({"limit", "count", "size", "quantity", "result", "top", "maximum", "amount", "number"})
_QUALIFIERS = frozenset(
    {"id", "name", "code", "from", "to", "start", "end", "number", "value", "query", "q", "key", "type", "in", "of"}
)
_CONVERTED = frozenset({"currency", "unit", "language"})
"""What things are converted into: ``10 miles in [kilometres]``."""
_SMALL_WORDS = frozenset({"and", "or", "in", "to", "for", "of", "on", "at", "by", "with"})
_TOLD_BY_NAME = frozenset({"amount", "number", "identifier", "entity", "year", "latitude", "longitude"})
_TITLED = re.compile(r"^(?:The|An?)\s|\s[a-z]+\s")
_YEAR = re.compile(r"(1[89]|20)\d\d")


@dataclass(frozen=True, slots=True)
class Reading:
    """A value for a parameter with its strength in [0, 1] and the span it comes from."""

    value: JsonValue
    score: float
    span: Span


def readings(need: Need, spans: tuple[Span, ...], request: str, *, lenient: bool = False) -> list[Reading]:
    """What reaches the floor for this need (``FLOOR``, or ``STRONG`` where it is optional), best first, then by place.

    ``lenient``: the best readings led to nothing, and weaker ones count as well.
    """
    floor = _LAST_CHANCE / 2 if lenient else FLOOR if need.required else STRONG
    found = list(_mentioned(need, spans, request) if need.enum else _typed(need, spans))
    good = [item for item in found if item.score >= floor] or (_only_name(need, found, spans) if need.required else [])
    return sorted(good, key=lambda item: (-item.score, item.span.start))


def _only_name(need: Need, found: list[Reading], spans: tuple[Span, ...]) -> list[Reading]:
    """The only thing that a request names, for a required parameter that wants a name: what else could be meant?"""
    named = [span for span in spans if span.kind in ("name", "quoted")]
    if need.kind in ("amount", "number") and need.required:
        return _only_number(found, spans)
    if need.kind not in _NAMES_WANTED or not named or any(not span.overlaps(named[0]) for span in named):
        return []
    fit = [item for item in found if item.score >= _LAST_CHANCE and item.span.kind in ("name", "quoted")]
    return [Reading(item.value, FLOOR, item.span) for item in fit]


def _only_number(found: list[Reading], spans: tuple[Span, ...]) -> list[Reading]:
    """The only number of a request that is no year, no measure and no part of anything else."""
    plain = [span for span in spans if span.kind == "number" and not span.unit and not _YEAR.fullmatch(span.value)]
    plain = [
        span
        for span in plain
        if not any(
            span is not other and span.overlaps(other)
            for other in spans
            if other.kind in ("date", "time", "quoted", "code")
        )
    ]
    if len(plain) != 1:
        return []
    return [
        Reading(item.value, FLOOR, item.span) for item in found if item.span is plain[0] and item.score >= _LAST_NUMBER
    ]


def _mentioned(need: Need, spans: tuple[Span, ...], request: str) -> Iterator[Reading]:
    """Members of the enum that the request names."""
    for span in spans:
        value = enum_value(span.value, need)
        if value is not None:
            yield Reading(listed(value, need), min(1.0, 0.9 + _role(need, span)), span)
    for value in need.enum:
        if not isinstance(value, str) or len(value) < 2:
            continue
        hit = re.search(rf"(?<!\w){re.escape(value.replace('_', ' '))}s?(?!\w)", request, re.I)
        if hit and (need.required or not is_aim(request, hit.start())):
            before = tuple(re.findall(r"\w+", request[: hit.start()].lower())[-4:])
            span = Span("phrase", hit[0], hit[0], hit.start(), hit.end(), before)
            yield Reading(listed(value, need), min(1.0, 0.9 + _role(need, span)), span)


def _typed(need: Need, spans: tuple[Span, ...]) -> Iterator[Reading]:
    fits = FITS[need.kind]
    typed = frozenset((span.start, span.end) for span in spans if span.kind == "currency")
    for span in spans:
        base = fits.get(span.kind)
        numeral = span.kind == "phrase" and span.text[0].isdigit()
        value = None if base is None or numeral else value_for(span, need)
        if base is not None and value is not None:
            score = base + _beside(need, span) + _role(need, span) + _manner(need, span) + standing(need, span, typed)
            yield Reading(value, round(max(0.0, min(1.0, score)), 6), span)


def _beside(need: Need, span: Span) -> float:
    """The parameter's own words right beside the span: ``limit of 5``, ``person 17``, ``artist Eminem``."""
    if "name" in need.words and span.before[-4:] in BOOKED_CUES:
        return 0.5
    if need.kind == "query" and span.text[:1].isupper() and span.cue == "of":
        return 0.0  # the interests of Jane: hers, not Jane
    own = set(need.words)
    specific = own - _QUALIFIERS or (own if need.kind in ("identifier", "query") else set[str]())
    after = () if need.kind == "query" and is_personal(span) else span.after[:1]  # what [Jane Doe] is interested in
    near = {word for token in (*span.before[-3:], *after) for word in words(token)}
    if specific & near or any(token.startswith(word) for word in specific if len(word) >= 5 for token in near):
        return 0.5 if need.kind in _TOLD_BY_NAME else 0.2
    if need.kind == "identifier" and span.kind == "code" and (need.described & near) - _QUALIFIERS - _SMALL_WORDS:
        return 0.25
    return 0.0


def _role(need: Need, span: Span) -> float:
    """``from`` and ``to`` in the request against the parameter's own role."""
    if not need.role:
        return 0.0
    side = "from" if span.cue in FROM_CUES else "to" if span.cue in TO_CUES else ""
    if span.cue == "and" and "between" in span.before[-4:]:
        side = "to"
    if "many" in span.before[-2:] or (span.cue == "in" and need.kind in _CONVERTED):
        side = "to"
    if not side:
        return 0.0 if need.role == "from" else -0.1
    return 0.1 if side == need.role else -0.35


def _manner(need: Need, span: Span) -> float:
    """What else the words around say about a span, by the kind of need."""
    cue, named = span.cue, span.cue in NAMING_CUES
    match need.kind:
        case "amount" | "number":
            return _number_manner(need, span)
        case "place":
            return _place_manner(span)
        case "person":
            return _personal_manner(need, span)
        case "organization":
            return 0.33 if cue == "at" else 0.1 if named or cue in ("from", "of", "by") else 0.0
        case "query":
            return _topic_manner(span)
        case "identifier":
            return likeness(need.example, span.text)
        case "symbol":
            return 0.1 if span.text.isupper() else -0.2 if any(map(str.isalpha, span.text)) else -0.5
        case "entity":
            return _entity_manner(need, span)
        case "currency" if need.role and (
            cue[:1].isdigit() or cue in NUMBER_WORDS
        ):  # an amount's own currency is what it is converted from
            return 0.1 if need.role == "from" else -0.35
        case "date" | "time":
            return _day_manner(need, span)
        case "year":
            return 0.85 if _YEAR.fullmatch(span.value) and not span.unit else 0.0
        case _:
            return 0.0


def _place_manner(span: Span) -> float:
    if any(character.isdigit() for character in span.text):
        return -0.4  # an order's number is no town
    return 0.25 if span.cue in PLACE_CUES - {"for", "of", "and"} else 0.15 if span.cue in PLACE_CUES else 0.0


def _day_manner(need: Need, span: Span) -> float:
    """A day and an hour in one: said as a day with its hour, or as an hour of today."""
    if FITS[need.kind][span.kind] > 0.0 or not wants_both(described=need.form, example=need.example):
        return 0.0
    return {"date": 0.95, "time": 0.8}.get(span.kind, 0.0)


def _personal_manner(need: Need, span: Span) -> float:
    if span.cue in ("in", "at", "to"):
        return -0.25
    return 0.1 if span.cue in NAMING_CUES | {"by", "of", "for", "about"} or span.cue in need.described else 0.0


def _entity_manner(need: Need, span: Span) -> float:
    if span.kind == "number":
        return 0.0 if _beside(need, span) else -0.42
    if "/" in need.example and "/" not in span.text:
        return -0.3  # zones, paths and the like: the example shows the form
    return 0.12 if span.cue in NAMING_CUES | {"by", "about", "for"} else 0.0


def _topic_manner(span: Span) -> float:
    """``the film [A Winter in Moonfall]``: small words within a name make it a title. ``videos about [drones] on [YouTube]``: a topic follows *about*, a name after *on* or *in* is where to look."""
    if span.kind == "quoted":
        return 0.05 if span.cue in NAMING_CUES else 0.0
    if span.kind == "name" and (_TITLED.search(span.text) or span.cue in WORK_WORDS):
        return 0.12
    if (
        span.kind == "phrase"
        and span.after[:1]
        and span.after[0] in ("of", "about", "related", "by", "on", "named", "called")
    ):
        return -0.1
    if span.cue in ("about", "for", "regarding") or span.cue in NAMING_CUES:
        return 0.15
    return (
        -0.1
        if span.cue in (("in", "to") if span.kind == "phrase" else ("in", "to", "on", "at", "from", "with"))
        else 0.0
    )


def _number_manner(need: Need, span: Span) -> float:
    own = set(need.words)
    if any(span.unit in _DIMENSIONS.get(word, frozenset[str]()) for word in own):
        return 0.5
    if span.unit in UNITS.values():
        return 0.4 if own & _MEASURED else -0.2
    if span.unit and span.unit != "%":  # a currency
        return 0.5 if need.kind == "amount" else -0.2
    if _YEAR.fullmatch(span.value) and not span.unit:
        return -0.3
    counted = own & _COUNTING and span.after and span.after[0] not in _SMALL_WORDS
    return 0.25 if counted else 0.12 if need.kind == "amount" else 0.0
