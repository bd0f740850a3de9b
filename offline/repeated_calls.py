"""Repeated calls: where a request asks the same of several things, which tools are called again, and for what."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.offer.candidates import Candidate
from agent.policy.protocol import ArgumentsQuestion, Choice, Situation
from agent.text import clean
from domain.plan import StepResult
from domain.tool import ToolDoc, ToolId
from graph.identifiers import words
from offline.choice import Verdict
from offline.nlp.clauses import Part, parts
from offline.nlp.coordination import atoms
from offline.nlp.gazetteer import word_set
from offline.slots.binding import WHOLE, bind, fillable, uses

Values = tuple[tuple[str, str], ...]
"""Values that a call takes from the request, its own and those of calls that feed it; ``()`` if there are none."""

_SIDES = word_set(
    "from to source target origin destination start end base first second one two departure arrival a b 1 2"
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One call of a path: of which tool, and for which part of the request."""

    tool: ToolId
    part: Part
    values: Values


@dataclass(frozen=True, slots=True)
class _Chain:
    """The tools of a path that serve one part of the request."""

    part: Part
    places: tuple[int, ...]
    """Their indexes in the path, in order."""
    values: dict[int, Values]
    """The values that each of them takes for the part, by index."""


class Rounds:
    """Calls that a request asks for more than once, over the tools of one path.

    A tool that comes again in the path adds nothing new.
    """

    def __init__(self, request: str, path: Sequence[ToolDoc], serving: Sequence[tuple[Part, int]]) -> None:
        """Find the tools and values of each part.

        ``serving``: each part that is served, with the index of the tool that serves it.
        """
        self._request = request
        self._path = tuple({tool.id: tool for tool in path}.values())
        place = {tool.id: at for at, tool in enumerate(self._path)}
        self._feeds = [self._fed_by(at) for at in range(len(self._path))]
        chains = [self._chain(part, place[path[at].id]) for part, at in serving]
        self._chains = sorted(chains, key=lambda chain: -len(chain.places))

    def turns(self) -> tuple[Turn, ...]:
        """List every call that the request asks for: the path, then what is called again, thing by thing."""
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
        """Find the tools that lead to the end of a part, and the values that each takes or inherits."""
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
    """Find what a tool takes from the request for a part, by parameter.

    None if the part states less than the request does, or if one call takes all values of the request.
    """
    whole = _bound(tool, request)
    if any(value.startswith("[") and value.count(",") for _, value in whole):
        return None  # one call takes them all
    for text in dict.fromkeys((part.text, part.whole)):
        found = _bound(tool, text)
        if {name for name, _ in found} >= {name for name, _ in whole} and not _collapsed(found, whole):
            return found
    return None


def _collapsed(part: Values, whole: Values) -> bool:
    """Return whether a part gives two parameters one value where the request gives them two.

    Such a part is only one end of a time span or of a route.
    """
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
    """Find the producer of which one call takes two results, filling both sides of a pair.

    The pair is, for example, ``from_x`` and ``to_x``, of which the request itself fills neither.
    """
    sides: dict[tuple[tuple[str, ...], int], set[str]] = {}
    for feed in fillable(consumer, request, producers).feeds:
        own = words(feed.parameter)
        thing = tuple(word for word in own if word not in _SIDES)
        if len(thing) < len(own):
            sides.setdefault((thing, feed.step), set()).add(feed.parameter)
    return next((producers[step - 1] for (_, step), names in sides.items() if len(names) > 1), None)


def asked_of(request: str) -> int:
    """Count the things of which the request may ask the same, or which it names for one call."""
    named = [atom for atom in atoms(request) if atom.kind in ("name", "country", "quoted")]
    return max(len(parts(request)), min(2, len(named)))


def apart(request: str, producer: ToolDoc) -> list[Part]:
    """Return the request once for each thing that it names for a tool, without the others; the start comes first."""
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


Prefix = tuple[ToolId, ...]
Earlier = tuple[tuple[ToolDoc, StepResult], ...]


@dataclass(frozen=True, slots=True)
class Call:
    """Purpose of one call of a path."""

    part: Part
    hidden: frozenset[int]
    """Indexes of earlier steps, from 0, whose results belong to another part."""

    def seen(self, earlier: Earlier) -> Earlier:
        """Return the earlier steps with those of other parts marked as skipped; each keeps its number."""
        return tuple(
            (tool, result.model_copy(update={"status": "skipped"}) if at in self.hidden else result)
            for at, (tool, result) in enumerate(earlier)
        )


def fresh(situation: Situation) -> Situation:
    """Return the situation without the candidates that the path has already."""
    known = {tool.id for tool in situation.path}
    return replace(situation, candidates=tuple(c for c in situation.candidates if c.tool.id not in known))


def once_more(situation: Situation, verdict: Verdict) -> Verdict:
    """Return the verdict on :func:`fresh`, or the next repeated call; its index is that of ``situation``.

    Calls are repeated where the path would be finished, or before a tool that takes two results of one producer at
    once.
    """
    choice = verdict.choice
    if choice.action == "finish":
        return _further(situation, _rounds(situation, verdict, None), verdict)
    if choice.action != "advance" or choice.index is None:
        return verdict
    chosen = fresh(situation).candidates[choice.index]
    at = situation.candidates.index(chosen)
    verdict = replace(verdict, choice=replace(choice, index=at))
    producer = joins(chosen.tool, situation.path, situation.request)
    if producer is None:
        return verdict
    return _further(situation, _rounds(situation, verdict, chosen), verdict, only=producer.id)


def calls(situation: Situation, verdict: Verdict) -> dict[Prefix, Call]:
    """Find what each call of a finished path is for, by the path up to it; empty if no tool comes twice."""
    path = tuple(tool.id for tool in situation.path)
    if len(set(path)) == len(path):
        return {}
    turns = _rounds(situation, verdict, None).turns()
    made = [_nth(turns, tool, path[:at].count(tool)) for at, tool in enumerate(path)]
    found: dict[Prefix, Call] = {}
    for at, turn in enumerate(made):
        if turn is not None and turn.values:
            joint = joins(situation.path[at], situation.path[:at], situation.request) is not None
            hidden = frozenset[int]() if joint else frozenset(i for i in range(at) if _strange(made[i], turn))
            found[path[: at + 1]] = Call(turn.part, hidden)
    return found


def _strange(other: Turn | None, turn: Turn) -> bool:
    return other is not None and not set(other.values) <= set(turn.values)


def _nth(turns: Sequence[Turn], tool: ToolId, count: int) -> Turn | None:
    own = [turn for turn in turns if turn.tool == tool]
    return own[count] if count < len(own) else None


def _further(situation: Situation, rounds: Rounds, verdict: Verdict, only: ToolId | None = None) -> Verdict:
    """Advance to the first repeated call that the path does not have yet, if its tool is offered."""
    had = Counter(tool.id for tool in situation.path)
    seen: Counter[ToolId] = Counter()
    offered = {candidate.tool.id: at for at, candidate in enumerate(situation.candidates)}
    for turn in rounds.turns():
        seen[turn.tool] += 1
        wanted = seen[turn.tool] > had[turn.tool] and had[turn.tool] > 0 and turn.tool in offered
        if wanted and only in (None, turn.tool):
            about = clean(turn.part.named or turn.part.text, 80)
            return replace(verdict, choice=Choice("advance", f"once more, for {about}", offered[turn.tool]), purpose="")
    return verdict


def _rounds(situation: Situation, verdict: Verdict, coming: Candidate | None) -> Rounds:
    """Build the repeated calls over the path, and over ``next_candidate`` after it."""
    path = [*situation.path, *([coming.tool] if coming else [])]
    relevance = [*situation.path_relevance, *([coming.relevance] if coming else [])]
    served = {clause: i for i, clause in enumerate(situation.clauses) if coming or clause not in verdict.unserved}
    serving: list[tuple[Part, int]] = []
    loose = _loose(situation, path)
    # Both things are served by the one tool that takes two results of their producer.
    if loose:
        return Rounds(situation.request, path, [(part, at) for part in loose[1] for at in [loose[0]]])
    for part in parts(situation.request):
        places = [
            max(range(len(path)), key=lambda at, i=served[clause]: relevance[at][i])
            for clause in part.clauses
            if clause in served
        ]
        if places:
            serving.append((part, max(places)))
    return Rounds(situation.request, path, serving)


def _loose(situation: Situation, path: Sequence[ToolDoc]) -> tuple[int, list[Part]] | None:
    """Find the index of a tool that takes two results of one producer, and the two things to call that for."""
    for at, tool in enumerate(path):
        producer = joins(tool, path[:at], situation.request)
        if producer is None:
            continue
        things = apart(situation.request, producer)
        if len(things) > 1:
            return at, things[:2]
    return None
