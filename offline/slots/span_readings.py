"""Read the values that a request offers for a parameter, convert them to its type and format, and score them.

For calls that change something, some parameters take their values from the request alone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache

from pydantic.types import JsonValue

from agent.parameter_needs import UNFILLED_KINDS, ParameterNeed, mentions_person
from domain.tool import ToolDoc
from graph.identifiers import split_words
from offline.nlp.entities import Span, find_spans
from offline.nlp.gazetteer import word_set
from offline.slots.slot_values import convert_span, find_enum_member, wrap_enum_value
from offline.slots.span_scoring import (
    KIND_SCORES,
    YEAR,
    is_target_state,
    score_adjacent_words,
    score_context,
    score_form,
    score_role,
)

MIN_SCORE = 0.5
"""Score that a span needs for a required parameter."""

_MIN_ONLY_NUMBER = 0.3
"""Score that a request's only number needs to be read for a required parameter."""
_MIN_ONLY_NAME = 0.4
"""Score that a request's only name needs to be read for a required parameter."""
_NAME_KINDS = word_set("organization person place query entity")
"""Kinds of parameters that take a name."""

MIN_OPTIONAL_SCORE = 0.8
"""Score that a span needs for an optional parameter, which nobody asked to be filled."""


@dataclass(frozen=True, slots=True)
class SpanReading:
    """A span read as a value for a parameter."""

    value: JsonValue
    score: float
    """How well the span fits, in [0, 1]."""
    span: Span


def rank_readings(
    need: ParameterNeed, spans: tuple[Span, ...], request: str, *, lenient: bool = False
) -> list[SpanReading]:
    """Rank the readings that score high enough for a need: best first, then in the order of the request.

    ``lenient``: weaker readings count as well, since the best have failed.
    """
    floor = _MIN_ONLY_NAME / 2 if lenient else MIN_SCORE if need.required else MIN_OPTIONAL_SCORE
    candidates = list(_read_enum_members(need, spans, request) if need.enum else _read_typed_spans(need, spans))
    accepted = [item for item in candidates if item.score >= floor] or (
        _read_only_name(need, candidates, spans) if need.required else []
    )
    return sorted(accepted, key=lambda item: (-item.score, item.span.start))


def _read_only_name(need: ParameterNeed, candidates: list[SpanReading], spans: tuple[Span, ...]) -> list[SpanReading]:
    """Read the only thing that a request names, or its only number, for a required parameter that nothing else fits."""
    names = [span for span in spans if span.kind in ("name", "quoted")]
    if need.kind in ("amount", "number") and need.required:
        return _read_only_number(candidates, spans)
    if need.kind not in _NAME_KINDS or not names or any(not span.overlaps(names[0]) for span in names):
        return []
    usable = [item for item in candidates if item.score >= _MIN_ONLY_NAME and item.span.kind in ("name", "quoted")]
    return [SpanReading(item.value, MIN_SCORE, item.span) for item in usable]


def _read_only_number(candidates: list[SpanReading], spans: tuple[Span, ...]) -> list[SpanReading]:
    """Read the only number of a request that is no year, has no unit and is no part of another value."""
    plain_numbers = [
        span for span in spans if span.kind == "number" and not span.unit and not YEAR.fullmatch(span.value)
    ]
    plain_numbers = [
        span
        for span in plain_numbers
        if not any(
            span is not other and span.overlaps(other)
            for other in spans
            if other.kind in ("date", "time", "quoted", "code")
        )
    ]
    if len(plain_numbers) != 1:
        return []
    return [
        SpanReading(item.value, MIN_SCORE, item.span)
        for item in candidates
        if item.span is plain_numbers[0] and item.score >= _MIN_ONLY_NUMBER
    ]


def _read_enum_members(need: ParameterNeed, spans: tuple[Span, ...], request: str) -> Iterator[SpanReading]:
    """Yield the members of the enum that the request names, by a synonym or in its own words."""
    for span in spans:
        value = find_enum_member(span.value, need)
        if value is not None:
            yield SpanReading(wrap_enum_value(value, need), min(1.0, 0.9 + score_role(need, span)), span)
    for value in need.enum:
        if not isinstance(value, str) or len(value) < 2:
            continue
        hit = re.search(rf"(?<!\w){re.escape(value.replace('_', ' '))}s?(?!\w)", request, re.I)
        if hit and (need.required or not is_target_state(request, hit.start())):
            words_before = tuple(re.findall(r"\w+", request[: hit.start()].lower())[-4:])
            span = Span("phrase", hit[0], hit[0], hit.start(), hit.end(), words_before)
            yield SpanReading(wrap_enum_value(value, need), min(1.0, 0.9 + score_role(need, span)), span)


def _read_typed_spans(need: ParameterNeed, spans: tuple[Span, ...]) -> Iterator[SpanReading]:
    """Yield the spans whose kind fits the need, scored by kind and by the words around them."""
    kind_scores = KIND_SCORES[need.kind]
    currency_places = frozenset((span.start, span.end) for span in spans if span.kind == "currency")
    for span in spans:
        base = kind_scores.get(span.kind)
        value = None if base is None else convert_span(span, need)
        if base is not None and value is not None:
            score = (
                base
                + score_adjacent_words(need, span)
                + score_role(need, span)
                + score_context(need, span)
                + score_form(need, span, currency_places)
            )
            yield SpanReading(value, round(max(0.0, min(1.0, score)), 6), span)


def get_today() -> date:
    """Return the local date, which relative dates count from."""
    return datetime.now().astimezone().date()


def find_readings(need: ParameterNeed, request: str, day: date, *, lenient: bool = False) -> tuple[SpanReading, ...]:
    """Return the readings for a need, best first; ``lenient``: with weaker ones, since the best have failed."""
    return () if need.kind in UNFILLED_KINDS else _find_cached_readings(need, request, day, lenient)


@lru_cache(maxsize=16_384)
def _find_cached_readings(need: ParameterNeed, request: str, day: date, lenient: bool) -> tuple[SpanReading, ...]:
    """Find readings through a cache: each node of a search asks again for every candidate."""
    return tuple(rank_readings(need, find_spans(request, day), request, lenient=lenient))


_DECIDED_KINDS = frozenset({"date", "time", "year", "number"})
"""Kinds of values that only the user may decide for a change."""
_NAME_FORMS = word_set("name full first last given family middle display user nick")
"""Words for the form of a name, which do not say whose name it is."""


def is_user_decision(need: ParameterNeed, tool: ToolDoc, *, is_stated: bool) -> bool:
    """Return whether a parameter of a call that changes something must not be filled from an earlier response.

    ``is_stated``: the request has a value for it. A person that the request names is the one who is meant.
    """
    return not tool.safe and (need.kind in _DECIDED_KINDS or (is_stated and need.kind == "person"))


def is_other_name(field: str, need: ParameterNeed, tool: ToolDoc) -> bool:
    """Return whether a field holds the name of something other than a person, such as ``room_name``.

    It must not fill a parameter for the person in whose name a change is made; for all other parameters the result is
    False.
    """
    if tool.safe or need.kind != "person":
        return False
    name_words = frozenset(split_words(field.rpartition(".")[2])) - _NAME_FORMS
    return bool(name_words) and name_words.isdisjoint(need.words) and not mentions_person(name_words)
