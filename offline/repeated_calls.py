"""Plan repeated calls: if a request asks the same about several things, some tools are called once for each."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.offer.candidates import ToolCandidate
from agent.policy.protocol import ArgumentsQuestion, MoveQuestion, NextMove
from agent.text import clean_text
from domain.plan import StepResult
from domain.tool import ToolDoc, ToolId
from graph.identifiers import split_words
from offline.choice import PolicyMove
from offline.nlp.clauses import RequestPart, split_parts
from offline.nlp.coordination import find_atoms
from offline.nlp.gazetteer import word_set
from offline.slots.binding import WHOLE_REQUEST, bind, check_fillable, find_used_spans

CallValues = tuple[tuple[str, str], ...]
"""Pairs of parameter and value that a call takes from the request, its feeders' included; ``()`` if there are none."""

_SIDES = word_set(
    "from to source target origin destination start end base first second one two departure arrival a b 1 2"
)
"""Words that tell the two sides of a pair of parameters apart."""


@dataclass(frozen=True, slots=True)
class PartCall:
    """A call of a path for one part of the request."""

    tool: ToolId
    part: RequestPart
    values: CallValues


@dataclass(frozen=True, slots=True)
class _PartChain:
    """The tools of a path that serve one part of the request."""

    part: RequestPart
    positions: tuple[int, ...]
    """Their indexes in the path, in order."""
    values: dict[int, CallValues]
    """The values that each tool takes for the part, by its index in the path."""


class RepeatedCalls:
    """The calls that a request asks for, with repetitions, over the tools of one path.

    A tool that is in the path twice counts once.
    """

    def __init__(self, request: str, path: Sequence[ToolDoc], serving: Sequence[tuple[RequestPart, int]]) -> None:
        """Find the tools and values of each part.

        ``serving``: the parts that are served, each with the index in the path of the tool that serves it.
        """
        self._request = request
        self._path = tuple({tool.id: tool for tool in path}.values())
        place = {tool.id: at for at, tool in enumerate(self._path)}
        self._feeds = [self._find_feeders(at) for at in range(len(self._path))]
        chains = [self._build_chain(part, place[path[at].id]) for part, at in serving]
        self._chains = sorted(chains, key=lambda chain: -len(chain.positions))

    def list_calls(self) -> tuple[PartCall, ...]:
        """List every call that the request asks for: first the path, then the repetitions, thing by thing."""
        path_calls = [self._plan_first_call(at) for at in range(len(self._path))]
        seen = {(call.tool, call.values) for call in path_calls if call.values}
        tools_with_values = {call.tool for call in path_calls if call.values}
        further_calls: list[PartCall] = []
        for chain in self._chains:
            for at in chain.positions:
                call = PartCall(self._path[at].id, chain.part, chain.values[at])
                key = (call.tool, call.values)
                if call.values and call.tool in tools_with_values and key not in seen:
                    seen.add(key)
                    further_calls.append(call)
        return (*path_calls, *further_calls)

    def _plan_first_call(self, at: int) -> PartCall:
        """Plan the call of a tool in the path itself.

        It is for the first part of the request that gives the tool values, else for the whole request.
        """
        chain = next((chain for chain in self._chains if chain.values.get(at)), None)
        tool = self._path[at].id
        return (
            PartCall(tool, chain.part, chain.values[at])
            if chain
            else PartCall(tool, RequestPart(self._request, self._request, ()), ())
        )

    def _build_chain(self, part: RequestPart, end: int) -> _PartChain:
        """Find the tools that lead to ``end``, and the values that each takes itself or inherits from its feeders."""
        positions = tuple(sorted(self._find_ancestors(end)))
        values: dict[int, CallValues] = {}
        for at in positions:
            tool = self._path[at]
            own = _find_part_values(tool, part, self._request)
            fed = () if find_joint_producer(tool, self._path[:at], self._request) else self._feeds[at]
            inherited = [values[i] for i in fed if i in values]
            has_values = own is not None and (own or any(inherited))
            values[at] = (*(own or ()), *(pair for found in inherited for pair in found)) if has_values else ()
        return _PartChain(part, positions, values)

    def _find_ancestors(self, end: int) -> set[int]:
        """Return the indexes of a tool and of everything that feeds it, directly or not."""
        ancestors = {end}
        for at in self._feeds[end]:
            ancestors |= self._find_ancestors(at)
        return ancestors

    def _find_feeders(self, at: int) -> tuple[int, ...]:
        """Return the indexes of the earlier tools that feed a tool."""
        return check_fillable(self._path[at], self._request, self._path[:at]).feeds_from


def _find_part_values(tool: ToolDoc, part: RequestPart, request: str) -> CallValues | None:
    """Find the values that a tool takes for a part of the request.

    None if the part states less than the request does, or if one call takes all values of the request as a list.
    """
    request_values = _bind_values(tool, request)
    if any(value.startswith("[") and value.count(",") for _, value in request_values):
        return None  # one call takes them all
    for text in dict.fromkeys((part.text, part.whole_request)):
        part_values = _bind_values(tool, text)
        if {name for name, _ in part_values} >= {name for name, _ in request_values} and not _is_collapsed(
            part_values, request_values
        ):
            return part_values
    return None


def _is_collapsed(part_values: CallValues, request_values: CallValues) -> bool:
    """Return whether a part gives one value to two parameters that have different values in the whole request.

    Such a part is only one end of a time span or of a route.
    """
    part_by_name, request_by_name = dict(part_values), dict(request_values)
    return len({part_by_name[name] for name in request_by_name}) < len(set(request_by_name.values()))


def _bind_values(tool: ToolDoc, text: str) -> CallValues:
    arguments = bind(ArgumentsQuestion(text, tool, ()))
    return tuple(
        (binding.parameter, repr(arguments.values[binding.parameter]))
        for binding in arguments.provenance
        if binding.origin == "request" and binding.reference != WHOLE_REQUEST
    )


def find_joint_producer(consumer: ToolDoc, producers: Sequence[ToolDoc], request: str) -> ToolDoc | None:
    """Find the producer of which one call of the consumer takes two results, one for each side of a pair.

    The sides are parameters such as ``from_x`` and ``to_x``, neither of which the request itself fills.
    """
    sides: dict[tuple[tuple[str, ...], int], set[str]] = {}
    for feed in check_fillable(consumer, request, producers).feeds:
        name_words = split_words(feed.parameter)
        thing = tuple(word for word in name_words if word not in _SIDES)
        if len(thing) < len(name_words):
            sides.setdefault((thing, feed.step), set()).add(feed.parameter)
    return next((producers[step - 1] for (_, step), names in sides.items() if len(names) > 1), None)


def count_asked_things(request: str) -> int:
    """Count the things about each of which a request may ask the same; at most two for names that one call may take."""
    names = [atom for atom in find_atoms(request) if atom.kind in ("name", "country", "quoted")]
    return max(len(split_parts(request)), min(2, len(names)))


def split_by_thing(request: str, producer: ToolDoc) -> list[RequestPart]:
    """Return the request once for each thing that it names for a tool, without the other things.

    The start of a route ("from …") comes first.
    """
    names = [atom for atom in find_atoms(request) if atom.kind in ("name", "country", "quoted", "code")]
    parts_by_order: list[tuple[bool, RequestPart]] = []
    for atom in names:
        text = request
        for other in reversed(names):
            if other is not atom:
                text = text[: other.start] + text[other.end :]
        if any(span.text == atom.text for span in find_used_spans(producer, text)):
            is_start = "from" in atom.before or "leaving" in atom.before
            parts_by_order.append((not is_start, RequestPart(text, text, (), atom.text)))
    return [part for _, part in sorted(parts_by_order, key=lambda pair: pair[0])]


PathPrefix = tuple[ToolId, ...]
EarlierSteps = tuple[tuple[ToolDoc, StepResult], ...]


@dataclass(frozen=True, slots=True)
class CallPurpose:
    """Purpose of one call of a path."""

    part: RequestPart
    hidden: frozenset[int]
    """Indexes of the earlier steps whose results belong to other parts."""

    def hide_other_parts(self, earlier: EarlierSteps) -> EarlierSteps:
        """Return the earlier steps with those of other parts marked as skipped; each keeps its number."""
        return tuple(
            (tool, result.model_copy(update={"status": "skipped"}) if at in self.hidden else result)
            for at, (tool, result) in enumerate(earlier)
        )


def drop_called_candidates(situation: MoveQuestion) -> MoveQuestion:
    """Return the situation without the candidates that the path has already."""
    path_ids = {tool.id for tool in situation.path}
    return replace(situation, candidates=tuple(c for c in situation.candidates if c.tool.id not in path_ids))


def add_repeated_call(situation: MoveQuestion, verdict: PolicyMove) -> PolicyMove:
    """Replace the end of a path by the next repeated call, if one is due.

    Calls are repeated where the path would finish, and before a tool that takes two results of one producer.

    Args:
        situation: the search's question, with all candidates.
        verdict: the move chosen after :func:`drop_called_candidates`, whose index is one of the remaining candidates.

    Returns:
        The move, with an index of ``situation``.
    """
    choice = verdict.choice
    if choice.action == "finish":
        return _advance_to_repeated(situation, _build_repeated_calls(situation, verdict, None), verdict)
    if choice.action != "advance" or choice.index is None:
        return verdict
    chosen = drop_called_candidates(situation).candidates[choice.index]
    at = situation.candidates.index(chosen)
    verdict = replace(verdict, choice=replace(choice, index=at))
    producer = find_joint_producer(chosen.tool, situation.path, situation.request)
    if producer is None:
        return verdict
    return _advance_to_repeated(situation, _build_repeated_calls(situation, verdict, chosen), verdict, only=producer.id)


def find_call_purposes(situation: MoveQuestion, verdict: PolicyMove) -> dict[PathPrefix, CallPurpose]:
    """Find the purpose of each call of a finished path, by the path up to it; empty if no tool is called twice."""
    path = tuple(tool.id for tool in situation.path)
    if len(set(path)) == len(path):
        return {}
    planned = _build_repeated_calls(situation, verdict, None).list_calls()
    path_calls = [_get_nth_call(planned, tool, path[:at].count(tool)) for at, tool in enumerate(path)]
    purposes: dict[PathPrefix, CallPurpose] = {}
    for at, planned_call in enumerate(path_calls):
        if planned_call is not None and planned_call.values:
            is_joint = find_joint_producer(situation.path[at], situation.path[:at], situation.request) is not None
            hidden = (
                frozenset[int]()
                if is_joint
                else frozenset(i for i in range(at) if _is_of_other_part(path_calls[i], planned_call))
            )
            purposes[path[: at + 1]] = CallPurpose(planned_call.part, hidden)
    return purposes


def _is_of_other_part(other: PartCall | None, turn: PartCall) -> bool:
    return other is not None and not set(other.values) <= set(turn.values)


def _get_nth_call(turns: Sequence[PartCall], tool: ToolId, count: int) -> PartCall | None:
    """Return the planned call of a tool that has ``count`` calls of the same tool before it; None if there is none."""
    own = [turn for turn in turns if turn.tool == tool]
    return own[count] if count < len(own) else None


def _advance_to_repeated(
    situation: MoveQuestion, rounds: RepeatedCalls, verdict: PolicyMove, only: ToolId | None = None
) -> PolicyMove:
    """Choose the first repeated call that the path does not have yet, if its tool is offered; else the given move.

    ``only``: the one tool that may be repeated.
    """
    path_counts = Counter(tool.id for tool in situation.path)
    seen: Counter[ToolId] = Counter()
    offered = {candidate.tool.id: at for at, candidate in enumerate(situation.candidates)}
    for call in rounds.list_calls():
        seen[call.tool] += 1
        is_open = seen[call.tool] > path_counts[call.tool] and path_counts[call.tool] > 0 and call.tool in offered
        if is_open and only in (None, call.tool):
            about = clean_text(call.part.thing or call.part.text, 80)
            return replace(
                verdict, choice=NextMove("advance", f"once more, for {about}", offered[call.tool]), purpose=""
            )
    return verdict


def _build_repeated_calls(
    situation: MoveQuestion, verdict: PolicyMove, next_candidate: ToolCandidate | None
) -> RepeatedCalls:
    """Find the calls of the path, and of ``next_candidate`` after it, for the parts of the request that they serve."""
    path = [*situation.path, *([next_candidate.tool] if next_candidate else [])]
    relevance = [*situation.path_relevance, *([next_candidate.relevance] if next_candidate else [])]
    served = {
        clause: i for i, clause in enumerate(situation.clauses) if next_candidate or clause not in verdict.unserved
    }
    serving: list[tuple[RequestPart, int]] = []
    joint = _find_joint_things(situation, path)
    # Both things are served by the one tool that takes two results of their producer.
    if joint:
        return RepeatedCalls(situation.request, path, [(part, at) for part in joint[1] for at in [joint[0]]])
    for part in split_parts(situation.request):
        positions = [
            max(range(len(path)), key=lambda at, i=served[clause]: relevance[at][i])
            for clause in part.clauses
            if clause in served
        ]
        if positions:
            serving.append((part, max(positions)))
    return RepeatedCalls(situation.request, path, serving)


def _find_joint_things(situation: MoveQuestion, path: Sequence[ToolDoc]) -> tuple[int, list[RequestPart]] | None:
    """Find a tool that takes two results of one producer.

    Returns:
        The index of the tool, and the two parts to call the producer for; None if there is no such tool.
    """
    for at, tool in enumerate(path):
        producer = find_joint_producer(tool, path[:at], situation.request)
        if producer is None:
            continue
        things = split_by_thing(situation.request, producer)
        if len(things) > 1:
            return at, things[:2]
    return None
