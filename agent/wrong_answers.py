"""Detection of answers that repeat what the user has marked as wrong, in the same or in other words."""

import re
from collections.abc import Collection, Iterator

_SOURCES = re.compile(r"\[\d+\]|^Based on: .*$", re.MULTILINE)
_LABEL = re.compile(r"^[-\s]*(?:[^\W\d_][\w ]{0,40}: )?")
"""Label in front of a value."""
_WORD = re.compile(r"\w+(?:[.,:/-]\w+)*")


def is_known_wrong(answer: str, wrong: Collection[str], request: str) -> bool:
    """Return whether an answer equals one of the wrong ones.

    If both contain figures or names that the request does not, only these are compared, in their order.
    """
    own, distinctive = _extract_words(answer), _extract_distinctive_words(answer, request)
    return any(
        own == _extract_words(one) or (bool(distinctive) and distinctive == _extract_distinctive_words(one, request))
        for one in wrong
        if _extract_words(one)
    )


def _extract_words(answer: str) -> list[str]:
    return [word.casefold() for part in _split_values(answer) for word in _WORD.findall(part)]


def _extract_distinctive_words(answer: str, request: str) -> list[str]:
    request_words = {word.casefold() for word in _WORD.findall(request)}
    words = [word for part in _split_values(answer) for word in _WORD.findall(part)]
    return [
        word.casefold()
        for word in words
        if word != word.lower() or re.search(r"\d", word)
        if word.casefold() not in request_words
    ]


def _split_values(answer: str) -> Iterator[str]:
    """Yield the lines and clauses of an answer, without sources and labels of values."""
    for part in re.split(r"[\n;]", _SOURCES.sub("", answer)):
        yield _LABEL.sub("", part, count=1)
