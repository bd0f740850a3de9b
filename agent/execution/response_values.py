"""Index of a response: its fields, and the texts that words can be taken from."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

from pydantic.types import JsonValue

from agent.execution.things import is_of, tells_apart, thing_at
from agent.execution.user_values import places, plain, plain_value, stands
from domain.plan import StepResult
from domain.tool import ToolDoc
from graph.lenient_json import read_value

_PLACES = 50
"""Places of one value that are kept to find the thing that it stands for."""
PIECE = re.compile(r"\w{4,}|\w*\d\w*")
"""Words of a text that show it was taken from a response: those of four letters or more, and those with digits."""


@dataclass(frozen=True, slots=True)
class _Read:
    """Values and texts of a response with their places in it."""

    fields: dict[str, str]
    """First place of each whole value."""
    texts: list[tuple[str, str]]
    """Fields that are texts."""
    named: list[tuple[str, str]]
    """Names of fields."""
    things: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """A few places of each value that identifies a thing."""
    joined: str = ""
    """All ``texts`` and ``named``, one a line, so that one search covers them."""
    starts: list[int] = field(default_factory=list[int])
    """Offset of each line in ``joined``."""

    def lined_up(self) -> "_Read":
        """Return a copy with ``joined`` and ``starts`` filled."""
        lines = [told for told, _ in (*self.texts, *self.named)]
        starts = list(accumulate((len(line) + 1 for line in lines), initial=1))
        return replace(self, joined="\n".join(["", *lines, ""]), starts=starts)

    def inside(self, text: str) -> str | None:
        """Return the place of a longer text, or of a name, that contains the text; None where none does."""
        for at in places(text, self.joined):
            line = bisect_right(self.starts, at) - 1
            if line >= len(self.texts):
                return self.named[line - len(self.texts)][1]
            told, place = self.texts[line]
            if told != text:
                return place
        return None


class Spoken:
    """Text by somebody other than the user: a response, or a file. It is parsed at the first search."""

    def __init__(self, text: str) -> None:
        self._text = text

    def field(self, value: JsonValue) -> str | None:
        """Return the place of the first field that equals a value; None where none does."""
        return self._read.fields.get(key_of_value(value))

    def prose(self, value: JsonValue) -> str | None:
        """Return the place of a longer text or a field's name that contains a value; None where none does."""
        text = plain_value(value)
        return self._read.inside(text) if text else None

    def has_word(self, word: str) -> bool:
        """Return whether a normalized word is one of its words."""
        return word in self._words

    def fields_in(self, text: str) -> Iterator[str]:
        """Yield its fields that occur in a longer normalized text and hold a word of ``PIECE``."""
        return (told for told in self._read.fields if told != text and stands(told, text) and PIECE.search(told))

    @cached_property
    def _words(self) -> frozenset[str]:
        read = self._read
        return frozenset(PIECE.findall(" ".join((*read.fields, read.joined))))

    @cached_property
    def _read(self) -> _Read:
        whole = read_value(self._text)
        if whole is None:  # no JSON: one text, which is no field even as a whole
            return _Read({}, [], [(plain(self._text), "")]).lined_up()
        fields: dict[str, str] = {}
        telling: defaultdict[str, list[str]] = defaultdict(list)
        texts: dict[str, str] = {}
        names: dict[str, str] = {}
        for place, leaf, name in _walk(whole):
            if name:
                names.setdefault(plain(name), place)
            else:
                fields.setdefault(key_of_value(leaf), place)
                if tells_apart(place) and len(telling[key_of_value(leaf)]) < _PLACES:
                    telling[key_of_value(leaf)].append(place)
                if isinstance(leaf, str):
                    texts.setdefault(plain(leaf), place)
        return _Read(fields, list(texts.items()), list(names.items()), telling).lined_up()


class Heard(Spoken):
    """Response of one tool.

    ``reference``: its name in a run's events, as ``earlier.2``; empty for one of the run itself.
    """

    def __init__(self, tool: ToolDoc, result: StepResult, reference: str = "") -> None:
        super().__init__(result.response)
        self.tool = tool
        self.reference = reference

    def thing(self, value: JsonValue, parameter: str, *, called: bool = False) -> str:
        """Return the name of the item that a value identifies.

        It is empty where there is none, or several with different names.

        ``called``: consider only fields that the parameter is named after.
        """
        places = self._read.things.get(key_of_value(value), ()) if plain_value(value) else ()
        if not places:
            return ""
        whole = read_value(self._text)
        told = {place: thing for place in places if (thing := thing_at(whole, place))}
        own = [thing for place, thing in told.items() if is_of(place, parameter)]
        names = set(own if called else own or told.values())
        return names.pop() if len(names) == 1 else ""


def key_of_value(value: JsonValue) -> str:
    """Return a key that is equal for a number and the same number as text."""
    text = plain_value(value)
    try:
        return f"{float(text):.10g}"
    except ValueError:
        return text


def _walk(whole: JsonValue) -> Iterator[tuple[str, JsonValue, str]]:
    """Yield every field and every field name with its place.

    It is iterative, so that deep documents do not overflow the stack.
    """
    left: list[tuple[str, JsonValue]] = [("", whole)]
    while left:
        place, value = left.pop()
        if isinstance(value, dict):
            inside = [(f"{place}.{name}" if place else name, name, item) for name, item in value.items()]
            yield from ((at, None, name) for at, name, _ in inside)
            left += [(at, item) for at, _, item in reversed(inside)]
        elif isinstance(value, list):
            left += [(f"{place}[{index}]", item) for index, item in reversed(list(enumerate(value)))]
        elif value is not None and not isinstance(value, bool):
            yield place, value, ""
