"""Search for values in the user's own messages, literally or as the rules read them."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from pydantic.types import JsonValue

from agent.execution.validation import coerce
from agent.request_reader import RequestReader
from domain.tool import Parameter

_READ = 20
"""Latest messages that the rules read as well: "tomorrow" for a day, "euros" for a code."""
_NUMBER = re.compile(r"\d[\d.,'’]*")


class Said:
    """Messages of a user, the oldest first."""

    def __init__(self, messages: Sequence[str], reader: RequestReader) -> None:
        self._messages = tuple(messages)
        self._plain = tuple(plain(message) for message in messages)
        self._numbers = frozenset(number for message in self._plain for number in _numbers_in(message))
        self._reader = reader
        self._meant: dict[str, frozenset[str]] = {}

    def with_answer(self, text: str) -> "Said":
        """Return a copy with this message added."""
        return Said((*self._messages, text), self._reader)

    def says(self, value: JsonValue, parameter: Parameter | None) -> bool:
        """Return whether the user said a single value, literally or in words that mean it for the parameter."""
        text = plain_value(value)
        if not text:
            return False
        if any(stands(text, message) for message in self._plain):
            return True
        if _as_number(text) in self._numbers:
            return True
        return parameter is not None and plain_value(coerce(value, parameter)) in self._meant_by(parameter)

    def _meant_by(self, parameter: Parameter) -> frozenset[str]:
        """Return the values that the messages may mean for a parameter, as normalized text."""
        key = parameter.model_dump_json()
        if key not in self._meant:
            read = (plain_value(coerce(one, parameter)) for one in self._values(parameter))
            self._meant[key] = frozenset(one for one in read if one)
        return self._meant[key]

    def _values(self, parameter: Parameter) -> Iterator[JsonValue]:
        for message in reversed(self._messages[-_READ:]):
            yield from self._reader.values(message, parameter)


def plain(text: str) -> str:
    """Normalize a text for comparison: NFKC, case folded, one space between words."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def plain_value(value: JsonValue) -> str:
    """Return a single value as normalized text; empty for structures, None and booleans, which no text spells."""
    if value is None or isinstance(value, (bool, list, dict)):
        return ""
    return f"{value:.10g}" if isinstance(value, float) else plain(str(value))


def stands(text: str, within: str) -> bool:
    """Return whether a text occurs in another as whole words. Both are normalized."""
    return next(places(text, within), None) is not None


def places(text: str, within: str) -> Iterator[int]:
    """Yield the offsets at which a text occurs in another, not as a part of a longer word or number."""
    start = within.find(text) if text else -1
    while start >= 0:
        end = start + len(text)
        if not _joined(within[start - 1 : start], text[0]) and not _joined(text[-1], within[end : end + 1]):
            yield start
        start = within.find(text, start + 1)


def _joined(one: str, other: str) -> bool:
    """Return whether two adjacent characters belong to one word or number.

    Scripts without capitals often put no space between words, so their letters do not join.
    """
    if not (one.isalnum() and other.isalnum()):
        return False
    plain_letters = one.isascii() and other.isascii()
    return plain_letters or (one.isdigit() and other.isdigit()) or (one.upper() != one and other.upper() != other)


def _numbers_in(message: str) -> Iterator[float]:
    """Yield the numbers of a message, read with a decimal point and with a decimal comma."""
    for found in _NUMBER.finditer(message):
        digits = found[0].rstrip(".,'’").replace("'", "").replace("’", "")
        for written in {digits.replace(",", ""), digits.replace(".", "").replace(",", ".")}:
            number = _as_number(written)
            if number is not None:
                yield number


def _as_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    # "nan" and "infinity" are words of a message, no numbers.
    return number if number == number and abs(number) != float("inf") else None
