"""Read which values a request offers for a parameter, and how strongly.

Some parameters of calls that change something take their values from the request alone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache

from pydantic.types import JsonValue

from agent.parameters.kinds import UNTOUCHED, names_person
from agent.parameters.needs import Need
from domain.tool import ToolDoc
from graph.identifiers import words
from offline.nlp.entities import Span, spans
from offline.nlp.gazetteer import word_set
from offline.slots.slot_values import enum_value, listed, value_for
from offline.slots.span_scoring import FITS, YEAR, beside, is_aim, manner, role, standing

FLOOR = 0.5
"""Score below which a span is no value for a required parameter."""

_LAST_NUMBER = 0.3
_LAST_CHANCE = 0.4
_NAMES_WANTED = word_set("organization person place query entity")

STRONG = 0.8
"""Score from which a span is good enough for an optional parameter, which nobody asked to be filled."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A value for a parameter with its score in [0, 1], and the span it was read from."""

    value: JsonValue
    score: float
    span: Span


def readings(need: Need, spans: tuple[Span, ...], request: str, *, lenient: bool = False) -> list[Reading]:
    """Rank the readings that reach the minimum score for this need, best first, then by place.

    ``lenient``: the best readings failed, and weaker ones count as well.
    """
    floor = _LAST_CHANCE / 2 if lenient else FLOOR if need.required else STRONG
    found = list(_mentioned(need, spans, request) if need.enum else _typed(need, spans))
    good = [item for item in found if item.score >= floor] or (_only_name(need, found, spans) if need.required else [])
    return sorted(good, key=lambda item: (-item.score, item.span.start))


def _only_name(need: Need, found: list[Reading], spans: tuple[Span, ...]) -> list[Reading]:
    """Read the only thing that a request names, for a required parameter that wants a name."""
    named = [span for span in spans if span.kind in ("name", "quoted")]
    if need.kind in ("amount", "number") and need.required:
        return _only_number(found, spans)
    if need.kind not in _NAMES_WANTED or not named or any(not span.overlaps(named[0]) for span in named):
        return []
    fit = [item for item in found if item.score >= _LAST_CHANCE and item.span.kind in ("name", "quoted")]
    return [Reading(item.value, FLOOR, item.span) for item in fit]


def _only_number(found: list[Reading], spans: tuple[Span, ...]) -> list[Reading]:
    """Read the only number of a request that is no year, no measure and no part of anything else."""
    plain = [span for span in spans if span.kind == "number" and not span.unit and not YEAR.fullmatch(span.value)]
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
    """Read the members of the enum that the request names."""
    for span in spans:
        value = enum_value(span.value, need)
        if value is not None:
            yield Reading(listed(value, need), min(1.0, 0.9 + role(need, span)), span)
    for value in need.enum:
        if not isinstance(value, str) or len(value) < 2:
            continue
        hit = re.search(rf"(?<!\w){re.escape(value.replace('_', ' '))}s?(?!\w)", request, re.I)
        if hit and (need.required or not is_aim(request, hit.start())):
            before = tuple(re.findall(r"\w+", request[: hit.start()].lower())[-4:])
            span = Span("phrase", hit[0], hit[0], hit.start(), hit.end(), before)
            yield Reading(listed(value, need), min(1.0, 0.9 + role(need, span)), span)


def _typed(need: Need, spans: tuple[Span, ...]) -> Iterator[Reading]:
    """Read spans of kinds that fit the need, scored by kind and by the words around them."""
    fits = FITS[need.kind]
    typed = frozenset((span.start, span.end) for span in spans if span.kind == "currency")
    for span in spans:
        base = fits.get(span.kind)
        value = None if base is None else value_for(span, need)
        if base is not None and value is not None:
            score = base + beside(need, span) + role(need, span) + manner(need, span) + standing(need, span, typed)
            yield Reading(value, round(max(0.0, min(1.0, score)), 6), span)


def today() -> date:
    """Return the local date, from which relative dates count."""
    return datetime.now().astimezone().date()


def told(need: Need, request: str, day: date, *, lenient: bool = False) -> tuple[Reading, ...]:
    """Find the readings of a need, best first; ``lenient``: the best ones failed."""
    return () if need.kind in UNTOUCHED else _read(need, request, day, lenient)


@lru_cache(maxsize=16_384)
def _read(need: Need, request: str, day: date, lenient: bool) -> tuple[Reading, ...]:
    """Find readings with a cache: each node of a search asks again, for every candidate."""
    return tuple(readings(need, spans(request, day), request, lenient=lenient))


_DECIDED = frozenset({"date", "time", "year", "number"})
_FORMS = word_set("name full first last given family middle display user nick")
"""Words for the form of a name, which do not say whose name it is."""


def asker_decides(need: Need, tool: ToolDoc, *, told: bool) -> bool:
    """Return whether no earlier response may fill a parameter of a call that changes something.

    ``is_stated``: the request has a value for it. A person that the request names is the one that is meant.
    """
    return not tool.safe and (need.kind in _DECIDED or (told and need.kind == "person"))


def of_another(field: str, need: Need, tool: ToolDoc) -> bool:
    """Return whether a field holds the name of something other than a person: ``room_name``.

    It matters for a parameter that takes the person in whose name a change is made.
    """
    if tool.safe or need.kind != "person":
        return False
    own = frozenset(words(field.rpartition(".")[2])) - _FORMS
    return bool(own) and own.isdisjoint(need.words) and not names_person(own)
