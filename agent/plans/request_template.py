"""Find the words of a request that name values, put names in their place, and fill the names again.

A request with names in braces is the template of requests that a plan with inputs serves.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from pydantic.types import JsonValue

from agent.plans.request_spans import is_within_word
from domain.model import JsonObject

_NAMED = re.compile(r"\{([^{}]*)\}")
_LONGEST = 4_000
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


def insert_names(request: str, request_words: Sequence[RequestWords]) -> str:
    """Return a request with ``{name}`` in place of words that have a name.

    No name is inserted within words that have none. Of several places of the same words, the first is replaced that is
    free and, if possible, not part of a longer name. Braces of the request become parentheses.
    """
    text = request.replace("{", "(").replace("}", ")")
    names = [hit.span() for hit in _LONG_NAME.finditer(request)]
    names_by_span: dict[tuple[int, int], str] = {}
    # Longer words first, so that no shorter value is replaced within them.
    for words in sorted(request_words, key=lambda words: (-len(words.text), not words.name)):
        free = [
            at for at in _find_places(words.text, text) if not any(_has_overlap(at, other) for other in names_by_span)
        ]
        if free:
            best = min(free, key=lambda at: (_is_within_name(at, names), at))
            names_by_span[best] = words.name
    for (start, end), name in sorted(names_by_span.items(), reverse=True):
        text = text[:start] + "{" + name + "}" + text[end:] if name else text
    return text


def _find_places(words: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of some words in a text, as whole words only."""
    if words:
        own = words.replace("{", "(").replace("}", ")")
        hits = (hit.span() for hit in re.finditer(re.escape(own), text))
        yield from (at for at in hits if not any(is_within_word(text, place) for place in at))


def _has_overlap(first: tuple[int, int], second: tuple[int, int]) -> bool:
    return first[0] < second[1] and second[0] < first[1]


def _is_within_name(place: tuple[int, int], names: Sequence[tuple[int, int]]) -> bool:
    """Return True if a span is part of a longer name, as ``Oslo`` is of ``Oslo Central Hotel``."""
    return place not in names and any(start <= place[0] and place[1] <= end for start, end in names)


def render_request(text: str, values: Mapping[str, JsonValue], schemas: Mapping[str, JsonObject]) -> str:
    """Return a text of :func:`insert_names` with values in place of its names, written as people write them.

    ``schemas``: JSON Schemas of the values by name.
    """

    @cache
    def words_of(name: str) -> str:
        return _format_value(values[name], collect_allowed_values(schemas.get(name, {})))[:_LONGEST]

    def words(hit: re.Match[str]) -> str:
        return words_of(hit[1]) if hit[1] in values else hit[0]

    return _NAMED.sub(words, text)


def find_names(text: str) -> list[str]:
    """Return the names in a text, each once and in order.

    Braces around anything else, as in JSON, do not count.
    """
    return [name for name in dict.fromkeys(_NAMED.findall(text)) if name.isidentifier()]


def _format_value(value: JsonValue, allowed: Sequence[JsonValue]) -> str:
    """Return a value as text: lists as their items, allowed values such as ``full_time`` without underscores."""
    match value:
        case bool():
            return "yes" if value else "no"
        case str():
            return value.replace("_", " ") if value in allowed else value
        case list():
            return ", ".join(_format_value(item, allowed) for item in value)
        case _:
            return json.dumps(value, ensure_ascii=False)


def collect_allowed_values(schema: JsonObject) -> list[JsonValue]:
    """Return the values that enums of a schema allow, including those of list items and alternatives."""
    own, inner, choices = schema.get("enum"), schema.get("items"), schema.get("anyOf")
    allowed = list(own) if isinstance(own, list) else []
    parts = [inner, *(choices if isinstance(choices, list) else ())]
    return allowed + [value for part in parts if isinstance(part, dict) for value in collect_allowed_values(part)]
