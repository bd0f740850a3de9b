"""Comparison of two answers of a host, ignoring what differs by request: paths, methods, ids, times."""

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

_PATH_MARK, _METHOD_MARK, _OWN_MARK = "requestedpath", "requestedmethod", "ownsegment"
_TOKEN_PATTERN = re.compile(r"[^\W_][\w-]*")
_MAX_WORD_LENGTH = 20
"""Longest word that is compared; a longer token is a nonce, digest or id, which differs between answers."""
_SAME_PAGE_SHARE, _OTHER_PAGE_SHARE = 0.95, 0.7
"""Shares of common words above which two HTML pages are the same, and below which they differ.

Nonces and times make exact equality rare.
"""
_MIN_WORDS = 5
_MAX_COMPARED_LENGTH = 100_000
"""Number of characters of a body that are compared."""


def compare_answers(answer: HostAnswer, other_answer: HostAnswer) -> Likeness:
    """Compare two answers by structure and words.

    A segment of the path may also be an ordinary word of the message ("search not found" for /search). So answers are
    the same if they are equal either with the request's own segments masked or with them left as they are.
    """
    likenesses = [_compare_bodies(answer, other_answer, masked=masked) for masked in (True, False)]
    if "same" in likenesses:
        return "same"
    return "unclear" if "unclear" in likenesses else "different"


def names_requested_route(answer: HostAnswer) -> bool:
    """Return whether an answer names the method and whole path of its request, as routers do for a missing route."""
    return {_PATH_MARK, _METHOD_MARK} <= set(
        _iterate_words(_mask_request(answer.body[:_MAX_COMPARED_LENGTH], answer, masked=False))
    )


def is_html_page(body: str) -> bool:
    """Return whether a body is HTML."""
    return body.lstrip("\ufeff \t\r\n")[:1] == "<"


def has_enough_words(body: str) -> bool:
    """Return whether a body has enough words for equality to show that one handler wrote both."""
    return len(list(_iterate_words(body[:_MAX_COMPARED_LENGTH]))) >= _MIN_WORDS


def _compare_bodies(answer: HostAnswer, other_answer: HostAnswer, *, masked: bool) -> Likeness:
    first, second = _parse_structure(answer.body), _parse_structure(other_answer.body)
    if (first is None) != (second is None):
        return "different"
    if first is None or second is None:
        return _compare_texts(
            _list_masked_words(answer, answer.body, masked),
            _list_masked_words(other_answer, other_answer.body, masked),
            answer,
            other_answer,
        )
    fields, other_fields = _collect_leaves(first), _collect_leaves(second)
    if [(place, kind) for place, kind, _ in fields] != [(place, kind) for place, kind, _ in other_fields]:
        return "different"
    for (_, kind, value), (_, _, other_value) in zip(fields, other_fields, strict=True):
        if kind == "str" and _list_masked_words(answer, str(value), masked) != _list_masked_words(
            other_answer, str(other_value), masked
        ):
            return "different"
    numbers = ([value for _, kind, value in leaves if kind != "str"] for leaves in (fields, other_fields))
    return "same" if len({str(list(map(_normalize_number, values))) for values in numbers}) == 1 else "unclear"


def _compare_texts(words: list[str], other_words: list[str], answer: HostAnswer, other_answer: HostAnswer) -> Likeness:
    if is_html_page(answer.body) != is_html_page(other_answer.body):
        return "different"
    if words == other_words and bool(answer.body.strip()) == bool(other_answer.body.strip()):
        return "same"
    if not is_html_page(answer.body):
        return "different"
    first, second = Counter(words), Counter(other_words)
    share = (first & second).total() / max(1, (first | second).total())
    return "same" if share >= _SAME_PAGE_SHARE else "different" if share < _OTHER_PAGE_SHARE else "unclear"


def _parse_structure(body: str) -> JsonValue:
    """Return the object or list of a JSON body; None for any other body."""
    value = read_value(body) if body.lstrip()[:1] in ("{", "[") else None
    return value if isinstance(value, dict | list) else None


def _collect_leaves(value: JsonValue) -> list[tuple[str, str, JsonValue]]:
    """Return the scalars of a value as ``(place, type, value)``, sorted by place and type."""
    return sorted(_walk_leaves(value, ""), key=lambda leaf: leaf[:2])


def _walk_leaves(value: JsonValue, place: str) -> Iterator[tuple[str, str, JsonValue]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _walk_leaves(inner, f"{place}.{key}")
    elif isinstance(value, list) and value:
        for inner in value:
            yield from _walk_leaves(inner, f"{place}[]")
    else:
        yield place, type(value).__name__, value


def _normalize_number(value: JsonValue) -> JsonValue:
    """Replace large numbers by a mark: they are times and counters, which always differ, whereas codes are small."""
    return "large" if isinstance(value, int | float) and abs(value) >= 100_000 else value


def _list_masked_words(answer: HostAnswer, text: str, masked: bool) -> list[str]:
    return list(_iterate_words(_mask_request(text[:_MAX_COMPARED_LENGTH], answer, masked=masked)))


def _mask_request(text: str, answer: HostAnswer, *, masked: bool) -> str:
    """Replace the parts of a text that repeat the request by marks.

    These are the path, with and without the query, the method and, if ``masked``, the request's own words.
    """
    path = answer.target.partition("?")[0]
    if len(path) > 1:
        for form in _list_written_forms((answer.target, path, path.strip("/") if "/" in path.strip("/") else path)):
            text = text.replace(form, f" {_PATH_MARK} ")
    text = re.sub(rf"(?<!\w){re.escape(answer.method)}(?!\w)", f" {_METHOD_MARK} ", text)
    if masked:
        for form in _list_written_forms(word for word in answer.request_words if len(word) > 1):
            text = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", f" {_OWN_MARK} ", text)
    return text


def _list_written_forms(texts: Iterable[str]) -> list[str]:
    """Return texts as servers echo them: percent-encoded or not, HTML-escaped or not; the longest first."""
    plain = {form for text in texts for form in (text, unquote(text))}
    return sorted({*plain, *(html.escape(form) for form in plain)}, key=len, reverse=True)


def _iterate_words(text: str) -> Iterator[str]:
    """Yield the words of a text. Tokens with a digit are ids, times and numbers, and are skipped."""
    for token in _TOKEN_PATTERN.findall(text):
        if len(token) <= _MAX_WORD_LENGTH and not any(letter.isdigit() for letter in token):
            yield token.casefold()
