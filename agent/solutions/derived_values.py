"""Values in a program that its request does not contain.

Its author worked them out from a value of the request or the day of the run, or took them from own knowledge or
from responses. With other inputs they would be wrong without any sign of it, so a program with such a value is not
kept for other requests.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from pydantic.types import JsonValue

from agent.plans.request_spans import find_request_words
from agent.programs.analysis.constants import FixedValue, find_fixed_values
from domain.program import Program
from domain.source_text import parse_source
from domain.tool import Parameter, ToolDoc, ToolId

_MAX_SMALL_COUNT = 100
"""Whole numbers up to this are mere counts."""
_SHORTEST = 2
_MAX_CHOICES = 20
"""Maximum documented values of a parameter whose choice is a way of calling, as an order or a unit."""
_CODE = re.compile(r"[a-z]{2,3}")
_SURROUNDING_MARKS = " ,.;:!?-/()"
_SPECIFIC_WORD = re.compile(r"(?<=[^.!?:\s] )(?:[A-ZÀ-ÖØ-Þ]\w+|\w*\d\w*)|(?<=^ )[A-ZÀ-ÖØ-Þ]\w+")
"""A capitalized word within a sentence, or a word with a digit."""


def find_derived_values(
    program: Program,
    request: str,
    docs: Mapping[ToolId, ToolDoc],
    seen: Collection[str] = (),
    answers: Collection[str] = (),
) -> list[JsonValue]:
    """Return the constants of a text that must come from elsewhere than the request or a tool's document.

    Constants that calls take, that the text compares with, or that it picks by are examined. ``seen`` are texts of
    responses that its author was shown: a constant in them may come from there. ``answers`` are responses of which
    its author may have been shown any part: a text in them may come from there.
    """
    constants = list(find_fixed_values(parse_source(program.text), program.tools))
    values = [
        one.value
        for one in constants
        if one.role != "picked by"
        and one.value not in _list_documented_values(_find_parameter(one, program, docs))
        and not find_request_words(one.value, request)
        and (_is_specific(one.value) or _is_in_texts(one.value, seen, answers))
    ]
    undocumented_codes = [
        one
        for one, documented_words in _find_codes(constants, program, docs)
        if one not in documented_words and not find_request_words(one, request)
    ]
    return [*values, *undocumented_codes, *(_find_picked_indices(constants) if seen else ())]


def find_answer_words(program: Program, request: str, answers: Collection[str]) -> list[str]:
    """Return names, codes and figures in a program's texts for people that the answers of its calls contain.

    They belong to this one run, as the name of a country or currency does. The first word of a sentence is ignored,
    because any such word has a capital.
    """
    texts = [text for text in parse_source(program.text).texts if " " in text]
    words = dict.fromkeys(hit[0] for text in texts for hit in _SPECIFIC_WORD.finditer(text))
    return [
        word
        for word in words
        if not find_request_words(word, request)
        and any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", one) for one in answers)
    ]


def _find_codes(
    fixed: Sequence[FixedValue], program: Program, docs: Mapping[ToolId, ToolDoc]
) -> Iterator[tuple[str, frozenset[JsonValue]]]:
    """Yield arguments that look like codes of countries, currencies or languages, with their documented words."""
    for one in fixed:
        if one.role == "argument" and not one.composed and isinstance(one.value, str) and _CODE.fullmatch(one.value):
            own = _find_parameter(one, program, docs)
            documented_words = re.findall(r"\w+", f"{own.description} {own.enum} {own.default}") if own else []
            yield one.value, frozenset(documented_words)


def _find_picked_indices(fixed: Sequence[FixedValue]) -> list[JsonValue]:
    """Return the indices by which a text picks from lists, except the first and the last.

    An author who saw the list may have looked up the right one.
    """
    indices = [one.value for one in fixed if one.role == "picked by"]
    return [one for one in indices if isinstance(one, int) and one not in (0, -1)]


def _find_parameter(constant: FixedValue, program: Program, docs: Mapping[ToolId, ToolDoc]) -> Parameter | None:
    """Return the parameter that takes a constant."""
    doc = docs.get(program.tools[constant.function]) if constant.function else None
    name = program.arguments.get(constant.function, {}).get(constant.parameter, constant.parameter)
    return next((each for each in doc.parameters if each.name == name), None) if doc else None


def _list_documented_values(own: Parameter | None) -> tuple[JsonValue, ...]:
    """Return the values that a document names for a parameter.

    A long list of them is left out: it names things, and the choice of one is not the program's own.
    """
    return (*(own.enum if len(own.enum) <= _MAX_CHOICES else ()), own.default) if own else ()


def _is_specific(value: JsonValue) -> bool:
    """Return True if a value is a figure, a code or a name rather than a word of the program's own."""
    match value:
        case bool():
            return False
        case int():
            return abs(value) > _MAX_SMALL_COUNT
        case float():
            return not value.is_integer() or abs(value) > _MAX_SMALL_COUNT
        case str():
            text = value.strip(_SURROUNDING_MARKS)
            return bool(re.search(r"\d", text)) or (len(text) >= _SHORTEST and text[:1].isupper())
        case _:
            return False


def _is_in_texts(value: JsonValue, seen: Collection[str], answers: Collection[str]) -> bool:
    """Return True if a text occurs in any of these, or a number in what was seen."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, str):
        return len(value) >= _SHORTEST and any(value in one for one in (*seen, *answers))
    number = re.compile(rf"(?<![\w.]){re.escape(str(value))}(?![\w.]|\.\d)")
    return any(number.search(one) for one in seen)
