"""Numbers that are spelled: ``seventy-two``, ``three hundred and five``."""

import re
from collections.abc import Iterator

from offline.nlp.gazetteer import NUMBER_SCALES, NUMBER_WORDS

_SPELLED = re.compile(
    rf"(?<![\w-])(?:an?\s+(?={'|'.join(NUMBER_SCALES)}))?(?:{'|'.join(NUMBER_WORDS)})(?:(?:-|\s+and\s+|\s+)(?:{'|'.join(NUMBER_WORDS)})\b)*(?![\w-])", re.I
)  # fmt: skip
_MINUS = re.compile(r"([^\W_]*|[)%])\s*\b(?:minus|negative)\s+$", re.IGNORECASE)
"""*Minus* with what is before it: a number there makes it a difference."""


def negated(text: str, start: int) -> str:
    """``-`` where the number that starts here is said to be below zero ("minus 5"), else nothing."""
    hit = _MINUS.search(text[max(0, start - 40) : start])
    before = hit[1].lower() if hit else ")"
    difference = before in (")", "%") or before[-1:].isdigit() or before in NUMBER_WORDS
    return "" if difference or text[start : start + 1] in "-−" else "-"


def spelled_in(text: str) -> Iterator[tuple[int, int, int]]:
    """Start, end and value of each spelled number of a text."""
    for hit in _SPELLED.finditer(text):
        yield hit.start(), hit.end(), spelled_number(hit[0])


def spelled_number(text: str) -> int:
    """``seventy-two`` and ``three hundred and five`` as numbers."""
    total = part = 0
    for word in re.findall(r"[a-z]+", text.lower()):
        value = NUMBER_WORDS.get(word)
        if value is None:
            continue
        if word not in NUMBER_SCALES:
            part += value
        elif value > 100:
            total, part = total + max(1, part) * value, 0
        else:
            part = max(1, part) * value
    return total + part
