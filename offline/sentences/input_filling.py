"""Fill the parameters of an offered function from the request alone, in every way that makes sense."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from pydantic.types import JsonValue

from agent.parameter_needs import UNFILLED_KINDS, ParameterNeed, derive_need
from agent.programs.signatures import ToolSignature
from domain.tool import Parameter, ToolDoc
from graph.identifiers import extract_words, singularize, split_words
from offline.nlp.asked_words import find_synonyms
from offline.nlp.coordination import is_coordination
from offline.nlp.entities import Span
from offline.sentences.fields import AnswerField, list_fields
from offline.sentences.kind_nouns import find_head_noun, find_list_noun
from offline.sentences.parsed_request import ParsedRequest
from offline.slots.binding import assign_from_request, get_default
from offline.slots.span_readings import SpanReading, find_readings

_SENTENCE_END = re.compile(r"[.:;(\n]")
_FREE_TEXT_KINDS = frozenset({"query", "text", "entity", "person", "organization", "place", "symbol"})
"""Kinds of parameters that take words of the request which nothing marks as a value."""
_MIN_OPTIONAL_SCORE = 0.6
_MIN_LIKENESS = 0.5
_LIKENESS_MARGIN = 0.1
"""How much worse than the bound name another name of the request may fit."""
_NAMING_WORD_SCORE = 0.3
"""Score of a word before a name that is also a word of the function."""
_DROP_LOSS = 0.4
"""Cost of leaving out an optional value."""
_SEARCH_KINDS = frozenset({"query", "entity", "person", "place", "organization", "symbol", "country"})


@dataclass(frozen=True, eq=False)
class OfferedFunction:
    """A function of the offer, with its tool's document."""

    signature: ToolSignature
    doc: ToolDoc
    position: int
    """Index in the offer, from 0."""

    @property
    def name(self) -> str:
        """Name of the function in the offer."""
        return self.signature.name

    @cached_property
    def name_words(self) -> frozenset[str]:
        """Words of the names of its tool and tool set."""
        return frozenset(split_words(self.doc.api)) | frozenset(split_words(self.doc.toolset))

    @cached_property
    def description_words(self) -> frozenset[str]:
        """Words of its description."""
        return extract_words(self.doc.description)

    @cached_property
    def description_nouns(self) -> frozenset[str]:
        """Nouns that its description's sentences begin with: *visit* of "The visits of a ship"."""
        begun = (find_head_noun(one.partition(",")[0]) for one in _SENTENCE_END.split(self.doc.description))
        return frozenset[str]().union(*begun)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Nouns for the things that it returns, from its name and the names of its lists."""
        lists = (find_list_noun(one.path) for one in self.fields if "[]" in one.path)
        return find_head_noun(self.doc.api).union(*lists)

    @property
    def vocabulary(self) -> frozenset[str]:
        """Words of its name and description, and of its fields."""
        return self.name_words.union(
            self.description_words, *(one.name_words | one.description_words for one in self.fields)
        )

    @cached_property
    def fields(self) -> tuple[AnswerField, ...]:
        """Fields of its response."""
        return list_fields(self.doc)

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """Parameters by the names that the function has for them."""
        parameters_by_name = {one.name: one for one in self.doc.parameters}
        return {
            name: parameters_by_name[own] for name, own in self.signature.arguments.items() if own in parameters_by_name
        }


@dataclass(frozen=True, slots=True)
class FilledValue:
    """A value that a parameter gets from the request."""

    value: JsonValue
    spans: tuple[Span, ...] = ()
    """Spans that the value was read from; empty for a default."""
    likeness: float = 0.0
    """How well the value fits the parameter, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class InputFilling:
    """One way to fill a function's parameters."""

    filled: Mapping[str, FilledValue]
    """Values by the function's names of the parameters."""
    listed_values: tuple[str, tuple[SpanReading, ...]] | None = None
    """A parameter with several values, for each of which a call is made; None if there is none."""
    loss: float = 0.0
    """Cost of the filling in comparison with the most obvious one."""


def find_fillings(
    function: OfferedFunction, parsed: ParsedRequest, linked: frozenset[str] = frozenset()
) -> Iterator[InputFilling]:
    """Yield the ways to fill the parameters that are not ``linked``, which earlier results fill.

    Nothing is yielded if a required parameter stays open.
    """
    parameters = {name: variant for name, variant in function.parameters.items() if name not in linked}
    doc = replace_parameters(function.doc, tuple(parameters.values()))
    assigned_values = assign_from_request(doc, parsed.request, parsed.today, _MIN_OPTIONAL_SCORE)
    filled: dict[str, FilledValue] = {}
    for name, parameter in parameters.items():
        assigned_value = assigned_values.get(parameter.name)
        if assigned_value is not None and assigned_value.span is not None and parsed.is_value(assigned_value.span):
            likeness = assigned_value.score * _score_case(assigned_value.span.text, derive_need(parameter).example)
            if parameter.required or likeness >= _MIN_LIKENESS:
                filled[name] = FilledValue(assigned_value.value, (assigned_value.span,), likeness)
    for variant in (filled, *_exchange_names(parameters, filled, parsed)):
        yield from _complete_fillings(function, parameters, variant, parsed)
    for variant in _drop_optional(parameters, filled):
        yield from (replace(way, loss=_DROP_LOSS) for way in _complete_fillings(function, parameters, variant, parsed))


def _complete_fillings(
    function: OfferedFunction,
    parameters: Mapping[str, Parameter],
    filled: dict[str, FilledValue],
    parsed: ParsedRequest,
) -> Iterator[InputFilling]:
    """Yield a partial filling with phrases for free text, defaults, and enumerated values."""
    open_names = [name for name, one in parameters.items() if one.required and name not in filled]
    for with_phrase in _add_phrases(parameters, filled, open_names, parsed):
        if (completed := _add_defaults(function, parameters, with_phrase)) is not None:
            yield InputFilling(completed)
            yield from _fill_with_lists(parameters, completed, parsed)


def _exchange_names(
    parameters: Mapping[str, Parameter], filled: Mapping[str, FilledValue], parsed: ParsedRequest
) -> Iterator[dict[str, FilledValue]]:
    """Yield fillings that search by another name of the request.

    Which of several names is meant shows only in what the sentence does with the others.
    """
    for name, searched_value in filled.items():
        need = derive_need(parameters[name])
        if need.kind not in _SEARCH_KINDS or not parameters[name].required or not searched_value.spans:
            continue
        used_spans = [span for each in filled.values() for span in each.spans]
        for reading in find_readings(need, parsed.request, parsed.today):
            is_alike = (
                reading.span.kind == searched_value.spans[0].kind
                and reading.score >= searched_value.likeness - _LIKENESS_MARGIN
            )
            is_enumerated = any(are_neighbours(reading.span, span, parsed.request) for span in used_spans)
            if is_alike and not is_enumerated and not any(reading.span.overlaps(span) for span in used_spans):
                yield {**filled, name: FilledValue(reading.value, (reading.span,), reading.score)}


def _drop_optional(
    parameters: Mapping[str, Parameter], filled: Mapping[str, FilledValue]
) -> Iterator[dict[str, FilledValue]]:
    """Yield fillings without one of the optional values, which may be about something that a later call finds."""
    if len(filled) > 1:
        for dropped in (name for name, one in filled.items() if one.spans and not parameters[name].required):
            yield {name: one for name, one in filled.items() if name != dropped}


def score_naming_word(span: Span, function_words: frozenset[str]) -> float:
    """Score a word of the function before a name, such as *ship* in "the ship Queen Maud"."""
    return _NAMING_WORD_SCORE if span.cue in function_words else 0.0


def replace_parameters(doc: ToolDoc, parameters: tuple[Parameter, ...]) -> ToolDoc:
    """Return the document with these parameters alone."""
    return doc if len(parameters) == len(doc.parameters) else doc.model_copy(update={"parameters": parameters})


def _score_case(text: str, example: str) -> float:
    """Return a factor below 1 for a capitalised text where the example is in lower case."""
    return 0.4 if example[:1].islower() and text[:1].isupper() and not text.isupper() else 1.0


def _add_defaults(
    function: OfferedFunction, parameters: Mapping[str, Parameter], filled: Mapping[str, FilledValue]
) -> dict[str, FilledValue] | None:
    """Add the defaults of required parameters; None if one has none."""
    completed = dict(filled)
    for name, parameter in parameters.items():
        if parameter.required and name not in completed:
            default = get_default(parameter, function.doc)
            if default is None:
                return None
            completed[name] = FilledValue(default)
    return completed


def _add_phrases(
    parameters: Mapping[str, Parameter], filled: Mapping[str, FilledValue], open_names: list[str], parsed: ParsedRequest
) -> Iterator[dict[str, FilledValue]]:
    """Yield the filling unchanged, then with a phrase for each open parameter that takes free text."""
    yield dict(filled)
    for name, parameter in parameters.items():
        if name in filled or (open_names and name not in open_names):
            continue
        for phrase in find_phrases(derive_need(parameter), parsed, needs_hint=not parameter.required)[:2]:
            text = singularize(phrase.text) if phrase in parsed.classes else phrase.text
            yield {**filled, name: FilledValue(text, (phrase,), 0.6)}


def find_phrases(need: ParameterNeed, parsed: ParsedRequest, *, needs_hint: bool = True) -> list[Span]:
    """Find the phrases that may be a value, likeliest first.

    Phrases are in lower case, so an example in capitals or with digits rules them out. ``needs_hint``: only phrases
    beside words that name the parameter.
    """
    if (
        need.kind not in _FREE_TEXT_KINDS
        or need.enum
        or need.type not in ("string", "array")
        or need.kind in UNFILLED_KINDS
    ):
        return []
    if need.example and (not need.example[:1].islower() or any(one.isdigit() for one in need.example)):
        return []
    length = len(need.example.split()) if need.example else 2
    fitting = [one for one in parsed.phrases if one.text[:1].islower() and (not needs_hint or _is_hinted(one, need))]
    return sorted(fitting, key=lambda one: (not _is_hinted(one, need), abs(len(one.text.split()) - length)))


def _is_hinted(phrase: Span, need: ParameterNeed) -> bool:
    """Return whether words beside a phrase refer to what is needed."""
    nearby_words = {word for word in (*phrase.before[-3:], *phrase.after[:1]) if len(word) > 3}
    if phrase.cue == "about" and _TOPIC_WORDS & set(need.words):
        return True
    need_words = set(need.words) | (need.description_words - _SMALL_WORDS)
    return any(
        word in need_words or word[:6] in {other[:6] for other in need_words} or find_synonyms(word) & need_words
        for word in nearby_words
    )


_TOPIC_WORDS = frozenset({"subject", "topic", "theme", "keyword"})
_SMALL_WORDS = frozenset({"the", "a", "of", "or", "in", "to", "for", "and", "name"})


def _fill_with_lists(
    parameters: Mapping[str, Parameter], filled: Mapping[str, FilledValue], parsed: ParsedRequest
) -> Iterator[InputFilling]:
    """Yield fillings that make one call for each of the values that the request enumerates."""
    for name, value in filled.items():
        if not value.spans or value.likeness <= 0:
            continue
        need = derive_need(parameters[name].model_copy(update={"required": True}))
        used_spans = [span for other, more in filled.items() if other != name for span in more.spans]
        alternatives = [
            value
            for value in find_readings(need, parsed.request, parsed.today)
            if not any(value.span.overlaps(other) for other in used_spans)
        ]
        enumerated_readings = _find_enumeration(alternatives, value.spans[0], parsed.request)
        if len(enumerated_readings) > 1:
            yield InputFilling({key: own for key, own in filled.items() if key != name}, (name, enumerated_readings))


def _find_enumeration(readings: Sequence[SpanReading], about: Span, request: str) -> tuple[SpanReading, ...]:
    """Find the values of the enumeration that ``about`` is part of; empty if it is in none.

    However weakly one of them reads by itself, it is as good as its neighbours.
    """
    readings_of_kind = [reading for reading in readings if reading.span.kind == about.kind]
    readings_of_kind = [
        reading
        for reading in readings_of_kind
        if not (reading.span.overlaps(about) and _is_enumeration(reading.span, readings_of_kind, request))
    ]
    enumeration: list[SpanReading] = []
    for reading in sorted(readings_of_kind, key=lambda one: (one.span.start, -one.span.end)):
        if enumeration and reading.span.overlaps(enumeration[-1].span):
            continue
        if enumeration and not _are_enumerated([enumeration[-1], reading], request):
            if any(own.span.overlaps(about) for own in enumeration):
                break
            enumeration = []
        enumeration.append(reading)
    return tuple(enumeration) if any(own.span.overlaps(about) for own in enumeration) else ()


def _is_enumeration(outer: Span, readings: Sequence[SpanReading], request: str) -> bool:
    """Return whether a span is an enumeration of other spans rather than one thing."""
    inner = [one for one in readings if one.span != outer and outer.start <= one.span.start < one.span.end <= outer.end]
    return len(inner) > 1 and _are_enumerated(sorted(inner, key=lambda one: one.span.start), request)


def _are_enumerated(readings: Sequence[SpanReading], request: str) -> bool:
    """Return whether values stand in one enumeration."""
    return all(_is_joined(one.span, other.span, request) for one, other in pairwise(readings))


def _is_joined(first: Span, second: Span, request: str) -> bool:
    before, between = request[: first.start].rstrip(_QUOTES), request[first.end : second.start]
    return bool(_JOINS.fullmatch(between)) or is_coordination(before, between.strip(_QUOTES))


def are_neighbours(span: Span, other_span: Span, request: str) -> bool:
    """Return whether two values are neighbours in one enumeration."""
    first, second = sorted((span, other_span), key=lambda span: span.start)
    return span.kind == other_span.kind and bool(_AND.fullmatch(request[first.end : second.start]))


_QUOTES = "\"'“”‘’"
_AND = re.compile(r"[\s\"'”’“‘]*(?:,|\b(?:and|or|vs\.?|versus)\b|&)\s*(?:(?:the|an?)\b)?[\s\"'“‘]*", re.I)
_JOINS = re.compile(
    r"[\s,;\"'”’“‘]*(?:(?:and|or|vs\.?|versus|than|with|to|&|/|,)[\s\"'“‘,]*)(?:(?:else|also|in|at|of|by|from|for|on|the|another)\s+){0,3}[\"'“‘]?",
    re.I,
)
