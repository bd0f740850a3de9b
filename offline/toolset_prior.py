"""The offline policy's move where few tools have been walked: the likeliest tool first, then what goes with it."""

from statistics import median_high

from agent.offer.candidates import Candidate
from agent.offer.toolset_prior import log_odds, toolset_of
from agent.policy.protocol import Choice, Situation
from offline.change_words import may_call
from offline.routes import Missing

_TOGETHER = 1.0
"""Log-odds that a tool gains if one of its set is in the path already."""
_FOLLOWS = 3.0
"""Log-odds that a tool gains if every past path continued with it from the last step."""
_MOST = 3
"""Longest path that this move makes: the likelier of untried tools are guesses, and each is a call."""


def kindred(situation: Situation, missing: Missing) -> Choice | None:
    """Choose a move by the tool sets' priors.

    None if there are no priors, since past calls then say more, or if no tool of a prior can be called.
    """
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
    """Estimate how many tools serve the request: the median over recalled requests, 1 without any."""
    lengths = [len(one.memory.path) for one in situation.recalled]
    return min(_MOST, max(1, median_high(lengths))) if lengths else 1


def _odds(candidate: Candidate, situation: Situation) -> float:
    """Estimate the log-odds that a tool serves the request, given the path so far."""
    together = _together(candidate, situation)
    follows = candidate.weight if candidate.origin == "graph" else 0.0
    return log_odds(situation.kin[candidate.tool.id]) + _TOGETHER * together + _FOLLOWS * follows


def _together(candidate: Candidate, situation: Situation) -> bool:
    return any(toolset_of(candidate.tool.id) == toolset_of(step.id) for step in situation.path)


def _why(candidate: Candidate, situation: Situation) -> str:
    """Explain what supports a tool, the strongest first."""
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
