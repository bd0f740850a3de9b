"""The offline policy's second rounds: where the request asks the same of several things, tools of the path are called again."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.offer.candidates import Candidate
from agent.policy.protocol import Choice, Situation
from agent.text import clean
from domain.plan import StepResult
from domain.tool import ToolDoc, ToolId
from offline.choice import Verdict
from offline.nlp.request_parts import Part, parts
from offline.repeated_calls import Rounds, Turn, apart, joins

Prefix = tuple[ToolId, ...]
Earlier = tuple[tuple[ToolDoc, StepResult], ...]


@dataclass(frozen=True, slots=True)
class Call:
    """What one call of a path is made for, and the earlier steps, from 0, whose results belong to another part."""

    part: Part
    hidden: frozenset[int]

    def seen(self, earlier: Earlier) -> Earlier:
        """The earlier steps with the results that belong to other parts set aside; every step keeps its number."""
        return tuple(
            (tool, result.model_copy(update={"status": "skipped"}) if at in self.hidden else result)
            for at, (tool, result) in enumerate(earlier)
        )


def fresh(situation: Situation) -> Situation:
    """The situation without the candidates that the path has already."""
    known = {tool.id for tool in situation.path}
    return replace(situation, candidates=tuple(c for c in situation.candidates if c.tool.id not in known))


def once_more(situation: Situation, verdict: Verdict) -> Verdict:
    """The verdict on :func:`fresh`, or the next call of a further round; its index is that of ``situation``.

    A round comes where the path would be finished, or before a tool that takes two results of one producer at once.
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
    """What each call of a finished path is for, by the path up to it; empty where no tool comes twice."""
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
    """The first call that the path does not have yet, if it is on offer."""
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
    """The rounds over the path, and ``coming`` after it."""
    path = [*situation.path, *([coming.tool] if coming else [])]
    relevance = [*situation.path_relevance, *([coming.relevance] if coming else [])]
    served = {clause: i for i, clause in enumerate(situation.clauses) if coming or clause not in verdict.unserved}
    serving: list[tuple[Part, int]] = []
    loose = _loose(situation, path)
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
    """The place of a tool that takes two results of one producer, and the two things, wherever they are named, to call that for."""
    for at, tool in enumerate(path):
        producer = joins(tool, path[:at], situation.request)
        if producer is None:
            continue
        things = apart(situation.request, producer)
        if len(things) > 1:
            return at, things[:2]
    return None
