"""Find the words of a request that name values, put names in their place, and fill the names again.

A request with names in braces is the template of requests that a plan with inputs serves.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from pydantic.types import JsonValue

from domain.model import JsonObject

_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
"""Matches characters of scripts without spaces: Thai, Lao, Burmese, Khmer, Japanese and Chinese."""
_MAX_ITEMS = 50
"""Maximum number of items of a list that is searched; no request lists more."""


def find_request_words(value: JsonValue, request: str) -> str:
    """Return the words of a request that equal a value, as written there; empty if there are none.

    For a list, they reach from its first item to its last.
    """
    parts = value if isinstance(value, list) else [value]
    if len(parts) > _MAX_ITEMS or not all(
        isinstance(part, str | int | float) and not isinstance(part, bool) for part in parts
    ):
        return ""
    words = [str(part).strip() for part in parts]
    return _find_in_sequence(words, request) if words and all(words) else ""


def _find_in_sequence(words: Sequence[str], request: str) -> str:
    """Return the part of a request that has these words in sequence.

    Between two of them, only punctuation and at most one other word may occur. The earliest and then the shortest
    sequence wins. Each word is searched once, so the work grows with the number of words times the request's length.
    """
    runs = _find_run_starts(request)
    starts_by_end: dict[int, int] = {}  # where the sequences so far end, each with its start
    for number, word in enumerate(words):
        ends = sorted(starts_by_end)
        next_starts: dict[int, int] = {}
        for hit in re.finditer(rf"(?={re.escape(word)})", request, re.IGNORECASE):
            start, end = hit.start(), hit.start() + len(word)
            if is_within_word(request, end):
                continue
            if not number and not is_within_word(request, start):
                next_starts[end] = start
            for first, last in _find_gaps(request, runs, start) if number else ():
                at = bisect_left(ends, first)
                if at < len(ends) and ends[at] <= last:
                    # Keep the earliest beginning if several sequences end here.
                    next_starts[end] = min(next_starts.get(end, start), starts_by_end[ends[at]])
        starts_by_end = next_starts
    end = min(starts_by_end, key=lambda end: (starts_by_end[end], end), default=0)
    return request[starts_by_end[end] : end] if starts_by_end else ""


def _find_run_starts(request: str) -> list[int]:
    """Return for each character where the run of letters or of other characters begins that it belongs to."""
    runs: list[int] = []
    for at, character in enumerate(request):
        same = at and _is_letter(character) == _is_letter(request[at - 1])
        runs.append(runs[-1] if same else at)
    return runs


def _find_gaps(request: str, runs: Sequence[int], start: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges in which the previous word may end, if the next one begins at ``start``.

    First right before, with punctuation between; then before one other word.
    """
    if not start or _is_letter(request[start - 1]):
        return
    marks = runs[start - 1]
    yield marks, start - 1
    word = runs[marks - 1] if marks else 0
    if word:
        yield runs[word - 1], word - 1


def is_within_word(text: str, at: int) -> bool:
    """Return True if a position is inside a word; in scripts without spaces, words may end anywhere."""
    before, after = text[max(at - 1, 0) : at], text[at : at + 1]
    return _is_letter(before) and _is_letter(after) and not (_UNSPACED.match(before) or _UNSPACED.match(after))


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"


_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_MAX_VALUE_LENGTH = 4_000
"""Maximum number of characters of one value in a request."""
_LONG_NAME = re.compile(r"[^\W\d_a-z]\w*(?:[ -](?=[^\W\d_a-z])\w+)+")
"""Matches a name of several capitalized words."""


@dataclass(frozen=True, slots=True)
class RequestWords:
    """Words of a request that name a value."""

    text: str
    """The words as written in the request."""
    name: str = ""
    """Name that replaces them; empty if they stay."""


def insert_placeholders(request: str, request_words: Sequence[RequestWords]) -> str:
    """Return a request with ``{name}`` in place of words that have a name.

    No name is inserted within words that have none. Of several places of the same words, the first is replaced that is
    free and, if possible, not part of a longer name. Braces of the request become parentheses.
    """
    text = request.replace("{", "(").replace("}", ")")
    long_names = [hit.span() for hit in _LONG_NAME.finditer(request)]
    names_by_span: dict[tuple[int, int], str] = {}
    # Longer words first, so that no shorter value is replaced within them.
    for words in sorted(request_words, key=lambda words: (-len(words.text), not words.name)):
        free = [
            span
            for span in _find_places(words.text, text)
            if not any(has_overlap(span, other) for other in names_by_span)
        ]
        if free:
            best = min(free, key=lambda at: (_is_within_name(at, long_names), at))
            names_by_span[best] = words.name
    for (start, end), name in sorted(names_by_span.items(), reverse=True):
        text = text[:start] + "{" + name + "}" + text[end:] if name else text
    return text


def _find_places(words: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of some words in a text, as whole words only."""
    if words:
        own = words.replace("{", "(").replace("}", ")")
        hits = (hit.span() for hit in re.finditer(re.escape(own), text))
        yield from (span for span in hits if not any(is_within_word(text, place) for place in span))


def has_overlap(first: tuple[int, int], second: tuple[int, int]) -> bool:
    """Return whether two spans of one text share a character."""
    return first[0] < second[1] and second[0] < first[1]


def _is_within_name(place: tuple[int, int], long_names: Sequence[tuple[int, int]]) -> bool:
    """Return True if a span is part of a longer name, as ``Oslo`` is of ``Oslo Central Hotel``."""
    return place not in long_names and any(start <= place[0] and place[1] <= end for start, end in long_names)


def fill_placeholders(text: str, values: Mapping[str, JsonValue], schemas: Mapping[str, JsonObject]) -> str:
    """Return a text of :func:`insert_placeholders` with values in place of its names, written as people write them.

    ``schemas``: JSON Schemas of the values by name.
    """

    @cache
    def render_value(name: str) -> str:
        return _format_request_value(values[name], collect_allowed_values(schemas.get(name, {})))[:_MAX_VALUE_LENGTH]

    def replace_placeholder(hit: re.Match[str]) -> str:
        return render_value(hit[1]) if hit[1] in values else hit[0]

    return _PLACEHOLDER.sub(replace_placeholder, text)


def find_placeholders(text: str) -> list[str]:
    """Return the names in a text, each once and in order.

    Braces around anything else, as in JSON, do not count.
    """
    return [name for name in dict.fromkeys(_PLACEHOLDER.findall(text)) if name.isidentifier()]


def _format_request_value(value: JsonValue, allowed: Sequence[JsonValue]) -> str:
    """Return a value as text: lists as their items, allowed values such as ``full_time`` without underscores."""
    match value:
        case bool():
            return "yes" if value else "no"
        case str():
            return value.replace("_", " ") if value in allowed else value
        case list():
            return ", ".join(_format_request_value(item, allowed) for item in value)
        case _:
            return json.dumps(value, ensure_ascii=False)


def collect_allowed_values(schema: JsonObject) -> list[JsonValue]:
    """Return the values that enums of a schema allow, including those of list items and alternatives."""
    own, inner, choices = schema.get("enum"), schema.get("items"), schema.get("anyOf")
    allowed = list(own) if isinstance(own, list) else []
    parts = [inner, *(choices if isinstance(choices, list) else ())]
    return allowed + [value for part in parts if isinstance(part, dict) for value in collect_allowed_values(part)]
