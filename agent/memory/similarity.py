"""How alike two patterns are: what the encoder says, and the words that both say or only one of them."""

import re
from functools import lru_cache

from graph.identifiers import singular
from offline.nlp.synonyms import synonyms

LEAST = 2
"""Telling words that a pattern must have at least: the kind of its values alone tells nothing."""
SAID = 0.3
"""What telling words that are not shared take from the cosine, where none is (chosen on the playground's trajectories)."""
_STEM = 5
_WORD = re.compile(r"\W+")
_COMMON = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "in",
        "on",
        "at",
        "to",
        "for",
        "from",
        "by",
        "with",
        "and",
        "or",
        "is",
        "are",
        "was",
        "were",
        "be",
        "do",
        "does",
        "did",
        "can",
        "could",
        "would",
        "will",
        "should",
        "i",
        "me",
        "my",
        "we",
        "our",
        "you",
        "your",
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "what",
        "which",
        "who",
        "where",
        "when",
        "how",
        "please",
        "tell",
        "give",
        "show",
        "find",
        "get",
        "right",
        "now",
        "there",
        "some",
    ]
)


@lru_cache(maxsize=4096)
def telling(pattern: str) -> frozenset[str]:
    """The words of a pattern that are not common ones, in the singular; a value counts by its kind: ``name``, ``date``, ``number``."""
    return frozenset(singular(word) for word in _WORD.split(pattern.lower()) if word and word not in _COMMON)


def likeness(cosine: float, asked: str, other: str) -> float:
    """The cosine of two patterns, less up to ``SAID`` for the telling words that one of them says alone."""
    return cosine - SAID * (1 - _shared(telling(asked), telling(other)))


def _shared(asked: frozenset[str], other: frozenset[str]) -> float:
    """F1 of the words that have a fellow on the other side: the same, a synonym, or another form."""
    if not asked or not other:
        return 0.0
    there = sum(any(_fellows(word, w) for w in other) for word in asked) / len(asked)
    back = sum(any(_fellows(word, w) for w in asked) for word in other) / len(other)
    return 2 * there * back / (there + back) if there + back else 0.0


def _fellows(one: str, other: str) -> bool:
    if one == other or other in synonyms(one) or one in synonyms(other):
        return True
    return len(one) >= _STEM and len(other) >= _STEM and one[:_STEM] == other[:_STEM]
