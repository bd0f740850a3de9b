"""How alike two requests are beside their values: the encoder's word on their patterns, and the words that both say or only one of them."""

import re
from functools import lru_cache

LEAST = 2
"""Words that a pattern must have at least: the kinds of its values alone tell nothing."""
SAID = 0.3
"""What words that are not shared take from the cosine, where none is (chosen on the playground's trajectories)."""
_STEM = 5
_WORD = re.compile(r"\W+")
KINDS = (
    ("quoted", re.compile(r"\"[^\"]+\"|“[^”]+”|«[^»]+»|„[^“]+“|「[^」]+」|(?<!\w)['‘][^'’]{2,}['’](?!\w)")),
    ("email", re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("url", re.compile(r"\bhttps?://\S+")),
    ("code", re.compile(r"(?<!\w)(?=[\w-]*[^\W\d_])(?=[\w-]*\d)\w[\w-]+")),
    ("number", re.compile(r"\d+(?:[.,:/-]\d+)*")),
    ("name", re.compile(r"(?<![.!?。！？])(?<=\w[\s,])[^\W\d_a-z][^\W\d_]*(?:[\s-][^\W\d_a-z][^\W\d_]*)*(?=\W|$)")),
)
"""Values by their looks, in the order in which they are taken out; a name is known by capitals within a sentence."""


@lru_cache(maxsize=4096)
def pattern(request: str) -> str:
    """A request with each value replaced by its kind: "weather in Oslo at 15:30" → "weather in <name> at <number>".

    By looks alone, whatever its language; scripts without capitals keep their names.
    """
    text = request
    for kind, looks in KINDS:
        text = looks.sub(lambda hit, kind=kind: f"<{kind}>" if _is_value(kind, hit[0]) else hit[0], text)
    return " ".join(text.split())


def _is_value(kind: str, text: str) -> bool:
    """Letters of a script without capitals make no name."""
    return kind != "name" or text[0].isupper()


@lru_cache(maxsize=4096)
def telling(pattern: str) -> frozenset[str]:
    """The words of a pattern; a value counts by its kind: ``name``, ``email``, ``number``."""
    return frozenset(word for word in _WORD.split(pattern.casefold()) if word)


def likeness(cosine: float, asked: str, other: str) -> float:
    """The cosine of two patterns, less up to ``SAID`` for the words that one of them says alone."""
    return cosine - SAID * (1 - _shared(telling(asked), telling(other)))


def _shared(asked: frozenset[str], other: frozenset[str]) -> float:
    """F1 of the words that have a fellow on the other side: the same, or another form of it."""
    if not asked or not other:
        return 0.0
    there = sum(any(_fellows(word, w) for w in other) for word in asked) / len(asked)
    back = sum(any(_fellows(word, w) for w in asked) for word in other) / len(other)
    return 2 * there * back / (there + back) if there + back else 0.0


def _fellows(one: str, other: str) -> bool:
    return one == other or (len(one) >= _STEM and len(other) >= _STEM and one[:_STEM] == other[:_STEM])
