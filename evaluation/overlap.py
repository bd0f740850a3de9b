"""Near duplicates of evaluated requests: how they are recognised, and memories without them.

An evaluated request must not be among the training requests or the memories, not even with a word changed.
"""

import re
from collections.abc import Iterable, Sequence

NEAR_DUPLICATE_OVERLAP = 0.5
"""Word overlap (Jaccard) above which two requests count as one."""

_WORD = re.compile(r"[a-z0-9]+")
Words = frozenset[str]


class ReferenceRequests:
    """Requests from which others must differ."""

    def __init__(self, requests: Iterable[str]) -> None:
        self._word_sets: Sequence[Words] = tuple(dict.fromkeys(extract_words(request) for request in requests))

    def has_near_duplicate(self, request: str) -> bool:
        """Return whether a request equals one of them, or nearly so."""
        request_words = extract_words(request)
        return any(
            _may_overlap(request_words, known) and compute_overlap(request_words, known) > NEAR_DUPLICATE_OVERLAP
            for known in self._word_sets
        )


def extract_words(request: str) -> Words:
    """Return the words that two requests are compared by; order, case and punctuation are ignored."""
    return frozenset(_WORD.findall(request.lower()))


def compute_overlap(first: Words, second: Words) -> float:
    """Return the share of all words that both requests have, in [0, 1] (Jaccard)."""
    return len(first & second) / max(1, len(first | second))


def _may_overlap(first: Words, second: Words) -> bool:
    """Return whether the numbers of words allow an overlap above the bound; this rules most pairs out cheaply."""
    few, many = sorted((len(first), len(second)))
    return few > NEAR_DUPLICATE_OVERLAP * many
