"""Score a parsed request against the functions that are offered for it."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from agent.parameter_needs import ParameterNeed, derive_need
from domain.tool import Parameter
from graph.coupling import find_couplings, output_fields
from graph.identifiers import extract_words, split_words
from offline.nlp.asked_words import group_asked_words
from offline.nlp.entities import Span
from offline.planning_time import PlanningClock
from offline.sentences.fields import AnswerField
from offline.sentences.input_filling import InputFilling, OfferedFunction, find_fillings, find_phrases
from offline.sentences.parsed_request import (
    COUNT_UNIT,
    ParsedRequest,
    find_topic_meanings,
    find_where_meanings,
    split_questions,
)
from offline.slots.span_readings import SpanReading, find_readings

_MIN_NAME_STRENGTH = 0.8


class SentenceContext:
    """Scores between one request and its offered functions; whatever every draft asks again is cached."""

    def __init__(self, parsed: ParsedRequest, functions: Sequence[OfferedFunction], clock: PlanningClock) -> None:
        self.parsed = parsed
        self.clock = clock
        self._value_numbers: dict[tuple[int, int], tuple[int, ...]] = {}
        self.functions = functions
        self._fillings: dict[tuple[str, frozenset[str]], list[InputFilling]] = {}
        self._links: dict[tuple[str, str, str], dict[str, float]] = {}
        self._strengths: dict[object, tuple[float, ...]] = {}
        self._readings: dict[AnswerField, list[SpanReading]] = {}
        self._phrases: dict[AnswerField, list[Span]] = {}

    def find_fillings(self, function: OfferedFunction, linked: frozenset[str] = frozenset()) -> list[InputFilling]:
        """Return the ways to fill the parameters of a function that are not ``linked``."""
        key = function.name, linked
        if key not in self._fillings:
            self._fillings[key] = list(find_fillings(function, self.parsed, linked))
        return self._fillings[key]

    def score_link(
        self, source: OfferedFunction, field: AnswerField, target: OfferedFunction, parameter: Parameter
    ) -> float:
        """Score how well a response field of one function fits a parameter of another, from 0 to 1."""
        key = source.name, target.name, parameter.name
        if key not in self._links:
            found_couplings = find_couplings(output_fields(source.doc), source.doc, parameter, target.doc, echoes=False)
            self._links[key] = {one.field.path: one.score for one in found_couplings}
        return self._links[key].get(field.output.path, 0.0)

    def score_field(self, field: AnswerField) -> tuple[float, ...]:
        """Score how well a field says each thing asked about, in the order of the request's units."""
        return self._score_units(field, field.name_words, field.description_words, field.description_noun)

    def score_function(self, function: OfferedFunction) -> tuple[float, ...]:
        """Score how well a function says each thing asked about, by its name and description."""
        return self._score_units(function, function.name_words, function.description_words, function.description_nouns)

    def score_parameter(self, function: OfferedFunction, name: str) -> tuple[float, ...]:
        """Score how well a parameter says each thing asked about, by its name and description."""
        parameter = function.parameters[name]
        key = function.name, name
        return self._score_units(key, frozenset(split_words(parameter.name)), extract_words(parameter.description))

    def map_values_to_spans(self, used: Iterable[Span]) -> dict[int, list[Span]]:
        """Map the indexes of the request's values to the spans, among these, that overlap them.

        The values of each span are found only once: to check all values for each draft would take time quadratic in the
        request's length.
        """
        spans_by_value: dict[int, list[Span]] = {}
        for span in used:
            key = span.start, span.end
            if key not in self._value_numbers:
                self._value_numbers[key] = tuple(at for at, one in enumerate(self.parsed.values) if one.holds(span))
            for at in self._value_numbers[key]:
                spans_by_value.setdefault(at, []).append(span)
        return spans_by_value

    @cached_property
    def value_numbers(self) -> tuple[float | None, ...]:
        """For each value of the request, the number in it; None without one."""
        number_spans = [one for one in self.parsed.spans if one.kind == "number"]
        return tuple(
            next((float(one.value) for one in number_spans if value.holds(one)), None) for value in self.parsed.values
        )

    @cached_property
    def whole_names(self) -> tuple[Span, ...]:
        """Names and quotations that are a value of the request as a whole."""
        value_places = {(value.start, value.end) for value in self.parsed.values}
        return tuple(
            one for one in self.parsed.spans if one.kind in ("name", "quoted") and (one.start, one.end) in value_places
        )

    @cached_property
    def sayable_units(self) -> tuple[bool, ...]:
        """For each thing asked about, whether the name of a function or field says it."""
        rows = [self.score_function(one) for one in self.functions]
        rows += [self.score_field(field) for one in self.functions for field in one.fields]
        return tuple(any(row[at] >= _MIN_NAME_STRENGTH for row in rows) for at in range(len(self.parsed.units)))

    @cached_property
    def questions(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """The parts of the request that ask for something, each with the indexes of the units in it."""
        result: list[tuple[str, tuple[int, ...]]] = []
        for text in split_questions(self.parsed.request):
            if meant := find_topic_meanings(text):
                result.append((text, self._find_units_by_meaning(meant)))
                continue
            word_groups = group_asked_words(text)
            units = self.parsed.units
            result.append(
                (
                    text,
                    tuple(
                        at
                        for at, unit in enumerate(units)
                        if unit.own_words and any(unit.own_words <= one for one in word_groups)
                    ),
                )
            )
            result += [
                (f"{min(meant)}: {text}", self._find_units_by_meaning(meant)) for meant in find_where_meanings(text)
            ]
        return tuple(result)

    def _find_units_by_meaning(self, meanings: frozenset[str]) -> tuple[int, ...]:
        return tuple(
            at for at, unit in enumerate(self.parsed.units) if not unit.own_words and unit.meanings == meanings
        )

    @cached_property
    def convertible_units(self) -> tuple[Span, ...]:
        """Units of measure in the request that a function takes as an argument."""
        needs = [derive_need(one) for function in self.functions for one in function.doc.parameters]
        read = [
            one.span
            for need in needs
            if need.kind == "unit"
            for one in find_readings(need, self.parsed.request, self.parsed.today)
        ]
        return tuple(dict.fromkeys(read))

    def _score_units(
        self,
        key: object,
        name_words: frozenset[str],
        description_words: frozenset[str],
        description_noun: frozenset[str] = frozenset(),
    ) -> tuple[float, ...]:
        """Score how well some words say each thing asked about; the result is cached under ``key``."""
        if key not in self._strengths:
            self._strengths[key] = tuple(
                unit.score_match(
                    name_words if unit.own_words else name_words | description_noun,
                    description_words,
                    description_noun - COUNT_UNIT.own_words,
                )
                for unit in self.parsed.units
            )
        return self._strengths[key]

    def find_readings(self, field: AnswerField) -> list[SpanReading]:
        """Find the values of the request that a field may hold."""
        if field not in self._readings:
            self._readings[field] = list(find_readings(field.need, self.parsed.request, self.parsed.today)[:2])
        return self._readings[field]

    def find_phrases(self, field: AnswerField) -> list[Span]:
        """Find the phrases of the request that a field may hold."""
        if field not in self._phrases:
            self._phrases[field] = find_phrases(self.get_need(field), self.parsed)[:2]
        return self._phrases[field]

    def get_need(self, field: AnswerField) -> ParameterNeed:
        """Return the need that describes a field's values."""
        return field.need
