"""Search for values in text by others than the user, such as responses and files."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

from pydantic.types import JsonValue

from agent.execution.thing_names import find_thing_name_at, is_identifying, is_named_after
from agent.execution.user_values import find_occurrences, normalize_text, normalize_value, occurs_in
from domain.plan import StepResult
from domain.tool import ToolDoc
from graph.lenient_json import read_value

_MAX_PLACES = 50
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
    """Places of each value that identifies a thing, at most ``_MAX_PLACES``."""
    joined: str = ""
    """All ``texts`` and ``field_names``, one per line, so that one search covers them."""
    starts: list[int] = field(default_factory=list[int])
    """Offset of each line in ``joined``."""

    def join_texts(self) -> "_TextIndex":
        """Return a copy with ``joined`` and ``starts`` filled."""
        lines = [told for told, _ in (*self.texts, *self.field_names)]
        starts = list(accumulate((len(line) + 1 for line in lines), initial=1))
        return replace(self, joined="\n".join(["", *lines, ""]), starts=starts)

    def find_inside(self, text: str) -> str | None:
        """Return the place of a longer text, or of a field name, that contains the text; None if there is none."""
        for at in find_occurrences(text, self.joined):
            line = bisect_right(self.starts, at) - 1
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
            told for told in self._index.fields if told != text and occurs_in(told, text) and WORD_PATTERN.search(told)
        )

    @cached_property
    def _words(self) -> frozenset[str]:
        read = self._index
        return frozenset(WORD_PATTERN.findall(" ".join((*read.fields, read.joined))))

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
                if is_identifying(place) and len(thing_places[normalize_key(leaf)]) < _MAX_PLACES:
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
        own = [thing for place, thing in names_by_place.items() if is_named_after(place, parameter)]
        names = set(own if named_after_only else own or names_by_place.values())
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
            inside = [(f"{place}.{name}" if place else name, name, item) for name, item in value.items()]
            yield from ((at, None, name) for at, name, _ in inside)
            pending += [(at, item) for at, _, item in reversed(inside)]
        elif isinstance(value, list):
            pending += [(f"{place}[{index}]", item) for index, item in reversed(list(enumerate(value)))]
        elif value is not None and not isinstance(value, bool):
            yield place, value, ""
