"""Search for the values of calls: in the user's messages, and in text by others such as responses and files."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from pydantic.types import JsonValue

from agent.execution.validation import coerce
from agent.request_reader import RequestReader
from domain.tool import Parameter

_MAX_READ_MESSAGES = 20
"""Number of latest messages that the reader interprets too: "tomorrow" as a date, "euros" as a currency code."""
_NUMBER_PATTERN = re.compile(r"\d[\d.,'’]*")


class UserMessages:
    """Messages of a user, the oldest first."""

    def __init__(self, messages: Sequence[str], reader: RequestReader) -> None:
        self._messages = tuple(messages)
        self._plain = tuple(normalize_text(message) for message in messages)
        self._numbers = frozenset(number for message in self._plain for number in _iter_numbers(message))
        self._reader = reader
        self._meanings: dict[str, frozenset[str]] = {}

    def with_answer(self, text: str) -> "UserMessages":
        """Return a copy with this message added."""
        return UserMessages((*self._messages, text), self._reader)

    def mentions(self, value: JsonValue, parameter: Parameter | None) -> bool:
        """Return whether the user said a scalar value, literally or in words that mean it for the parameter."""
        text = normalize_value(value)
        if not text:
            return False
        if any(occurs_in(text, message) for message in self._plain):
            return True
        if _parse_number(text) in self._numbers:
            return True
        return parameter is not None and normalize_value(coerce(value, parameter)) in self._find_meanings(parameter)

    def _find_meanings(self, parameter: Parameter) -> frozenset[str]:
        """Return the values that the messages may express for a parameter, as normalized text."""
        key = parameter.model_dump_json()
        if key not in self._meanings:
            values = (normalize_value(coerce(one, parameter)) for one in self._read_values(parameter))
            self._meanings[key] = frozenset(one for one in values if one)
        return self._meanings[key]

    def _read_values(self, parameter: Parameter) -> Iterator[JsonValue]:
        for message in reversed(self._messages[-_MAX_READ_MESSAGES:]):
            yield from self._reader.interpret_values(message, parameter)


def normalize_text(text: str) -> str:
    """Normalize a text for comparison: NFKC, case folded, one space between words."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def normalize_value(value: JsonValue) -> str:
    """Return a scalar as normalized text; empty for None, booleans and structures, which texts do not spell."""
    if value is None or isinstance(value, (bool, list, dict)):
        return ""
    return f"{value:.10g}" if isinstance(value, float) else normalize_text(str(value))


def occurs_in(text: str, within: str) -> bool:
    """Return whether a text occurs as whole words in another; both are normalized."""
    return next(find_occurrences(text, within), None) is not None


def find_occurrences(text: str, within: str) -> Iterator[int]:
    """Yield the offsets at which a text occurs in another, except as part of a longer word or number."""
    start = within.find(text) if text else -1
    while start >= 0:
        end = start + len(text)
        if not _are_joined(within[start - 1 : start], text[0]) and not _are_joined(text[-1], within[end : end + 1]):
            yield start
        start = within.find(text, start + 1)


def _are_joined(first: str, second: str) -> bool:
    """Return whether two adjacent characters belong to one word or number.

    Scripts without capitals often put no space between words, so their letters do not join.
    """
    if not (first.isalnum() and second.isalnum()):
        return False
    plain_letters = first.isascii() and second.isascii()
    return (
        plain_letters or (first.isdigit() and second.isdigit()) or (first.upper() != first and second.upper() != second)
    )


def _iter_numbers(message: str) -> Iterator[float]:
    """Yield the numbers of a message, read with a decimal point and with a decimal comma."""
    for match in _NUMBER_PATTERN.finditer(message):
        digits = match[0].rstrip(".,'’").replace("'", "").replace("’", "")
        for written in {digits.replace(",", ""), digits.replace(".", "").replace(",", ".")}:
            number = _parse_number(written)
            if number is not None:
                yield number


def _parse_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    # "nan" and "infinity" are words in a message, not numbers.
    return number if number == number and abs(number) != float("inf") else None
