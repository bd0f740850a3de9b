"""Values that a program holds and nobody said: worked out from a value of its request, from the day of its run or from what its author knew or saw.

With other inputs they would be wrong, and nothing would tell. So a text that has one is kept for no other request.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from pydantic.types import JsonValue

from agent.plans.said_words import words_of
from agent.programs.analysis.constants import FixedValue, fixed_values
from domain.program import Program
from domain.source_text import parse_source
from domain.tool import Parameter, ToolDoc, ToolId

_MANY = 100
"""Whole numbers up to here are how many, or how often."""
_SHORTEST = 2
_CHOICES = 20
"""Values that a document may name for a parameter so that one of them is a way of calling, as an order or a unit is."""
_CODE = re.compile(r"[a-z]{2,3}")
_BESIDE = " ,.;:!?-/()"
_OF_ITS_OWN = re.compile(r"(?<=[^.!?:\s] )(?:[A-ZÀ-ÖØ-Þ]\w+|\w*\d\w*)|(?<=^ )[A-ZÀ-ÖØ-Þ]\w+")
"""A word with a capital within a sentence, or with a digit."""


def own_values(
    program: Program,
    request: str,
    docs: Mapping[ToolId, ToolDoc],
    seen: Collection[str] = (),
    answers: Collection[str] = (),
) -> list[JsonValue]:
    """The constants of a text, among those that its calls take, that it compares with and that it picks by, that must come from somewhere else than the
    request or a tool's document. ``seen``: what its author was shown of responses: what stands there may be from there; ``answers``: responses
    of which it may have been shown anything: a text that stands there may be.
    """
    fixed = list(fixed_values(parse_source(program.text), program.tools))
    found = [
        one.value
        for one in fixed
        if one.role != "picked by"
        and one.value not in _known(_parameter(one, program, docs))
        and not words_of(one.value, request)
        and (_tells_much(one.value) or _stands_in(one.value, seen, answers))
    ]
    codes = [one for one, told in _codes(fixed, program, docs) if one not in told and not words_of(one, request)]
    return [*found, *codes, *(_picked(fixed) if seen else ())]


def words_of_answers(program: Program, request: str, answers: Collection[str]) -> list[str]:
    """Names, codes and figures that a text says to people by itself, and that the answers of its calls hold: those are of this one run, a country or a
    currency say. The first word of a sentence owes its capital to that.
    """
    texts = [text for text in parse_source(program.text).texts if " " in text]
    said = dict.fromkeys(hit[0] for text in texts for hit in _OF_ITS_OWN.finditer(text))
    return [
        word
        for word in said
        if not words_of(word, request) and any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", one) for one in answers)
    ]


def _codes(
    fixed: Sequence[FixedValue], program: Program, docs: Mapping[ToolId, ToolDoc]
) -> Iterator[tuple[str, frozenset[JsonValue]]]:
    """What looks like the code of a country, a currency or a language, where a call takes it, with the words of its document."""
    for one in fixed:
        if one.role == "argument" and not one.composed and isinstance(one.value, str) and _CODE.fullmatch(one.value):
            own = _parameter(one, program, docs)
            told = re.findall(r"\w+", f"{own.description} {own.enum} {own.default}") if own else []
            yield one.value, frozenset(told)


def _picked(fixed: Sequence[FixedValue]) -> list[JsonValue]:
    """The places of lists by which a text picks, but for the first and the last: whoever saw the list may have looked for the right one there."""
    places = [one.value for one in fixed if one.role == "picked by"]
    return [one for one in places if isinstance(one, int) and one not in (0, -1)]


def _parameter(one: FixedValue, program: Program, docs: Mapping[ToolId, ToolDoc]) -> Parameter | None:
    """What the document of its tool says of the parameter that takes a value."""
    doc = docs.get(program.tools[one.function]) if one.function else None
    name = program.arguments.get(one.function, {}).get(one.parameter, one.parameter)
    return next((each for each in doc.parameters if each.name == name), None) if doc else None


def _known(own: Parameter | None) -> tuple[JsonValue, ...]:
    """What a document has of values. Of a long list each is one of many things, and none that a program chooses by itself."""
    return (*(own.enum if len(own.enum) <= _CHOICES else ()), own.default) if own else ()


def _tells_much(value: JsonValue) -> bool:
    """Whether it is more than a word of a program's own: a figure, a code, a name."""
    match value:
        case bool():
            return False
        case int():
            return abs(value) > _MANY
        case float():
            return not value.is_integer() or abs(value) > _MANY
        case str():
            text = value.strip(_BESIDE)
            return bool(re.search(r"\d", text)) or (len(text) >= _SHORTEST and text[:1].isupper())
        case _:
            return False


def _stands_in(value: JsonValue, seen: Collection[str], answers: Collection[str]) -> bool:
    """Whether a text is in one of these, or a number, as such, in what was seen."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, str):
        return len(value) >= _SHORTEST and any(value in one for one in (*seen, *answers))
    number = re.compile(rf"(?<![\w.]){re.escape(str(value))}(?![\w.]|\.\d)")
    return any(number.search(one) for one in seen)
