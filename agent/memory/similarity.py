"""Patterns of requests, with values replaced by their kinds, and the similarity of two patterns."""

import re
from functools import lru_cache

LEAST = 2
"""Words that a pattern must have to be compared; one word alone matches too much."""
SAID = 0.3
"""Amount subtracted from the cosine of patterns without a common word (chosen on the playground's trajectories)."""
_STEM = 5
"""First letters by which longer words count as forms of one word."""
_WORD = re.compile(r"\W+")
KINDS = (
    ("quoted", re.compile(r"\"[^\"]+\"|“[^”]+”|«[^»]+»|„[^“]+“|「[^」]+」|(?<!\w)['‘][^'’]{2,}['’](?!\w)")),
    ("email", re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("url", re.compile(r"\bhttps?://\S+")),
    ("code", re.compile(r"(?<!\w)(?=[\w-]*[^\W\d_])(?=[\w-]*\d)\w[\w-]+")),
    ("number", re.compile(r"\d+(?:[.,:/-]\d+)*")),
    ("name", re.compile(r"(?<![.!?。！？])(?<=\w[\s,])[^\W\d_a-z][^\W\d_]*(?:[\s-][^\W\d_a-z][^\W\d_]*)*(?=\W|$)")),
)
"""Kinds of values with their regular expressions, in the order of their replacement.

A name is one or more capitalized words that do not begin a sentence.
"""


@lru_cache(maxsize=4096)
def pattern(request: str) -> str:
    """Replace each value in a request by its kind: "weather in Oslo at 15:30" → "weather in <name> at <number>".

    It works in any language, by form alone; in scripts without capitals, names stay as they are.
    """
    text = request
    for kind, looks in KINDS:
        text = looks.sub(lambda hit, kind=kind: f"<{kind}>" if _is_value(kind, hit[0]) else hit[0], text)
    return " ".join(text.split())


def _is_value(kind: str, text: str) -> bool:
    """Check if a match is a value. The pattern of names also matches letters of scripts without capitals."""
    return kind != "name" or text[0].isupper()


@lru_cache(maxsize=4096)
def telling(pattern: str) -> frozenset[str]:
    """Return the words of a pattern; the kinds of its values (``name``, ``email``, ``number``) are words, too."""
    return frozenset(word for word in _WORD.split(pattern.casefold()) if word)


def likeness(cosine: float, asked: str, other: str) -> float:
    """Return the similarity of two patterns: their cosine, less up to ``SAID`` for words that only one of them has."""
    return cosine - SAID * (1 - _shared(telling(asked), telling(other)))


def _shared(asked: frozenset[str], other: frozenset[str]) -> float:
    """Return the F1 score of two sets of words; a word counts as shared if the other set has a form of it."""
    if not asked or not other:
        return 0.0
    there = sum(any(_fellows(word, w) for w in other) for word in asked) / len(asked)
    back = sum(any(_fellows(word, w) for w in asked) for word in other) / len(other)
    return 2 * there * back / (there + back) if there + back else 0.0


def _fellows(one: str, other: str) -> bool:
    """Check if two words are the same or forms of one word: equal in their first ``_STEM`` letters."""
    return one == other or (len(one) >= _STEM and len(other) >= _STEM and one[:_STEM] == other[:_STEM])
