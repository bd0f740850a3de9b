"""Where the values of a run's calls really come from: found out by looking for them, whatever a policy says of them.

A value counts as the user's where it stands in the user's own messages. What an earlier response said stays that response's, however
often a question was rewritten on the way to a call. Where several origins fit, the one that is furthest from the user's word counts.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic.types import JsonValue

from agent.coercion import coerce
from agent.heard import Heard
from agent.said import Said, plain, plain_value, same, stands
from agent.tool_text import clean
from domain.model import JsonObject
from domain.origin import Crossing, ValueKind, ValueOrigin
from domain.plan import StepResult
from domain.tool import Parameter, ToolDoc, ToolId

Fixed = tuple[ToolId, str, JsonValue]
"""A value that somebody fixed for a parameter of a tool."""
ORDER: tuple[ValueKind, ...] = ("said", "document", "field", "written", "prose", "others")
"""Further and further from the user's word."""
_LEAST = 2
"""Characters below which a value says too little to have gone from one host to another."""
_PIECE = re.compile(r"\w{4,}|\w*\d\w*")
"""What of a longer text may have been taken out of a response: words of some length, and what has digits."""
_WORDS: dict[ValueKind, str] = {
    "said": "you said it",
    "document": "the tool's own document gives it",
    "written": "nobody said it: it was made up on the way",
    "others": "fixed by the author of the template, who is not you",
}


@dataclass(frozen=True, slots=True)
class Voices:
    """Who spoke before a run's calls. ``said``: the user's own messages, the oldest first; ``fixed``: values that the user fixed in a plan.
    ``others_said``, ``others_fixed``: the same of the author of a template who is another.
    """

    said: Sequence[str] = ()
    fixed: Sequence[Fixed] = ()
    others_said: Sequence[str] = ()
    others_fixed: Sequence[Fixed] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """A call's arguments. ``crossings``: values of other hosts' responses that nothing lets go to the tool's host."""

    origins: tuple[ValueOrigin, ...] = ()
    crossings: tuple[Crossing, ...] = ()


class Provenance:
    """One run's."""

    def __init__(self, voices: Voices) -> None:
        self._said = Said(voices.said)
        self._fixed = voices.fixed
        self._others_said = [plain(text) for text in voices.others_said]
        self._others_fixed = voices.others_fixed
        self._heard: list[Heard] = []

    def hear(self, tool: ToolDoc, result: StepResult, reference: str = "") -> None:
        """Take in what a tool answered."""
        if result.response.strip():
            self._heard.append(Heard(tool, result, reference))

    def judged(self, tool: ToolDoc, arguments: JsonObject) -> Judged:
        """Where the arguments of a call come from. Of a call that changes nothing, only as far as hosts other than its own were heard."""
        if tool.safe and not any(_apart(heard.tool, tool) for heard in self._heard):
            return Judged()
        known = {parameter.name: parameter for parameter in tool.parameters}
        origins: list[ValueOrigin] = []
        crossings: dict[Crossing, None] = {}
        for name, value in arguments.items():
            found = [self._origin(tool, name, known.get(name), leaf) for leaf in _leaves(value)]
            origins.append(max(found, key=lambda one: ORDER.index(one.kind)))
            for leaf in _leaves(value):
                crossings |= dict.fromkeys(self._crossings(tool, name, known.get(name), leaf))
        return Judged(tuple(origins), tuple(crossings))

    def reference(self, tool: ToolDoc, name: str, value: JsonValue) -> tuple[ValueKind, str]:
        """The kind of a value's origin, and where it stands in an earlier run's response, as events name it; empty elsewhere."""
        known = next((parameter for parameter in tool.parameters if parameter.name == name), None)
        found = [self._origin(tool, name, known, leaf) for leaf in _leaves(value)]
        worst = max(found, key=lambda one: ORDER.index(one.kind))
        heard = next((one for one in self._heard if one.reference and _place(one, worst) is not None), None)
        return worst.kind, f"{heard.reference}.{worst.place}".rstrip(".") if heard else ""

    def _origin(self, tool: ToolDoc, name: str, parameter: Parameter | None, value: JsonValue) -> ValueOrigin:
        """Of one value, not of a list or an object."""
        if _is_one_of(self._others_fixed, tool, name, parameter, value):
            return _told(name, "others")
        if self._is_said(tool, name, parameter, value) or value in (None, ""):
            return _told(name, "said")
        if parameter is not None and _given(parameter, value):
            return _told(name, "document")
        text = plain_value(value)
        if text and any(stands(text, said) for said in self._others_said):
            return _told(name, "others")
        found = self._found(name, value) if text else None
        if found is not None:
            return found
        offered = parameter is not None and (value in parameter.enum or value == parameter.example)
        return _told(name, "document" if offered else "written")

    def _found(self, name: str, value: JsonValue) -> ValueOrigin | None:
        """In what was heard: first inside of texts, which are the worse origin; of a text that is nowhere, its unsaid words."""
        for heard in reversed(self._heard):
            if (place := heard.prose(value)) is not None:
                return _heard(name, "prose", heard, place)
        for heard in reversed(self._heard):
            if (place := heard.field(value)) is not None:
                return _heard(name, "field", heard, place)
        pieces = self._pieces(value)
        for heard in reversed(self._heard):
            if any(_holds(heard, piece) for piece in pieces):
                return _heard(name, "prose", heard, "")
        return None

    def _pieces(self, value: JsonValue) -> list[str]:
        """The words of a longer text that the user did not say."""
        words = _PIECE.findall(plain_value(value)) if isinstance(value, str) else []
        return [word for word in dict.fromkeys(words) if not self._said.says(word, None)]

    def _is_said(self, tool: ToolDoc, name: str, parameter: Parameter | None, value: JsonValue) -> bool:
        return _is_one_of(self._fixed, tool, name, parameter, value) or self._said.says(value, parameter)

    def _crossings(self, tool: ToolDoc, name: str, parameter: Parameter | None, value: JsonValue) -> Iterator[Crossing]:
        """A value that the tool's own host or source has told is none of another's; nor is one of few characters, or of the document."""
        if not tool.host or len(plain_value(value)) < _LEAST or self._is_said(tool, name, parameter, value):
            return
        if parameter is not None and (_given(parameter, value) or value in (*parameter.enum, parameter.example)):
            return
        pieces = [value] if any(_holds(one, value) for one in self._heard) else self._pieces(value)
        holding = [one for one in self._heard if any(_holds(one, piece) for piece in pieces)]
        own = [one for one in self._heard if not _apart(one.tool, tool)]
        if all(any(_holds(one, piece) for one in own) for piece in pieces):
            return
        recorded = {flow.source for flow in parameter.flows} if parameter is not None else set[ToolId]()
        if any(one.tool.id in recorded for one in holding):
            return
        for one in holding:
            if _apart(one.tool, tool):
                yield Crossing(source=one.tool.host, target=tool.host, parameter=name)


def _holds(heard: Heard, value: JsonValue) -> bool:
    return heard.field(value) is not None or heard.prose(value) is not None


def _apart(one: ToolDoc, other: ToolDoc) -> bool:
    """Whether two tools are of different hosts, which no import has brought in together."""
    if not one.host or not other.host or one.host == other.host:
        return False
    return not one.source or one.source != other.source


def _is_one_of(fixed: Sequence[Fixed], tool: ToolDoc, name: str, parameter: Parameter | None, value: JsonValue) -> bool:
    """Whether somebody fixed a value for this parameter, by itself or in a list or an object."""
    for other, at, whole in fixed:
        if (other, at) == (tool.id, name):
            for leaf in _leaves(whole):
                if leaf == value or (parameter is not None and same(value, leaf, parameter)):
                    return True
    return False


def _given(parameter: Parameter, value: JsonValue) -> bool:
    """Whether the document leaves no choice: its default, or the only value that it allows."""
    only = len(parameter.enum) == 1 and value == parameter.enum[0]
    return only or (parameter.default not in (None, "") and value == coerce(parameter.default, parameter))


def _leaves(value: JsonValue) -> list[JsonValue]:
    """The single values of a value; a structure as JSON text is what it holds."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return [value]
    found: list[JsonValue] = []
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, (dict, list)) and one:
            left += one.values() if isinstance(one, dict) else one
        else:
            found.append(one if not isinstance(one, (dict, list)) else None)
    return found


def _place(heard: Heard, origin: ValueOrigin) -> str | None:
    return origin.place if (heard.tool.id, heard.tool.host) == (origin.tool, origin.host) else None


def _told(name: str, kind: ValueKind) -> ValueOrigin:
    return ValueOrigin(parameter=name, kind=kind, words=_WORDS[kind])


def _heard(name: str, kind: ValueKind, heard: Heard, place: str) -> ValueOrigin:
    tool = heard.tool
    by = f"{clean(tool.api, 80)} of {tool.host}" if tool.host else clean(tool.api, 80)
    where = f" ({clean(place, 80)})" if place else ""
    words = (
        f"words inside a text that {by} answered{where}" if kind == "prose" else f"a field that {by} answered{where}"
    )
    return ValueOrigin(parameter=name, kind=kind, words=words, tool=tool.id, host=tool.host, place=place)
