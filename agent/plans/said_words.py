"""Words of a request that equal a value, or the items of a list one after the other."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from pydantic.types import JsonValue

_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
"""Scripts without spaces between words: Thai, Lao, Burmese, Khmer, Japanese and Chinese."""
_MOST = 50
"""Maximum items of a list that are searched; no request lists more."""


def words_of(value: JsonValue, request: str) -> str:
    """Return the words of a request that equal a value, as written there; empty if there are none.

    The words of a list reach from its first item to its last.
    """
    parts = value if isinstance(value, list) else [value]
    if len(parts) > _MOST or not all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in parts):
        return ""
    words = [str(one).strip() for one in parts]
    return _in_turn(words, request) if words and all(words) else ""


def _in_turn(words: Sequence[str], request: str) -> str:
    """Return the part of a request that has these words in sequence.

    Between two of them, only punctuation and at most one word may occur. Each word is searched once, from left to
    right.
    """
    runs = _runs(request)
    ended: dict[int, int] = {}  # the ends of the words so far, each with where the first of them begins
    for number, word in enumerate(words):
        ends = sorted(ended)
        begun: dict[int, int] = {}
        for hit in re.finditer(rf"(?={re.escape(word)})", request, re.IGNORECASE):
            start, end = hit.start(), hit.start() + len(word)
            if within_word(request, end):
                continue
            if not number and not within_word(request, start):
                begun[end] = start
            for first, last in _gaps(request, runs, start) if number else ():
                at = bisect_left(ends, first)
                if at < len(ends) and ends[at] <= last:
                    # Keep the earliest beginning if several sequences end here.
                    begun[end] = min(begun.get(end, start), ended[ends[at]])
        ended = begun
    end = min(ended, key=lambda end: (ended[end], end), default=0)
    return request[ended[end] : end] if ended else ""


def _runs(request: str) -> list[int]:
    """Return for each character the beginning of its word or of its punctuation."""
    runs: list[int] = []
    for at, one in enumerate(request):
        same = at and _is_letter(one) == _is_letter(request[at - 1])
        runs.append(runs[-1] if same else at)
    return runs


def _gaps(request: str, runs: Sequence[int], start: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last place where the words before may end, for a word that begins here."""
    if not start or _is_letter(request[start - 1]):
        return
    marks = runs[start - 1]
    yield marks, start - 1
    word = runs[marks - 1] if marks else 0
    if word:
        yield runs[word - 1], word - 1


def within_word(text: str, at: int) -> bool:
    """Return True if a place is inside of a word; in scripts without spaces, a word may end anywhere."""
    before, after = text[max(at - 1, 0) : at], text[at : at + 1]
    return _is_letter(before) and _is_letter(after) and not (_UNSPACED.match(before) or _UNSPACED.match(after))


def _is_letter(one: str) -> bool:
    return one.isalnum() or one == "_"
