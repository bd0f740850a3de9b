"""Which tools of a path must be called again, because the request asks the same of several things."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.policy.protocol import ArgumentsQuestion
from domain.tool import ToolDoc, ToolId
from graph.identifiers import words
from offline.nlp.coordination import atoms
from offline.nlp.gazetteer import word_set
from offline.nlp.request_parts import Part, parts
from offline.slots.binding import WHOLE, bind, fillable, uses

Values = tuple[tuple[str, str], ...]
"""The values that a call takes from the request, its own and those of the calls that feed it; ``()``: none are told."""

_SIDES = word_set(
    "from to source target origin destination start end base first second one two departure arrival a b 1 2"
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One call: of which tool, and for which part of the request. ``takes``: the place of the call for each tool that feeds it."""

    tool: ToolId
    part: Part
    values: Values


@dataclass(frozen=True, slots=True)
class _Chain:
    """The places in a path of the tools that serve a part, in order, with the values that each takes for it."""

    part: Part
    places: tuple[int, ...]
    values: dict[int, Values]


class Rounds:
    """What a request asks for more than once, over the tools of one path. Tools of the path that come again add nothing new."""

    def __init__(self, request: str, path: Sequence[ToolDoc], serving: Sequence[tuple[Part, int]]) -> None:
        """``serving``: each part that is served, with the place of the tool that serves it."""
        self._request = request
        self._path = tuple({tool.id: tool for tool in path}.values())
        place = {tool.id: at for at, tool in enumerate(self._path)}
        self._feeds = [self._fed_by(at) for at in range(len(self._path))]
        chains = [self._chain(part, place[path[at].id]) for part, at in serving]
        self._chains = sorted(chains, key=lambda chain: -len(chain.places))

    def turns(self) -> tuple[Turn, ...]:
        """Every call that the request asks for: the path, then what comes again, thing by thing. Just the path where all is served once."""
        first = [self._first(at) for at in range(len(self._path))]
        taken = {(turn.tool, turn.values) for turn in first if turn.values}
        known = {turn.tool for turn in first if turn.values}
        more: list[Turn] = []
        for chain in self._chains:
            for at in chain.places:
                turn = Turn(self._path[at].id, chain.part, chain.values[at])
                key = (turn.tool, turn.values)
                if turn.values and turn.tool in known and key not in taken:
                    taken.add(key)
                    more.append(turn)
        return (*first, *more)

    def _first(self, at: int) -> Turn:
        chain = next((chain for chain in self._chains if chain.values.get(at)), None)
        tool = self._path[at].id
        return (
            Turn(tool, chain.part, chain.values[at])
            if chain
            else Turn(tool, Part(self._request, self._request, ()), ())
        )

    def _chain(self, part: Part, end: int) -> _Chain:
        places = tuple(sorted(self._ancestors(end)))
        values: dict[int, Values] = {}
        for at in places:
            tool = self._path[at]
            own = _values(tool, part, self._request)
            fed = () if joins(tool, self._path[:at], self._request) else self._feeds[at]
            inherited = [values[i] for i in fed if i in values]
            told = own is not None and (own or any(inherited))
            values[at] = (*(own or ()), *(pair for found in inherited for pair in found)) if told else ()
        return _Chain(part, places, values)

    def _ancestors(self, end: int) -> set[int]:
        found = {end}
        for at in self._feeds[end]:
            found |= self._ancestors(at)
        return found

    def _fed_by(self, at: int) -> tuple[int, ...]:
        return fillable(self._path[at], self._request, self._path[:at]).feeds_from


def _values(tool: ToolDoc, part: Part, request: str) -> Values | None:
    """What a tool takes from the request for a part, by parameter; None where the part does not tell all that the request does."""
    whole = _bound(tool, request)
    if any(value.startswith("[") and value.count(",") for _, value in whole):
        return None  # one call takes them all
    for text in dict.fromkeys((part.text, part.whole)):
        found = _bound(tool, text)
        if {name for name, _ in found} >= {name for name, _ in whole} and not _collapsed(found, whole):
            return found
    return None


def _collapsed(part: Values, whole: Values) -> bool:
    """Whether a part tells two parameters one value where the request tells two: it is but one end of a span of time or of a way."""
    told, all_told = dict(part), dict(whole)
    return len({told[name] for name in all_told}) < len(set(all_told.values()))


def _bound(tool: ToolDoc, text: str) -> Values:
    found = bind(ArgumentsQuestion(text, tool, ()))
    return tuple(
        (binding.parameter, repr(found.values[binding.parameter]))
        for binding in found.provenance
        if binding.origin == "request" and binding.reference != WHOLE
    )


def joins(consumer: ToolDoc, producers: Sequence[ToolDoc], request: str) -> ToolDoc | None:
    """The producer of which one call takes two results: it fills both sides of a pair (``from_x`` and ``to_x``), and the request neither."""
    sides: dict[tuple[tuple[str, ...], int], set[str]] = {}
    for feed in fillable(consumer, request, producers).feeds:
        own = words(feed.parameter)
        thing = tuple(word for word in own if word not in _SIDES)
        if len(thing) < len(own):
            sides.setdefault((thing, feed.step), set()).add(feed.parameter)
    return next((producers[step - 1] for (_, step), names in sides.items() if len(names) > 1), None)


def asked_of(request: str) -> int:
    """How many things the request may ask the same of, or name for one call."""
    named = [atom for atom in atoms(request) if atom.kind in ("name", "country", "quoted")]
    return max(len(parts(request)), min(2, len(named)))


def apart(request: str, producer: ToolDoc) -> list[Part]:
    """The request once per thing that it names for a tool, without the others; what is told to be the beginning comes first."""
    named = [atom for atom in atoms(request) if atom.kind in ("name", "country", "quoted", "code")]
    found: list[tuple[bool, Part]] = []
    for atom in named:
        text = request
        for other in reversed(named):
            if other is not atom:
                text = text[: other.start] + text[other.end :]
        if any(span.text == atom.text for span in uses(producer, text)):
            start = "from" in atom.before or "leaving" in atom.before
            found.append((not start, Part(text, text, (), atom.text)))
    return [part for _, part in sorted(found, key=lambda pair: pair[0])]
