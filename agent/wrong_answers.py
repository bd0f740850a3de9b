"""Detection of answers that repeat what the user has marked as wrong, in the same or in other words."""

import re
from collections.abc import Collection, Iterator

_SOURCES = re.compile(r"\[\d+\]|^Based on: .*$", re.MULTILINE)
_LABEL = re.compile(r"^[-\s]*(?:[^\W\d_][\w ]{0,40}: )?")
"""Label in front of a value."""
_WORD = re.compile(r"\w+(?:[.,:/-]\w+)*")


def said_again(answer: str, wrong: Collection[str], request: str) -> bool:
    """Return whether an answer equals one of the wrong ones.

    If both contain figures or names that the request does not, only these are compared, in their order.
    """
    own, told = _words(answer), _telling(answer, request)
    return any(own == _words(one) or (bool(told) and told == _telling(one, request)) for one in wrong if _words(one))


def _words(answer: str) -> list[str]:
    return [word.casefold() for part in _parts(answer) for word in _WORD.findall(part)]


def _telling(answer: str, request: str) -> list[str]:
    known = {word.casefold() for word in _WORD.findall(request)}
    words = [word for part in _parts(answer) for word in _WORD.findall(part)]
    return [
        word.casefold()
        for word in words
        if word != word.lower() or re.search(r"\d", word)
        if word.casefold() not in known
    ]


def _parts(answer: str) -> Iterator[str]:
    """Yield the lines and clauses of an answer, without sources and labels of values."""
    for part in re.split(r"[\n;]", _SOURCES.sub("", answer)):
        yield _LABEL.sub("", part, count=1)
