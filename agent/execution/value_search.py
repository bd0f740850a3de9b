"""Search for the values of calls: in the user's messages, and in text by others such as responses and files."""

import re
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

from pydantic.types import JsonValue

from agent.execution.call_wording import find_thing_name_at, is_identifying_field, is_named_after
from agent.execution.coercion import coerce_value
from agent.request_reader import RequestReader
from domain.plan import StepResult
from domain.tool import Parameter, ToolDoc
from graph.lenient_json import read_value

_MAX_READ_MESSAGES = 20
"""Number of latest messages that the reader interprets too: "tomorrow" as a date, "euros" as a currency code."""
_NUMBER_PATTERN = re.compile(r"\d[\d.,'’]*")


class UserMessages:
    """Messages of a user, the oldest first."""

    def __init__(self, messages: Sequence[str], reader: RequestReader) -> None:
        self._messages = tuple(messages)
        self._normalized_messages = tuple(normalize_text(message) for message in messages)
        self._numbers = frozenset(
            number for message in self._normalized_messages for number in _iterate_numbers(message)
        )
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
        if any(occurs_in(text, message) for message in self._normalized_messages):
            return True
        if _parse_number(text) in self._numbers:
            return True
        return parameter is not None and normalize_value(coerce_value(value, parameter)) in self._find_meanings(
            parameter
        )

    def _find_meanings(self, parameter: Parameter) -> frozenset[str]:
        """Return the values that the messages may express for a parameter, as normalized text."""
        key = parameter.model_dump_json()
        if key not in self._meanings:
            values = (normalize_value(coerce_value(value, parameter)) for value in self._read_values(parameter))
            self._meanings[key] = frozenset(text for text in values if text)
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


def occurs_in(text: str, longer_text: str) -> bool:
    """Return whether a text occurs as whole words in another; both are normalized."""
    return next(find_occurrences(text, longer_text), None) is not None


def find_occurrences(text: str, longer_text: str) -> Iterator[int]:
    """Yield the offsets at which a text occurs in another, except as part of a longer word or number."""
    start = longer_text.find(text) if text else -1
    while start >= 0:
        end = start + len(text)
        if not _are_one_word(longer_text[start - 1 : start], text[0]) and not _are_one_word(
            text[-1], longer_text[end : end + 1]
        ):
            yield start
        start = longer_text.find(text, start + 1)


def _are_one_word(first: str, second: str) -> bool:
    """Return whether two adjacent characters belong to one word or number.

    Scripts without capitals often put no space between words, so their letters do not join.
    """
    if not (first.isalnum() and second.isalnum()):
        return False
    plain_letters = first.isascii() and second.isascii()
    return (
        plain_letters or (first.isdigit() and second.isdigit()) or (first.upper() != first and second.upper() != second)
    )


def _iterate_numbers(message: str) -> Iterator[float]:
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


_MAX_PLACES_PER_VALUE = 50
"""Most places of one value that are kept to find the thing that it identifies."""
WORD_PATTERN = re.compile(r"\w{4,}|\w*\d\w*")
"""Words whose occurrence shows where a text came from: those of four letters or more, and those with digits."""


@dataclass(frozen=True, slots=True)
class _TextIndex:
    """Values and texts of a response with their places in it."""

    fields: dict[str, str]
    """First place of each value, by its normalized form."""
    texts: list[tuple[str, str]]
    """Normalized string values with their places."""
    field_names: list[tuple[str, str]]
    """Normalized names of fields with their places."""
    things: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Places of each value that identifies a thing, at most ``_MAX_PLACES_PER_VALUE``."""
    joined: str = ""
    """All ``texts`` and ``field_names``, one per line, so that one search covers them."""
    starts: list[int] = field(default_factory=list[int])
    """Offset of each line in ``joined``."""

    def join_texts(self) -> "_TextIndex":
        """Return a copy with ``joined`` and ``starts`` filled."""
        lines = [text for text, _ in (*self.texts, *self.field_names)]
        starts = list(accumulate((len(line) + 1 for line in lines), initial=1))
        return replace(self, joined="\n".join(["", *lines, ""]), starts=starts)

    def find_inside(self, text: str) -> str | None:
        """Return the place of a longer text, or of a field name, that contains the text; None if there is none."""
        for offset in find_occurrences(text, self.joined):
            line = bisect_right(self.starts, offset) - 1
            if line >= len(self.texts):
                return self.field_names[line - len(self.texts)][1]
            line_text, place = self.texts[line]
            if line_text != text:
                return place
        return None


class ForeignText:
    """Text by somebody other than the user, such as a response or a file, parsed at the first search."""

    def __init__(self, text: str) -> None:
        self._text = text

    def find_field(self, value: JsonValue) -> str | None:
        """Return the place of the first field that equals a value; None if there is none."""
        return self._index.fields.get(normalize_key(value))

    def find_in_text(self, value: JsonValue) -> str | None:
        """Return the place of a longer text or a field name that contains a value; None if there is none."""
        text = normalize_value(value)
        return self._index.find_inside(text) if text else None

    def has_word(self, word: str) -> bool:
        """Return whether the text contains a normalized word."""
        return word in self._words

    def find_fields_in(self, text: str) -> Iterator[str]:
        """Yield the field values that occur in a longer normalized text and hold a word of ``WORD_PATTERN``."""
        return (
            field_text
            for field_text in self._index.fields
            if field_text != text and occurs_in(field_text, text) and WORD_PATTERN.search(field_text)
        )

    @cached_property
    def _words(self) -> frozenset[str]:
        index = self._index
        return frozenset(WORD_PATTERN.findall(" ".join((*index.fields, index.joined))))

    @cached_property
    def _index(self) -> _TextIndex:
        document = read_value(self._text)
        if document is None:  # no JSON: one text, which is not a field even as a whole
            return _TextIndex({}, [], [(normalize_text(self._text), "")]).join_texts()
        fields: dict[str, str] = {}
        thing_places: defaultdict[str, list[str]] = defaultdict(list)
        texts: dict[str, str] = {}
        names: dict[str, str] = {}
        for place, leaf, name in _walk_fields(document):
            if name:
                names.setdefault(normalize_text(name), place)
            else:
                fields.setdefault(normalize_key(leaf), place)
                if is_identifying_field(place) and len(thing_places[normalize_key(leaf)]) < _MAX_PLACES_PER_VALUE:
                    thing_places[normalize_key(leaf)].append(place)
                if isinstance(leaf, str):
                    texts.setdefault(normalize_text(leaf), place)
        return _TextIndex(fields, list(texts.items()), list(names.items()), thing_places).join_texts()


class ToolResponse(ForeignText):
    """Response of one tool.

    ``reference`` names it in events, as ``earlier.2``, if it comes from an earlier run; it is empty otherwise.
    """

    def __init__(self, tool: ToolDoc, result: StepResult, reference: str = "") -> None:
        super().__init__(result.response)
        self.tool = tool
        self.reference = reference

    def find_thing_name(self, value: JsonValue, parameter: str, *, named_after_only: bool = False) -> str:
        """Return the name of the item that a value identifies; empty if there is none, or several with other names.

        With ``named_after_only``, only fields that the parameter is named after are considered.
        """
        places = self._index.things.get(normalize_key(value), ()) if normalize_value(value) else ()
        if not places:
            return ""
        document = read_value(self._text)
        names_by_place = {place: thing for place in places if (thing := find_thing_name_at(document, place))}
        exact_names = [thing for place, thing in names_by_place.items() if is_named_after(place, parameter)]
        names = set(exact_names if named_after_only else exact_names or names_by_place.values())
        return names.pop() if len(names) == 1 else ""


def normalize_key(value: JsonValue) -> str:
    """Return a key that is equal for a number and the same number as text."""
    text = normalize_value(value)
    try:
        return f"{float(text):.10g}"
    except ValueError:
        return text


def _walk_fields(document: JsonValue) -> Iterator[tuple[str, JsonValue, str]]:
    """Yield ``(place, value, "")`` for every scalar and ``(place, None, name)`` for every field name.

    It is iterative, so that deep documents do not overflow the stack.
    """
    pending: list[tuple[str, JsonValue]] = [("", document)]
    while pending:
        place, value = pending.pop()
        if isinstance(value, dict):
            children = [(f"{place}.{name}" if place else name, name, item) for name, item in value.items()]
            yield from ((at, None, name) for at, name, _ in children)
            pending += [(at, item) for at, _, item in reversed(children)]
        elif isinstance(value, list):
            pending += [(f"{place}[{index}]", item) for index, item in reversed(list(enumerate(value)))]
        elif value is not None and not isinstance(value, bool):
            yield place, value, ""
