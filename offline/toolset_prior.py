"""The offline policy's move where paths went through few tools: the likeliest tool first, then what goes with it."""

from statistics import median_high

from agent.offer.candidates import Candidate
from agent.offer.toolset_prior import log_odds, toolset_of
from agent.policy.protocol import Choice, Situation
from offline.change_words import may_call
from offline.routes import Missing

_TOGETHER = 1.0
"""What the log-odds of a tool gain where one of its set is in the path already."""
_FOLLOWS = 3.0
"""What they gain where every path went on to it from the last step."""
_MOST = 3
"""So long does a path get here, at most: the likelier of what was never walked are guesses, and each is a call."""


def kindred(situation: Situation, missing: Missing) -> Choice | None:
    """The move; None where kinship is not told, since past calls tell more."""
    if not situation.kin:
        return None
    odds = {
        at: _odds(candidate, situation)
        for at, candidate in enumerate(situation.candidates)
        if candidate.tool.id in situation.kin
        and candidate.tool not in situation.path
        and may_call(candidate.tool, situation.request)
        and not missing(candidate.tool, situation.path)
    }
    best = max(odds, key=lambda at: (odds[at], situation.candidates[at].tool.id), default=None)
    if best is not None and (
        len(situation.path) < _usual(situation) or (len(situation.path) < _MOST and odds[best] >= 0)
    ):
        return Choice("advance", _why(situation.candidates[best], situation), best)
    return Choice("finish", "no other tool at hand is likely to go with these") if situation.path else None


def _usual(situation: Situation) -> int:
    """How many tools served requests like this one: the median of what is recalled; one where nothing is."""
    lengths = [len(one.memory.path) for one in situation.recalled]
    return min(_MOST, max(1, median_high(lengths))) if lengths else 1


def _odds(candidate: Candidate, situation: Situation) -> float:
    """The log-odds that a tool serves the request, given the path so far."""
    together = _together(candidate, situation)
    follows = candidate.weight if candidate.origin == "graph" else 0.0
    return log_odds(situation.kin[candidate.tool.id]) + _TOGETHER * together + _FOLLOWS * follows


def _together(candidate: Candidate, situation: Situation) -> bool:
    return any(toolset_of(candidate.tool.id) == toolset_of(step.id) for step in situation.path)


def _why(candidate: Candidate, situation: Situation) -> str:
    """What speaks for a tool, the most telling first."""
    kin = situation.kin[candidate.tool.id]
    told = [f"score {kin.found:.2f}", f"its set covers {kin.covers:.0%}"]
    if candidate.origin == "graph" and candidate.weight > 0:
        told.insert(0, f"follows the last step in {candidate.weight:.0%} of past paths")
    elif _together(candidate, situation):
        told.insert(0, "goes with the tools of its set")
    if kin.remembered > 0:
        told.append("similar requests were served with it")
    elif kin.walked > 0:
        told.append("past paths went through it")
    return ", ".join(told)
