"""A response that a run has heard: its fields, and the texts that words can be taken out of."""

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
"""Places of one value that are looked at for what it stands for."""
PIECE = re.compile(r"\w{4,}|\w*\d\w*")
"""What of a longer text may have been taken out of a response: words of some length, and what has digits."""


@dataclass(frozen=True, slots=True)
class _Read:
    """``fields``: whole values with their places, of each the first. ``things``: of values that tell a thing from others, a few places. ``texts``:
    fields that are texts and, as ``named``, names of fields, with their places; ``joined``: all of them, a line each, which begin at ``starts``.
    """

    fields: dict[str, str]
    texts: list[tuple[str, str]]
    named: list[tuple[str, str]]
    things: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    joined: str = ""
    starts: list[int] = field(default_factory=list[int])

    def lined_up(self) -> "_Read":
        """With its texts joined."""
        lines = [told for told, _ in (*self.texts, *self.named)]
        starts = list(accumulate((len(line) + 1 for line in lines), initial=1))
        return replace(self, joined="\n".join(["", *lines, ""]), starts=starts)

    def inside(self, text: str) -> str | None:
        """Where a text stands in a longer one, or in a name; None where it does not."""
        for at in places(text, self.joined):
            line = bisect_right(self.starts, at) - 1
            if line >= len(self.texts):
                return self.named[line - len(self.texts)][1]
            told, place = self.texts[line]
            if told != text:
                return place
        return None


class Spoken:
    """What somebody other than the user said: a response, or a file. It is read when a value is first looked for in it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def field(self, value: JsonValue) -> str | None:
        """Where a whole field is a value; None where none is."""
        return self._read.fields.get(key_of_value(value))

    def prose(self, value: JsonValue) -> str | None:
        """Where a value stands inside a longer text, or in the name of a field; None where it does not."""
        text = plain_value(value)
        return self._read.inside(text) if text else None

    def has_word(self, word: str) -> bool:
        """Whether a plain word is one of its words."""
        return word in self._words

    def fields_in(self, text: str) -> Iterator[str]:
        """Its fields that stand in a longer plain text, as far as they say anything."""
        return (told for told in self._read.fields if told != text and stands(told, text) and PIECE.search(told))

    @cached_property
    def _words(self) -> frozenset[str]:
        read = self._read
        return frozenset(PIECE.findall(" ".join((*read.fields, read.joined))))

    @cached_property
    def _read(self) -> _Read:
        whole = read_value(self._text)
        if whole is None:  # no JSON: one text, of which even the whole is no field
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
    """What one tool answered. ``reference``: how a run's events name it, as ``earlier.2``; empty for those of the run itself."""

    def __init__(self, tool: ToolDoc, result: StepResult, reference: str = "") -> None:
        super().__init__(result.response)
        self.tool = tool
        self.reference = reference

    def thing(self, value: JsonValue, parameter: str, *, called: bool = False) -> str:
        """What the item is called that holds a value as what tells it apart; empty where none does, or several that are called otherwise.

        ``called``: only where a parameter of this name is called after that field.
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
    """Equal for a number and the same number as text."""
    text = plain_value(value)
    try:
        return f"{float(text):.10g}"
    except ValueError:
        return text


def _walk(whole: JsonValue) -> Iterator[tuple[str, JsonValue, str]]:
    """Every field and every name of one, with their places; without recursion, whatever the depth."""
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
