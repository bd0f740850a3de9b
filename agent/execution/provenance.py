"""Origins of the values in a run's calls, found by searching for the values, whatever a policy claims.

A value counts as the user's where it occurs in the user's own messages. A value from an earlier response keeps that origin, however
often a question was rewritten on the way to a call. Where several origins fit, the one furthest from the user's word counts.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic.types import JsonValue

from agent.execution.coercion import coerce
from agent.execution.response_values import PIECE, Heard
from agent.execution.user_values import Said, plain, plain_value, stands
from agent.execution.wording import quoted, title_of
from agent.files.origins import FileOrigins
from agent.request_reader import PlainReader, RequestReader
from agent.text import clean
from domain.given_file import GivenFile
from domain.model import JsonObject
from domain.origin import Crossing, ValueKind, ValueOrigin
from domain.plan import StepResult
from domain.slice import Slice
from domain.tool import Parameter, ToolDoc, ToolId

Fixed = tuple[ToolId, str, JsonValue]
"""Tool, parameter and the value that somebody fixed for it."""
ORDER: tuple[ValueKind, ...] = ("said", "document", "file", "field", "written", "computed", "prose", "others")
"""Kinds of origins, each further from the user's word than the one before."""
_LEAST = 2
"""Characters below which a value says too little to count as carried from one host to another."""
_NAMED = 3
"""Things of one argument that are named at most."""
_MOST = 100
"""Leaves of one argument that are searched for at most."""
_WORDS: dict[ValueKind, str] = {
    "said": "you said it",
    "document": "the tool's own document gives it",
    "written": "nobody said it, and no answer holds it: it was written on the way",
    "computed": "nobody said it: the program worked it out",
    "others": "fixed by the author of the template, who is not you",
}


@dataclass(frozen=True, slots=True)
class Voices:
    """Messages and fixed values that precede a run, of its user and of others."""

    said: Sequence[str] = ()
    """The user's own messages, the oldest first."""
    fixed: Sequence[Fixed] = ()
    """Values that the user fixed in a plan."""
    others_said: Sequence[str] = ()
    """Messages of a template's author who is not the user."""
    others_fixed: Sequence[Fixed] = ()
    """Values that this author fixed."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Origins of a call's arguments."""

    origins: tuple[ValueOrigin, ...] = ()
    crossings: tuple[Crossing, ...] = ()
    """Values of other hosts' responses that nothing allows to go to the tool's host."""


class Provenance:
    """Tracks what was said and answered in one run, and traces the values of calls to it."""

    def __init__(self, voices: Voices, reader: RequestReader | None = None) -> None:
        self._said = Said(voices.said, reader or PlainReader())
        self._fixed = _by_place(voices.fixed)
        self._others_said = [plain(text) for text in voices.others_said]
        self._others_fixed = _by_place(voices.others_fixed)
        self._heard: list[Heard] = []
        self._called: dict[ToolId, ToolDoc] = {}
        self._files = FileOrigins()

    def give(self, files: Sequence[GivenFile]) -> None:
        """Set the files that the user gave with the request. Others may have written their content."""
        self._files = FileOrigins(files)

    def hear(self, tool: ToolDoc, result: StepResult, reference: str = "") -> None:
        """Record a tool's response.

        The call itself counts too: even an empty or failed one can reveal something to another host.
        """
        self._called[tool.id] = tool
        if result.response.strip():
            self._heard.append(Heard(tool, result, reference))

    def say(self, text: str) -> None:
        """Record a user's answer to a question as the user's word."""
        self._said = self._said.with_answer(text)

    def correct(self, tool: ToolDoc, arguments: JsonObject, corrected: JsonObject) -> None:
        """Record the values that the user put into a call as the user's word; those that were there before do not count."""
        for name, value in corrected.items():
            given = {_text(leaf) for leaf in put_in(value, arguments.get(name))}
            if given:
                self._fixed.setdefault((tool.id, name), set()).update(given)

    def judged(
        self, tool: ToolDoc, arguments: JsonObject, slices: Sequence[Slice] = (), control: Slice | None = None
    ) -> Judged:
        """Return the origins of a call's arguments, and the values that would cross from one host to another.

        A safe call is traced only where tools of other hosts were called before: otherwise nothing can cross.

        ``slices``: what a program computed the arguments from. A value that is found nowhere then counts as computed and carries its slice.
        ``control``: what decides whether and how often the program makes the call, where this may reveal something to another host.
        """
        if tool.safe and not any(_apart(other, tool) for other in self._called.values()):
            return Judged()
        known = {parameter.name: parameter for parameter in tool.parameters}
        made = {one.parameter: one for one in slices}
        origins: list[ValueOrigin] = []
        crossings: dict[Crossing, None] = {}
        for name, value in arguments.items():
            leaves, told = _leaves(value), made.get(name)
            origin = _with_slice(self._worst(tool, name, known.get(name), leaves), told)
            origins.append(origin if tool.safe else self._named(tool, origin, value))
            for leaf in leaves[:_MOST]:
                crossings |= dict.fromkeys(self._crossings(tool, name, known.get(name), leaf, told))
            if len(leaves) > _MOST and not self._all_fixed(tool, name, leaves):
                crossings |= dict.fromkeys(_crossing(one, tool, name) for one in self._heard if _apart(one.tool, tool))
        if control is not None:
            values = {(one.source, one.target) for one in crossings}
            told = dict.fromkeys(self._told_by_calling(tool, control))
            crossings |= {one: None for one in told if (one.source, one.target) not in values}
        return Judged(tuple(origins), tuple(crossings))

    def reference(self, tool: ToolDoc, name: str, value: JsonValue) -> tuple[ValueKind, str]:
        """Return the kind of a value's origin, and its place in a response of an earlier run.

        The place is as events name it, and empty where the value comes from no earlier run.
        """
        known = next((parameter for parameter in tool.parameters if parameter.name == name), None)
        worst = self._worst(tool, name, known, _leaves(value))
        heard = next((one for one in self._heard if one.reference and _place(one, worst) is not None), None)
        return worst.kind, f"{heard.reference}.{worst.place}".rstrip(".") if heard else ""

    def _named(self, tool: ToolDoc, origin: ValueOrigin, value: JsonValue) -> ValueOrigin:
        """Return the origin with the names that responses give to the things behind these values.

        Only responses of the tool's own service count, since names of others may mislead: first those of the calls that the value was made
        from, then the latest. A value that comes from no response, or is a field of an object, matches only fields that the parameter is
        named after: one night is not the berth of number 1.
        """
        made = origin.slice
        own = [one for one in self._heard[::-1] if not _apart(one.tool, tool)]
        own.sort(key=lambda one: made is None or one.tool.id not in made.tools)
        heard = made.foreign if made is not None else origin.kind in ("field", "prose")
        within = _leaves_within(value)
        leaves = [leaf for _, leaf in within]
        found = [
            next(_things(own, leaf, name or origin.parameter, called=bool(name) or not heard), None)
            for name, leaf in within[:_NAMED]
        ]
        told = [one for one in found if one is not None]
        if not told:
            return origin
        names = ", ".join(one[0] if one else plain_value(leaf) for one, leaf in zip(found, leaves, strict=False))
        things = names + (f" and {len(leaves) - _NAMED} more" if len(leaves) > _NAMED else "")
        same = origin.kind == "field" and told[0][1].tool.id == origin.tool
        who = "which" if same else quoted(title_of(told[0][1].tool))
        return origin.model_copy(
            update={"thing": things, "words": f"{origin.words}{',' if same else ';'} {who} calls it {quoted(things)}"}
        )

    def _worst(self, tool: ToolDoc, name: str, parameter: Parameter | None, leaves: Sequence[JsonValue]) -> ValueOrigin:
        """Return the origin furthest from the user's word among the leaves of an argument.

        More than ``_MOST`` are not searched for.
        """
        if len(leaves) > _MOST:
            others = any(_text(leaf) in self._others_fixed.get((tool.id, name), ()) for leaf in leaves)
            return _told(name, "others" if others else "said" if self._all_fixed(tool, name, leaves) else "written")
        found = [self._origin(tool, name, parameter, leaf) for leaf in leaves]
        return max(found, key=lambda one: ORDER.index(one.kind))

    def _all_fixed(self, tool: ToolDoc, name: str, leaves: Sequence[JsonValue]) -> bool:
        fixed = self._fixed.get((tool.id, name), ())
        return all(_text(leaf) in fixed for leaf in leaves)

    def _origin(self, tool: ToolDoc, name: str, parameter: Parameter | None, value: JsonValue) -> ValueOrigin:
        """Return the origin of a single value."""
        if _text(value) in self._others_fixed.get((tool.id, name), ()):
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
        """Return the origin of a value in responses and files; None where none holds it.

        Texts are searched before whole fields, as they are the worse origin. Of a text that is found nowhere, the words that the user did
        not say are searched for.
        """
        for heard in reversed(self._heard):
            if (place := heard.prose(value)) is not None:
                return _heard(name, "prose", heard, place)
        for heard in reversed(self._heard):
            if (place := heard.field(value)) is not None:
                return _heard(name, "field", heard, place)
        if (place := self._files.place(value)) is not None:
            return _of_file(name, place)
        pieces = self._pieces(value)
        for heard in reversed(self._heard):
            if self._has_a_piece(heard, value, pieces):
                return _heard(name, "prose", heard, "")
        held = self._files.has_a_word(pieces)
        return None if held is None else _of_file(name, f"words of {held}")

    def _pieces(self, value: JsonValue) -> list[str]:
        """Return the words of a text that the user did not say."""
        words = PIECE.findall(plain_value(value)) if isinstance(value, str) else []
        return [word for word in dict.fromkeys(words) if not self._said.says(word, None)]

    def _has_a_piece(self, heard: Heard, value: JsonValue, pieces: Sequence[str]) -> bool:
        """Return whether the response holds one of the unsaid words, or the text holds an unsaid field of the response."""
        if any(heard.has_word(piece) for piece in pieces):
            return True
        return isinstance(value, str) and any(
            not self._said.says(field, None) for field in heard.fields_in(plain_value(value))
        )

    def _is_said(self, tool: ToolDoc, name: str, parameter: Parameter | None, value: JsonValue) -> bool:
        return _text(value) in self._fixed.get((tool.id, name), ()) or self._said.says(value, parameter)

    def _crossings(
        self, tool: ToolDoc, name: str, parameter: Parameter | None, value: JsonValue, made: Slice | None = None
    ) -> Iterator[Crossing]:
        """Yield the crossings of one value from other hosts to the tool's host.

        A value that the tool's own host or source gave, a very short one, one of the document and one of the user do not cross. Neither
        does one from a tool whose values recorded calls passed to this parameter.

        ``made``: what a program computed it from, which may carry more than can be found in it.
        """
        if not tool.host or len(plain_value(value)) < _LEAST or self._is_said(tool, name, parameter, value):
            return
        if parameter is not None and (_given(parameter, value) or value in (*parameter.enum, parameter.example)):
            return
        own = [one for one in self._heard if not _apart(one.tool, tool)]
        others = [one for one in self._heard if _apart(one.tool, tool)]
        holding = [one for one in others if _holds(one, value)]
        if not holding:
            pieces = [one for one in self._pieces(value) if not any(heard.has_word(one) for heard in own)]
            holding = [one for one in others if self._has_a_piece(one, value, pieces)]
        if any(_holds(one, value) for one in own):
            return
        recorded = {flow.source for flow in parameter.flows} if parameter is not None else set[ToolId]()
        if any(one.tool.id in recorded for one in holding):
            return
        holding += [
            one for one in others if one not in holding and _went_into(one, made) and one.tool.id not in recorded
        ]
        yield from (_crossing(one, tool, name) for one in holding)

    def _told_by_calling(self, tool: ToolDoc, control: Slice) -> Iterator[Crossing]:
        """Yield crossings from hosts whose answers decide whether the call is made.

        A tool whose values recorded calls passed to this one may decide as well.
        """
        if not tool.host:
            return
        recorded = {flow.source for parameter in tool.parameters for flow in parameter.flows}
        for other in self._called.values():
            decides = other.id in control.tools or not control.traced
            if decides and _apart(other, tool) and other.id not in recorded:
                yield Crossing(source=other.host, target=tool.host)


def _went_into(heard: Heard, made: Slice | None) -> bool:
    """Return whether something of the response may be in a value that a program made."""
    return made is not None and (heard.tool.id in made.tools or not made.traced)


def _with_slice(origin: ValueOrigin, made: Slice | None) -> ValueOrigin:
    """Return the origin with the slice of the value.

    A value found nowhere that is more than a constant of the program is computed.
    """
    if made is None:
        return origin
    if origin.kind != "written":
        return origin.model_copy(update={"slice": made})
    kind: ValueKind = "written" if made.literal else "computed"
    words = f"{_WORDS[kind]} {made.words}" if kind == "computed" else "nobody said it: whoever wrote the call did"
    return ValueOrigin(parameter=origin.parameter, kind=kind, words=words, slice=made)


def _things(heard: Sequence[Heard], value: JsonValue, parameter: str, *, called: bool) -> Iterator[tuple[str, Heard]]:
    """Yield the names that responses give to the thing behind a value, each with its response.

    ``called``: only by fields that the parameter is named after.
    """
    return ((told, one) for one in heard if (told := one.thing(value, parameter, called=called)))


def _crossing(heard: Heard, tool: ToolDoc, name: str) -> Crossing:
    return Crossing(source=heard.tool.host, target=tool.host, parameter=name)


def _holds(heard: Heard, value: JsonValue) -> bool:
    return heard.field(value) is not None or heard.prose(value) is not None


def _apart(one: ToolDoc, other: ToolDoc) -> bool:
    """Return whether two tools have different hosts and were not imported from one source."""
    if not one.host or not other.host or one.host == other.host:
        return False
    return not one.source or one.source != other.source


def _by_place(fixed: Sequence[Fixed]) -> dict[tuple[ToolId, str], set[str]]:
    """Return the leaves of the fixed values, as text, by tool and parameter."""
    found: defaultdict[tuple[ToolId, str], set[str]] = defaultdict(set)
    for tool, name, whole in fixed:
        found[tool, name] |= {_text(leaf) for leaf in _leaves(whole)}
    return found


def _text(value: JsonValue) -> str:
    return plain_value(value) or json.dumps(value)


def _given(parameter: Parameter, value: JsonValue) -> bool:
    """Return whether the value is the document's default, or the only value that it allows."""
    only = len(parameter.enum) == 1 and value == parameter.enum[0]
    return only or (parameter.default not in (None, "") and value == coerce(parameter.default, parameter))


def put_in(value: JsonValue, instead: JsonValue) -> list[JsonValue]:
    """Return the leaves that the corrected value holds and the earlier one did not."""
    before = {_text(leaf) for leaf in _leaves(instead)}
    return [leaf for leaf in _leaves(value) if _text(leaf) not in before]


def _leaves(value: JsonValue) -> list[JsonValue]:
    """Return the leaves of a value; a text that is a JSON structure counts as that structure."""
    return [leaf for _, leaf in _leaves_within(value)]


def _leaves_within(value: JsonValue) -> list[tuple[str, JsonValue]]:
    """Return the leaves, each with the name of the field that holds it, directly or in a list.

    The name is empty outside of objects.
    """
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return [("", value)]
    found: list[tuple[str, JsonValue]] = []
    left: list[tuple[str, JsonValue]] = [("", value)]
    while left:
        name, one = left.pop()
        if isinstance(one, dict) and one:
            left += one.items()
        elif isinstance(one, list) and one:
            left += [(name, item) for item in one]
        else:
            found.append((name, one if not isinstance(one, (dict, list)) else None))
    return found


def _place(heard: Heard, origin: ValueOrigin) -> str | None:
    return origin.place if (heard.tool.id, heard.tool.host) == (origin.tool, origin.host) else None


def _told(name: str, kind: ValueKind) -> ValueOrigin:
    return ValueOrigin(parameter=name, kind=kind, words=_WORDS[kind])


def _of_file(name: str, place: str) -> ValueOrigin:
    return ValueOrigin(parameter=name, kind="file", words=f"from your file {place}", place=place[:400])


def _heard(name: str, kind: ValueKind, heard: Heard, place: str) -> ValueOrigin:
    tool = heard.tool
    by = quoted(title_of(tool)) + (f" of {tool.host}" if tool.host else "")
    where = f" ({clean(place, 80)})" if place else ""
    words = f"words inside a text that {by} answered{where}" if kind == "prose" else f"from what {by} answered{where}"
    return ValueOrigin(parameter=name, kind=kind, words=words, tool=tool.id, host=tool.host, place=place[:400])
