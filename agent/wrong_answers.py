"""Detection of answers that repeat what the user has marked as wrong, in the same words or others."""

import re
from collections.abc import Collection, Iterator

_SOURCE_REFERENCE = re.compile(r"\[\d+\]|^Based on: .*$", re.MULTILINE)
_LABEL = re.compile(r"^[-\s]*(?:[^\W\d_][\w ]{0,40}: )?")
"""Label in front of a value, such as ``- Capital: ``."""
_WORD = re.compile(r"\w+(?:[.,:/-]\w+)*")


def is_known_wrong(answer: str, wrong_answers: Collection[str], request: str) -> bool:
    """Return whether an answer repeats one of the wrong ones.

    It does if all words are equal, or if the figures and names that are not in the request are equal and in the same
    order: an answer in other words is still wrong if it gives the same values.
    """
    words, distinctive_words = _extract_words(answer), _extract_distinctive_words(answer, request)
    return any(
        words == _extract_words(wrong_answer)
        or (bool(distinctive_words) and distinctive_words == _extract_distinctive_words(wrong_answer, request))
        for wrong_answer in wrong_answers
        if _extract_words(wrong_answer)
    )


def _extract_words(answer: str) -> list[str]:
    return [word.casefold() for part in _split_values(answer) for word in _WORD.findall(part)]


def _extract_distinctive_words(answer: str, request: str) -> list[str]:
    """Return the words with a digit or a capital that the request does not contain."""
    request_words = {word.casefold() for word in _WORD.findall(request)}
    words = [word for part in _split_values(answer) for word in _WORD.findall(part)]
    return [
        word.casefold()
        for word in words
        if word != word.lower() or re.search(r"\d", word)
        if word.casefold() not in request_words
    ]


def _split_values(answer: str) -> Iterator[str]:
    """Yield the lines and clauses of an answer, without sources and without labels of values."""
    for part in re.split(r"[\n;]", _SOURCE_REFERENCE.sub("", answer)):
        yield _LABEL.sub("", part, count=1)
