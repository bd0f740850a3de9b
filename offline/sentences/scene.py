"""A parsed request with the functions offered for it, and scores between them."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from agent.parameters.needs import Need, need_of
from domain.tool import Parameter
from graph.coupling import couplings, output_fields
from graph.identifiers import text_words, words
from offline.nlp.asked_words import asked_groups
from offline.nlp.entities import Span
from offline.planning_time import PlanningClock
from offline.sentences.fields import Field
from offline.sentences.inputs import Function, Inputs, inputs, phrases_for
from offline.sentences.said import COUNTED, Said, asked_about, asked_where, questions
from offline.slots.candidates import Reading, told

_BY_NAME = 0.8


class Scene:
    """Context of one request; what every draft asks again is cached."""

    def __init__(self, said: Said, functions: Sequence[Function], clock: PlanningClock) -> None:
        self.said = said
        self.clock = clock
        self._values: dict[tuple[int, int], tuple[int, ...]] = {}
        self.functions = functions
        self._inputs: dict[tuple[str, frozenset[str]], list[Inputs]] = {}
        self._links: dict[tuple[str, str, str], dict[str, float]] = {}
        self._strengths: dict[object, tuple[float, ...]] = {}
        self._readings: dict[Field, list[Reading]] = {}
        self._phrases: dict[Field, list[Span]] = {}

    def inputs(self, function: Function, linked: frozenset[str] = frozenset()) -> list[Inputs]:
        """Return the ways to fill what a function needs in addition to linked parameters."""
        key = function.name, linked
        if key not in self._inputs:
            self._inputs[key] = list(inputs(function, self.said, linked))
        return self._inputs[key]

    def link(self, source: Function, field: Field, target: Function, parameter: Parameter) -> float:
        """Score how well a response field of one function fits a parameter of another."""
        key = source.name, target.name, parameter.name
        if key not in self._links:
            found = couplings(output_fields(source.doc), source.doc, parameter, target.doc, echoes=False)
            self._links[key] = {one.field.path: one.score for one in found}
        return self._links[key].get(field.output.path, 0.0)

    def of_field(self, field: Field) -> tuple[float, ...]:
        """Score how well a field says each of the words that ask for something."""
        return self._strength(field, field.own, field.told, field.sort)

    def of_function(self, function: Function) -> tuple[float, ...]:
        """Score how well a function's name and description say each of the words that ask for something."""
        return self._strength(function, function.own, function.told, function.sort)

    def of_parameter(self, function: Function, name: str) -> tuple[float, ...]:
        """Score how well a parameter says each of the words that ask for something."""
        parameter = function.parameters[name]
        key = function.name, name
        return self._strength(key, frozenset(words(parameter.name)), text_words(parameter.description))

    def values_held(self, used: Iterable[Span]) -> dict[int, list[Span]]:
        """Map the numbers of the request's values to those of these spans that lie in them.

        The values of a span are found once: checking all values for each draft would take time quadratic in the
        request's length.
        """
        found: dict[int, list[Span]] = {}
        for span in used:
            place = span.start, span.end
            if place not in self._values:
                self._values[place] = tuple(at for at, one in enumerate(self.said.values) if one.holds(span))
            for at in self._values[place]:
                found.setdefault(at, []).append(span)
        return found

    @cached_property
    def numbers(self) -> tuple[float | None, ...]:
        """The number in each value of the request; None without one."""
        numbers = [one for one in self.said.spans if one.kind == "number"]
        return tuple(
            next((float(one.value) for one in numbers if value.holds(one)), None) for value in self.said.values
        )

    @cached_property
    def spoken_names(self) -> tuple[Span, ...]:
        """Names and quotations of the request that are values as a whole."""
        whole = {(value.start, value.end) for value in self.said.values}
        return tuple(one for one in self.said.spans if one.kind in ("name", "quoted") and (one.start, one.end) in whole)

    @cached_property
    def sayable(self) -> tuple[bool, ...]:
        """For each word that asks for something, whether a function or field is named by it."""
        rows = [self.of_function(one) for one in self.functions]
        rows += [self.of_field(field) for one in self.functions for field in one.fields]
        return tuple(any(row[at] >= _BY_NAME for row in rows) for at in range(len(self.said.units)))

    @cached_property
    def questions(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """The parts of the request that ask for something, with the numbers of their units."""
        found: list[tuple[str, tuple[int, ...]]] = []
        for text in questions(self.said.request):
            if meant := asked_about(text):
                found.append((text, self._meaning(meant)))
                continue
            spoken = asked_groups(text)
            units = self.said.units
            found.append(
                (
                    text,
                    tuple(at for at, unit in enumerate(units) if unit.own and any(unit.own <= one for one in spoken)),
                )
            )
            found += [(f"{min(meant)}: {text}", self._meaning(meant)) for meant in asked_where(text)]
        return tuple(found)

    def _meaning(self, meant: frozenset[str]) -> tuple[int, ...]:
        return tuple(at for at, unit in enumerate(self.said.units) if not unit.own and unit.meant == meant)

    @cached_property
    def convertible(self) -> tuple[Span, ...]:
        """Units of the request that a function converts to: they are more than words."""
        needs = [need_of(one) for function in self.functions for one in function.doc.parameters]
        read = [
            one.span for need in needs if need.kind == "unit" for one in told(need, self.said.request, self.said.today)
        ]
        return tuple(dict.fromkeys(read))

    def _strength(
        self, key: object, own: frozenset[str], told_: frozenset[str], sort: frozenset[str] = frozenset()
    ) -> tuple[float, ...]:
        if key not in self._strengths:
            self._strengths[key] = tuple(
                unit.strength(own if unit.own else own | sort, told_, sort - COUNTED.own) for unit in self.said.units
            )
        return self._strengths[key]

    def readings(self, field: Field) -> list[Reading]:
        """Find the values of the request that a field may hold."""
        if field not in self._readings:
            self._readings[field] = list(told(field.need, self.said.request, self.said.today)[:2])
        return self._readings[field]

    def phrases(self, field: Field) -> list[Span]:
        """Find the phrases of the request that a field may hold."""
        if field not in self._phrases:
            self._phrases[field] = phrases_for(self.need(field), self.said)[:2]
        return self._phrases[field]

    def need(self, field: Field) -> Need:
        """Return what a field's values look like."""
        return field.need
