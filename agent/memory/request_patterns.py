"""Patterns of requests, with values replaced by their kinds, and the similarity of two patterns."""

import re
from functools import lru_cache

MIN_PATTERN_WORDS = 2
"""Words that a pattern must have to be compared; one word alone matches too much."""
WORD_PENALTY = 0.3
"""Amount subtracted from the cosine of patterns without a common word (chosen on the playground's trajectories)."""
_STEM_CHARS = 5
"""First letters by which longer words count as forms of one word."""
_WORD = re.compile(r"\W+")
VALUE_KINDS = (
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
def build_pattern(request: str) -> str:
    """Replace each value in a request by its kind: "weather in Oslo at 15:30" → "weather in <name> at <number>".

    It works in any language, by form alone; in scripts without capitals, names stay as they are.
    """
    text = request
    for kind, looks in VALUE_KINDS:
        text = looks.sub(lambda hit, kind=kind: f"<{kind}>" if _is_value(kind, hit[0]) else hit[0], text)
    return " ".join(text.split())


def _is_value(kind: str, text: str) -> bool:
    """Check if a match is a value. The pattern of names also matches letters of scripts without capitals."""
    return kind != "name" or text[0].isupper()


@lru_cache(maxsize=4096)
def split_pattern_words(pattern: str) -> frozenset[str]:
    """Return the words of a pattern; the kinds of its values (``name``, ``email``, ``number``) are words, too."""
    return frozenset(word for word in _WORD.split(pattern.casefold()) if word)


def compute_pattern_similarity(cosine: float, pattern: str, other_pattern: str) -> float:
    """Return the similarity of two patterns: their cosine, less up to ``WORD_PENALTY`` for words that only one of them has."""
    return cosine - WORD_PENALTY * (
        1 - _compute_word_f1(split_pattern_words(pattern), split_pattern_words(other_pattern))
    )


def _compute_word_f1(words: frozenset[str], other_words: frozenset[str]) -> float:
    """Return the F1 score of two sets of words; a word counts as shared if the other set has a form of it."""
    if not words or not other_words:
        return 0.0
    recall = sum(any(_is_same_stem(word, other_word) for other_word in other_words) for word in words) / len(words)
    precision = sum(any(_is_same_stem(word, other_word) for other_word in words) for word in other_words) / len(
        other_words
    )
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


def _is_same_stem(word: str, other_word: str) -> bool:
    """Check if two words are the same or forms of one word: equal in their first ``_STEM_CHARS`` letters."""
    return word == other_word or (
        len(word) >= _STEM_CHARS and len(other_word) >= _STEM_CHARS and word[:_STEM_CHARS] == other_word[:_STEM_CHARS]
    )
