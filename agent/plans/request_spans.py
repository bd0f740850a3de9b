"""Find the words of a request that equal a value, or the items of a list one after the other."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from pydantic.types import JsonValue

_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
"""Matches characters of scripts without spaces: Thai, Lao, Burmese, Khmer, Japanese and Chinese."""
_MOST = 50
"""Maximum number of items of a list that is searched; no request lists more."""


def find_request_words(value: JsonValue, request: str) -> str:
    """Return the words of a request that equal a value, as written there; empty if there are none.

    For a list, they reach from its first item to its last.
    """
    parts = value if isinstance(value, list) else [value]
    if len(parts) > _MOST or not all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in parts):
        return ""
    words = [str(one).strip() for one in parts]
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
