"""Comparison of two answers of a host, apart from what differs by request: paths, methods, ids, times."""

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal
from urllib.parse import unquote

from pydantic.types import JsonValue

from agent.execution.host_memory import HostAnswer
from graph.lenient_json import read_value

Likeness = Literal["same", "different", "unclear"]

_PATH, _METHOD, _OWN = "requestedpath", "requestedmethod", "ownsegment"
_TOKEN = re.compile(r"[^\W_][\w-]*")
_LONGEST_WORD = 20
"""Letters of a word at most; a longer token is a nonce, a digest or an id, which differs from answer to answer."""
_SAME_PAGE, _OTHER_PAGE = 0.95, 0.7
"""Shares of common words above which two HTML pages are the same, and below which they differ. Nonces and times make exact equality rare."""
_FEWEST_WORDS = 5
_LONGEST = 100_000
"""Characters of a body that are compared."""


def compare_answers(one: HostAnswer, other: HostAnswer) -> Likeness:
    """Compare two answers by form and words.

    A segment of the path may also be a word of the message ("search not found" to /search), so answers are the same if they are equal
    either with the request's own segments masked or with them as they are.
    """
    found = [_compare(one, other, masked=masked) for masked in (True, False)]
    if "same" in found:
        return "same"
    return "unclear" if "unclear" in found else "different"


def names_route(answer: HostAnswer) -> bool:
    """Return whether an answer names the method and whole path of its request, as routers do without such a route."""
    return {_PATH, _METHOD} <= set(_words(_mask(answer.body[:_LONGEST], answer, masked=False)))


def is_page(body: str) -> bool:
    """Return whether a body is HTML."""
    return body.lstrip("\ufeff \t\r\n")[:1] == "<"


def has_words(body: str) -> bool:
    """Return whether a body has enough words for equality to show a common handler; bare tags may come from any."""
    return len(list(_words(body[:_LONGEST]))) >= _FEWEST_WORDS


def _compare(one: HostAnswer, other: HostAnswer, *, masked: bool) -> Likeness:
    first, second = _structure(one.body), _structure(other.body)
    if (first is None) != (second is None):
        return "different"
    if first is None or second is None:
        return _compare_texts(
            _masked_words(one, one.body, masked), _masked_words(other, other.body, masked), one, other
        )
    fields, others = _leaves(first), _leaves(second)
    if [(place, kind) for place, kind, _ in fields] != [(place, kind) for place, kind, _ in others]:
        return "different"
    for (_, kind, value), (_, _, compared) in zip(fields, others, strict=True):
        if kind == "str" and _masked_words(one, str(value), masked) != _masked_words(other, str(compared), masked):
            return "different"
    numbers = ([value for _, kind, value in leaves if kind != "str"] for leaves in (fields, others))
    return "same" if len({str(list(map(_scale, values))) for values in numbers}) == 1 else "unclear"


def _compare_texts(words: list[str], compared: list[str], one: HostAnswer, other: HostAnswer) -> Likeness:
    if is_page(one.body) != is_page(other.body):
        return "different"
    if words == compared and bool(one.body.strip()) == bool(other.body.strip()):
        return "same"
    if not is_page(one.body):
        return "different"
    first, second = Counter(words), Counter(compared)
    share = (first & second).total() / max(1, (first | second).total())
    return "same" if share >= _SAME_PAGE else "different" if share < _OTHER_PAGE else "unclear"


def _structure(body: str) -> JsonValue:
    """Return the object or list of a JSON body; None for any other body."""
    value = read_value(body) if body.lstrip()[:1] in ("{", "[") else None
    return value if isinstance(value, dict | list) else None


def _leaves(value: JsonValue) -> list[tuple[str, str, JsonValue]]:
    """Return the scalars of a value with their places and types, sorted by these."""
    return sorted(_walk(value, ""), key=lambda leaf: leaf[:2])


def _walk(value: JsonValue, place: str) -> Iterator[tuple[str, str, JsonValue]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _walk(inner, f"{place}.{key}")
    elif isinstance(value, list) and value:
        for inner in value:
            yield from _walk(inner, f"{place}[]")
    else:
        yield place, type(value).__name__, value


def _scale(value: JsonValue) -> JsonValue:
    """Return a number as it is compared: large ones are times and counters, which always differ; codes are small."""
    return "large" if isinstance(value, int | float) and abs(value) >= 100_000 else value


def _masked_words(answer: HostAnswer, text: str, masked: bool) -> list[str]:
    return list(_words(_mask(text[:_LONGEST], answer, masked=masked)))


def _mask(text: str, answer: HostAnswer, *, masked: bool) -> str:
    """Replace what an answer repeats of its request by marks.

    These are the path, with and without the query, the method and, if ``masked``, the request's own words.
    """
    path = answer.target.partition("?")[0]
    if len(path) > 1:
        for form in _forms((answer.target, path, path.strip("/") if "/" in path.strip("/") else path)):
            text = text.replace(form, f" {_PATH} ")
    text = re.sub(rf"(?<!\w){re.escape(answer.method)}(?!\w)", f" {_METHOD} ", text)
    if masked:
        for form in _forms(word for word in answer.words if len(word) > 1):
            text = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", f" {_OWN} ", text)
    return text


def _forms(texts: Iterable[str]) -> list[str]:
    """Return texts as servers echo them: percent-encoded or not, HTML-escaped or not; the longest first."""
    plain = {form for text in texts for form in (text, unquote(text))}
    return sorted({*plain, *(html.escape(form) for form in plain)}, key=len, reverse=True)


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text. Tokens with a digit are ids, times and numbers, and are skipped."""
    for token in _TOKEN.findall(text):
        if len(token) <= _LONGEST_WORD and not any(letter.isdigit() for letter in token):
            yield token.casefold()
