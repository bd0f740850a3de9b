"""Requests of templates: names in place of the words that values came from, and values in place of the names."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from pydantic.types import JsonValue

from agent.plans.said_words import within_word
from domain.model import JsonObject

_NAMED = re.compile(r"\{([^{}]*)\}")
_LONGEST = 4_000
"""Maximum characters of one value in a request."""
_LONG_NAME = re.compile(r"[^\W\d_a-z]\w*(?:[ -](?=[^\W\d_a-z])\w+)+")
"""Words in sequence of which the later ones begin with capitals."""


@dataclass(frozen=True, slots=True)
class Words:
    """Words of a request that a value came from."""

    text: str
    name: str = ""
    """Name that replaces them; empty if they stay."""


def spoken(request: str, told_words: Sequence[Words]) -> str:
    """Return a request with ``{name}`` in place of words that have a name; words without one stay whole.

    Of several places of the same words, the first that is free and no part of a longer name is replaced.
    """
    text = request.replace("{", "(").replace("}", ")")
    names = [hit.span() for hit in _LONG_NAME.finditer(request)]
    taken: dict[tuple[int, int], str] = {}
    # Longer words first, so that no shorter value is cut out of them.
    for words in sorted(told_words, key=lambda words: (-len(words.text), not words.name)):
        free = [at for at in _places(words.text, text) if not any(_overlap(at, other) for other in taken)]
        if free:
            best = min(free, key=lambda at: (_within(at, names), at))
            taken[best] = words.name
    for (start, end), name in sorted(taken.items(), reverse=True):
        text = text[:start] + "{" + name + "}" + text[end:] if name else text
    return text


def _places(words: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of words as whole words."""
    if words:
        own = words.replace("{", "(").replace("}", ")")
        hits = (hit.span() for hit in re.finditer(re.escape(own), text))
        yield from (at for at in hits if not any(within_word(text, place) for place in at))


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _within(place: tuple[int, int], names: Sequence[tuple[int, int]]) -> bool:
    """Return True if a place is part of a longer name, as ``Oslo`` is of ``Oslo Central Hotel``."""
    return place not in names and any(start <= place[0] and place[1] <= end for start, end in names)


def said(text: str, values: Mapping[str, JsonValue], schemas: Mapping[str, JsonObject]) -> str:
    """Return a text of :func:`spoken` with values for its names, written as people do.

    ``schemas`` are the JSON Schemas of the names.
    """

    @cache
    def words_of(name: str) -> str:
        return _as_words(values[name], allowed_values(schemas.get(name, {})))[:_LONGEST]

    def words(hit: re.Match[str]) -> str:
        return words_of(hit[1]) if hit[1] in values else hit[0]

    return _NAMED.sub(words, text)


def named_in(text: str) -> list[str]:
    """Return the names in a text, each once and in order; braces around anything else, as JSON's, are text."""
    return [name for name in dict.fromkeys(_NAMED.findall(text)) if name.isidentifier()]


def _as_words(value: JsonValue, allowed: Sequence[JsonValue]) -> str:
    """Return a value as text: lists by their items, allowed values such as ``full_time`` without underscores."""
    match value:
        case bool():
            return "yes" if value else "no"
        case str():
            return value.replace("_", " ") if value in allowed else value
        case list():
            return ", ".join(_as_words(item, allowed) for item in value)
        case _:
            return json.dumps(value, ensure_ascii=False)


def allowed_values(schema: JsonObject) -> list[JsonValue]:
    """Return the values that a schema's enum allows, those of list items included."""
    own, inner, choices = schema.get("enum"), schema.get("items"), schema.get("anyOf")
    found = list(own) if isinstance(own, list) else []
    parts = [inner, *(choices if isinstance(choices, list) else ())]
    return found + [value for part in parts if isinstance(part, dict) for value in allowed_values(part)]
