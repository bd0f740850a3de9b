"""Fill the parameters of an offered function from the request alone."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from pydantic.types import JsonValue

from agent.parameters.kinds import UNTOUCHED
from agent.parameters.needs import Need, need_of
from agent.programs.signatures import Signature
from domain.tool import Parameter, ToolDoc
from graph.identifiers import singular, text_words, words
from offline.nlp.asked_words import synonyms
from offline.nlp.coordination import side_by_side
from offline.nlp.entities import Span
from offline.sentences.fields import Field, fields_of
from offline.sentences.kinds import head_of, of_list
from offline.sentences.said import Said
from offline.slots.binding import assigned, default_of
from offline.slots.candidates import Reading, told

_SENTENCE = re.compile(r"[.:;(\n]")
_FREE = frozenset({"query", "text", "entity", "person", "organization", "place", "symbol"})
_OPTIONAL = 0.6
_ALIKE = 0.5
_NEARLY = 0.1
_CALLED = 0.3
_LESS = 0.4
_NAMING = frozenset({"query", "entity", "person", "place", "organization", "symbol", "country"})


@dataclass(frozen=True, eq=False)
class Function:
    """A function of the offer, with its tool's document."""

    signature: Signature
    doc: ToolDoc
    place: int
    """Index in the offer, from 0."""

    @property
    def name(self) -> str:
        """Name of the function in the offer."""
        return self.signature.name

    @cached_property
    def own(self) -> frozenset[str]:
        """Words of its name."""
        return frozenset(words(self.doc.api)) | frozenset(words(self.doc.toolset))

    @cached_property
    def told(self) -> frozenset[str]:
        """Words of its description."""
        return text_words(self.doc.description)

    @cached_property
    def sort(self) -> frozenset[str]:
        """Nouns that its description's sentences begin with: *visit* of "The visits of a ship, with their days"."""
        begun = (head_of(one.partition(",")[0]) for one in _SENTENCE.split(self.doc.description))
        return frozenset[str]().union(*begun)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Nouns for what it returns, from its name and the names of its lists."""
        lists = (of_list(one.path) for one in self.fields if "[]" in one.path)
        return head_of(self.doc.api).union(*lists)

    @property
    def vocabulary(self) -> frozenset[str]:
        """Words of its name and description, and of its fields."""
        return self.own.union(self.told, *(one.own | one.told for one in self.fields))

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of its response."""
        return fields_of(self.doc)

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """Parameters by the names that the function has for them."""
        known = {one.name: one for one in self.doc.parameters}
        return {name: known[own] for name, own in self.signature.arguments.items() if own in known}


@dataclass(frozen=True, slots=True)
class Given:
    """A value that a parameter gets from the request."""

    value: JsonValue
    spans: tuple[Span, ...] = ()
    likeness: float = 0.0
    """How well it fits, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """One way to fill a function's parameters."""

    given: Mapping[str, Given]
    """Values by the function's parameter names."""
    listed: tuple[str, tuple[Reading, ...]] | None = None
    """A parameter with several values, for each of which one call is made; else None."""
    loss: float = 0.0


def inputs(function: Function, said: Said, linked: frozenset[str] = frozenset()) -> Iterator[Inputs]:
    """Yield the ways to fill what a function needs in addition to ``linked`` parameters.

    Earlier results fill the linked ones. There is no way if a required parameter stays open.
    """
    parameters = {name: one for name, one in function.parameters.items() if name not in linked}
    doc = replace_parameters(function.doc, tuple(parameters.values()))
    found = assigned(doc, said.request, said.today, _OPTIONAL)
    given: dict[str, Given] = {}
    for name, parameter in parameters.items():
        own = found.get(parameter.name)
        if own is not None and own.span is not None and said.names(own.span):
            likeness = own.score * _written_alike(own.span.text, need_of(parameter).example)
            if parameter.required or likeness >= _ALIKE:
                given[name] = Given(own.value, (own.span,), likeness)
    for one in (given, *_otherwise(parameters, given, said)):
        yield from _filled(function, parameters, one, said)
    for one in _with_less(parameters, given):
        yield from (replace(way, loss=_LESS) for way in _filled(function, parameters, one, said))


def _filled(
    function: Function, parameters: Mapping[str, Parameter], given: dict[str, Given], said: Said
) -> Iterator[Inputs]:
    open_ones = [name for name, one in parameters.items() if one.required and name not in given]
    for way in _with_phrases(parameters, given, open_ones, said):
        if (whole := _with_defaults(function, parameters, way)) is not None:
            yield Inputs(whole)
            yield from _listed(parameters, whole, said)


def _otherwise(
    parameters: Mapping[str, Parameter], given: Mapping[str, Given], said: Said
) -> Iterator[dict[str, Given]]:
    """Yield fillings with another name of the request in place of the one that is searched by.

    The use of the other names shows which was meant.
    """
    for name, one in given.items():
        need = need_of(parameters[name])
        if need.kind not in _NAMING or not parameters[name].required or not one.spans:
            continue
        taken = [span for each in given.values() for span in each.spans]
        for reading in told(need, said.request, said.today):
            alike = reading.span.kind == one.spans[0].kind and reading.score >= one.likeness - _NEARLY
            beside = any(enumerated(reading.span, span, said.request) for span in taken)
            if alike and not beside and not any(reading.span.overlaps(span) for span in taken):
                yield {**given, name: Given(reading.value, (reading.span,), reading.score)}


def _with_less(parameters: Mapping[str, Parameter], given: Mapping[str, Given]) -> Iterator[dict[str, Given]]:
    """Yield fillings without one of the optional values: it may be about something that is found later."""
    if len(given) > 1:
        for left in (name for name, one in given.items() if one.spans and not parameters[name].required):
            yield {name: one for name, one in given.items() if name != left}


def called_so(span: Span, own: frozenset[str]) -> float:
    """Score the word before a name that says what it names: the ship "Queen Maud"."""
    return _CALLED if span.cue in own else 0.0


def replace_parameters(doc: ToolDoc, parameters: tuple[Parameter, ...]) -> ToolDoc:
    """Return the document with these parameters alone."""
    return doc if len(parameters) == len(doc.parameters) else doc.model_copy(update={"parameters": parameters})


def _written_alike(text: str, example: str) -> float:
    """Return less than 1 if an example is in lower case and the text is not."""
    return 0.4 if example[:1].islower() and text[:1].isupper() and not text.isupper() else 1.0


def _with_defaults(
    function: Function, parameters: Mapping[str, Parameter], given: Mapping[str, Given]
) -> dict[str, Given] | None:
    """Add the defaults of required parameters; None if one stays open."""
    whole = dict(given)
    for name, parameter in parameters.items():
        if parameter.required and name not in whole:
            default = default_of(parameter, function.doc)
            if default is None:
                return None
            whole[name] = Given(default)
    return whole


def _with_phrases(
    parameters: Mapping[str, Parameter], given: Mapping[str, Given], open_ones: list[str], said: Said
) -> Iterator[dict[str, Given]]:
    """Yield the values unchanged, then with a phrase for one parameter that takes free text."""
    yield dict(given)
    for name, parameter in parameters.items():
        if name in given or (open_ones and name not in open_ones):
            continue
        for phrase in phrases_for(need_of(parameter), said, hinted=not parameter.required)[:2]:
            text = singular(phrase.text) if phrase in said.classes else phrase.text
            yield {**given, name: Given(text, (phrase,), 0.6)}


def phrases_for(need: Need, said: Said, *, hinted: bool = True) -> list[Span]:
    """Find the phrases that a value of this kind may be, likeliest first.

    Phrases are in lower case, as the example is. ``needs_hint``: only phrases with words beside them that name the
    parameter.
    """
    if need.kind not in _FREE or need.enum or need.type not in ("string", "array") or need.kind in UNTOUCHED:
        return []
    if need.example and (not need.example[:1].islower() or any(one.isdigit() for one in need.example)):
        return []
    length = len(need.example.split()) if need.example else 2
    fit = [one for one in said.phrases if one.text[:1].islower() and (not hinted or _named_beside(one, need))]
    return sorted(fit, key=lambda one: (not _named_beside(one, need), abs(len(one.text.split()) - length)))


def _named_beside(phrase: Span, need: Need) -> bool:
    """Return whether words beside a phrase refer to what is needed."""
    near = {word for word in (*phrase.before[-3:], *phrase.after[:1]) if len(word) > 3}
    if phrase.cue == "about" and _TOPICS & set(need.words):
        return True
    spoken = set(need.words) | (need.described - _SMALL)
    return any(
        word in spoken or word[:6] in {other[:6] for other in spoken} or synonyms(word) & spoken for word in near
    )


_TOPICS = frozenset({"subject", "topic", "theme", "keyword"})
_SMALL = frozenset({"the", "a", "of", "or", "in", "to", "for", "and", "name"})


def _listed(parameters: Mapping[str, Parameter], given: Mapping[str, Given], said: Said) -> Iterator[Inputs]:
    """Yield fillings with one call for each of several values that fit the same parameter."""
    for name, one in given.items():
        if not one.spans or one.likeness <= 0:
            continue
        need = need_of(parameters[name].model_copy(update={"required": True}))
        taken = [span for other, more in given.items() if other != name for span in more.spans]
        alike = [
            one for one in told(need, said.request, said.today) if not any(one.span.overlaps(other) for other in taken)
        ]
        found = _side_by_side(alike, one.spans[0], said.request)
        if len(found) > 1:
            yield Inputs({key: own for key, own in given.items() if key != name}, (name, found))


def _side_by_side(readings: Sequence[Reading], about: Span, request: str) -> tuple[Reading, ...]:
    """Find the values of the enumeration that ``about`` belongs to.

    However little its place says for one of them, it is as good as its neighbours.
    """
    single = [one for one in readings if one.span.kind == about.kind]
    single = [one for one in single if not (one.span.overlaps(about) and _several(one.span, single, request))]
    found: list[Reading] = []
    for one in sorted(single, key=lambda one: (one.span.start, -one.span.end)):
        if found and one.span.overlaps(found[-1].span):
            continue
        if found and not _together([found[-1], one], request):
            if any(own.span.overlaps(about) for own in found):
                break
            found = []
        found.append(one)
    return tuple(found) if any(own.span.overlaps(about) for own in found) else ()


def _several(wide: Span, readings: Sequence[Reading], request: str) -> bool:
    """Return whether a span is an enumeration of others rather than one thing."""
    within = [one for one in readings if one.span != wide and wide.start <= one.span.start < one.span.end <= wide.end]
    return len(within) > 1 and _together(sorted(within, key=lambda one: one.span.start), request)


def _together(found: Sequence[Reading], request: str) -> bool:
    """Return whether values stand in one enumeration."""
    return all(_joined(one.span, other.span, request) for one, other in pairwise(found))


def _joined(one: Span, other: Span, request: str) -> bool:
    before, between = request[: one.start].rstrip(_QUOTES), request[one.end : other.start]
    return bool(_JOINS.fullmatch(between)) or side_by_side(before, between.strip(_QUOTES))


def enumerated(one: Span, other: Span, request: str) -> bool:
    """Return whether two values are neighbours in one enumeration."""
    first, second = sorted((one, other), key=lambda span: span.start)
    return one.kind == other.kind and bool(_AND.fullmatch(request[first.end : second.start]))


_QUOTES = "\"'“”‘’"
_AND = re.compile(r"[\s\"'”’“‘]*(?:,|\b(?:and|or|vs\.?|versus)\b|&)\s*(?:(?:the|an?)\b)?[\s\"'“‘]*", re.I)
_JOINS = re.compile(
    r"[\s,;\"'”’“‘]*(?:(?:and|or|vs\.?|versus|than|with|to|&|/|,)[\s\"'“‘,]*)(?:(?:else|also|in|at|of|by|from|for|on|the|another)\s+){0,3}[\"'“‘]?",
    re.I,
)
