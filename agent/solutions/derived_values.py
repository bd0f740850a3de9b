"""Values in a program that its request does not contain.

Its author derived them from a value of the request or from the date, knew them, or read them in a response. For
other inputs they would silently be wrong, so a program with such a value is not kept for other requests.
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
"""Whole numbers up to this one are taken for counts, which fit any request."""
_SHORTEST = 2
"""Minimum length of a text that is examined, in characters."""
_MAX_CHOICES = 20
"""Limit of documented values from which a program may choose by itself, such as units; longer lists name things."""
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
    """Return the constants of a program that come neither from the request nor from the documents of its tools.

    Examined are arguments of calls, values that the text compares with, and indices by which it picks from lists.

    Args:
        program: the program.
        request: the request that it served.
        docs: documents of its tools.
        seen: texts of responses that the author was shown; constants in them may come from there.
        answers: responses of which the author may have been shown any part; texts in them may come from there.
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
    """Return names, codes and figures in the program's texts for people that responses of its calls contain.

    They belong to this one run, like the name of a country or currency. The first word of a sentence is ignored,
    because it has a capital whatever it is.
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
    """Yield arguments that look like codes of countries, currencies or languages.

    With each come the words that the document of its parameter contains.
    """
    for one in fixed:
        if one.role == "argument" and not one.composed and isinstance(one.value, str) and _CODE.fullmatch(one.value):
            own = _find_parameter(one, program, docs)
            documented_words = re.findall(r"\w+", f"{own.description} {own.enum} {own.default}") if own else []
            yield one.value, frozenset(documented_words)


def _find_picked_indices(fixed: Sequence[FixedValue]) -> list[JsonValue]:
    """Return the indices by which a text picks from lists, except the first and the last.

    An author who saw the list may have chosen the index that was right for this request only.
    """
    indices = [one.value for one in fixed if one.role == "picked by"]
    return [one for one in indices if isinstance(one, int) and one not in (0, -1)]


def _find_parameter(constant: FixedValue, program: Program, docs: Mapping[ToolId, ToolDoc]) -> Parameter | None:
    """Return the parameter that a constant is an argument for; None if there is none."""
    doc = docs.get(program.tools[constant.function]) if constant.function else None
    name = program.arguments.get(constant.function, {}).get(constant.parameter, constant.parameter)
    return next((each for each in doc.parameters if each.name == name), None) if doc else None


def _list_documented_values(own: Parameter | None) -> tuple[JsonValue, ...]:
    """Return the values that a document names for a parameter.

    A long enumeration is left out: it names things, so the choice of one depends on the request.
    """
    return (*(own.enum if len(own.enum) <= _MAX_CHOICES else ()), own.default) if own else ()


def _is_specific(value: JsonValue) -> bool:
    """Return whether a value is a figure, a code or a name, rather than a word or count that fits any request."""
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
    """Return whether a text occurs in any of these texts, or a number in what the author was shown."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, str):
        return len(value) >= _SHORTEST and any(value in one for one in (*seen, *answers))
    number = re.compile(rf"(?<![\w.]){re.escape(str(value))}(?![\w.]|\.\d)")
    return any(number.search(one) for one in seen)
