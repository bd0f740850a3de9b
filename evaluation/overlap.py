"""Overlap of requests: evaluated requests must not be among the training requests, not even with a word changed."""

import re
from collections.abc import Iterable, Sequence

NEAR = 0.5
"""Word overlap (Jaccard) above which two requests count as one."""

_WORD = re.compile(r"[a-z0-9]+")
Words = frozenset[str]


class Requests:
    """Requests that others must be apart from."""

    def __init__(self, requests: Iterable[str]) -> None:
        self._known: Sequence[Words] = tuple(dict.fromkeys(words(request) for request in requests))

    def near(self, request: str) -> bool:
        """Return whether one of them is the request, or nearly so."""
        asked = words(request)
        return any(_comparable(asked, known) and overlap(asked, known) > NEAR for known in self._known)


def words(request: str) -> Words:
    """Return the words that two requests are compared by; order, case and punctuation are ignored."""
    return frozenset(_WORD.findall(request.lower()))


def overlap(one: Words, other: Words) -> float:
    """Return the share of all words that both requests have, in [0, 1] (Jaccard)."""
    return len(one & other) / max(1, len(one | other))


def _comparable(one: Words, other: Words) -> bool:
    """Return whether the numbers of words alone allow an overlap above the bound: most pairs are ruled out cheaply."""
    few, many = sorted((len(one), len(other)))
    return few > NEAR * many
